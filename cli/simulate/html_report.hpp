// The report of a simulation as one HTML page with charts.
#pragma once

#include <string>

#include "cli/simulate/report.hpp"

namespace chipweave::cli {

// Self-contained: styles and SVG inline, no scripts, nothing loaded.
std::string report_html(const SimulationReport& report);

}  // namespace chipweave::cli
