// Renders a calibration for people: one line a point, one a constant.
#pragma once

#include <string>

#include "common/codec/calibration/overlay_file.hpp"

namespace chipweave::cli {

std::string render_calibration(const codec::OverlayFile& overlay, bool colours);

}  // namespace chipweave::cli
