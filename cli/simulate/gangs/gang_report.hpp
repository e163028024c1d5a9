// Report of a replay of gangs: what all policies made of the same jobs, for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/solver/simulate/gangs/gang_summary.hpp"

namespace chipweave::cli {

struct GangPolicyReport {
  std::string name;
  std::string help;  // how it chooses
  simulate::GangSummary summary;
  std::vector<simulate::GangSample> samples;
};

struct GangSimulationReport {
  std::size_t nodes = 0;
  std::int64_t chips = 0;
  std::vector<std::string> levels;
  std::string gangs;  // which, and how they arrive, in words
  std::uint64_t seed = 0;
  double patience_s = 0;
  std::vector<std::string> notes;  // assumptions that a reader has to know
  std::vector<GangPolicyReport> policies;
};

std::string report_text(const GangSimulationReport& report, bool colours);
std::string report_json(const GangSimulationReport& report);

}  // namespace chipweave::cli
