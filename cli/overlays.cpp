#include "cli/overlays.hpp"

#include <utility>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "common/codec/calibration/overlay_file.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {

namespace {

Result<std::vector<domain::RateOverlay>> overlay_of_standard_input() {
  const auto content = read_input("-", codec::kMaxOverlayBytes);
  if (!content) return Error(content.error());
  auto overlay = codec::read_overlay(*content, "standard input");
  if (!overlay) return std::move(overlay).error().in("standard input");
  return std::vector{*std::move(overlay)};
}

}  // namespace

CLI::Option* add_overlay_option(CLI::App& command, std::vector<std::string>& paths) {
  return add_value(command, "--overlay", "FILE|FOLDER", paths,
                   "measured constants from `chipweave calibrate`; may be repeated")
      ->allow_extra_args(false);
}

Result<std::vector<domain::RateOverlay>> overlays_at(const std::vector<std::string>& paths) {
  std::vector<domain::RateOverlay> out;
  for (const std::string& path : paths) {
    Result<std::vector<domain::RateOverlay>> some =
        path == "-" ? overlay_of_standard_input() : io::load_overlays(path);
    if (!some) return std::move(some).error();
    for (domain::RateOverlay& overlay : *some) out.push_back(std::move(overlay));
  }
  if (Result<void> ok = domain::check_overlays(out); !ok) return std::move(ok).error();
  return out;
}

}  // namespace chipweave::cli
