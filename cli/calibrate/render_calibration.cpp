#include "cli/calibrate/render_calibration.hpp"

#include <cmath>
#include <cstdio>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"
#include "common/domain/link.hpp"

namespace chipweave::cli {
namespace {

std::string off(double predicted, double measured) {
  const double percent = (predicted / measured - 1) * 100;
  char text[32];
  std::snprintf(text, sizeof(text), "%+.1f %%", percent);
  return std::abs(percent) < 0.05 ? "0.0 %" : text;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= (1ULL << 30U) && bytes % (1ULL << 30U) == 0)
    return std::to_string(bytes >> 30U) + " GiB";
  return std::to_string(bytes >> 20U) + " MiB";
}

std::string constant(double gbps) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", gbps);
  return text;
}

}  // namespace

std::string render_calibration(const codec::OverlayFile& overlay, bool colours) {
  using Align = Table::Align;
  std::string out = "machine " + overlay.machine + ", " + joined(overlay.models, ", ") + "\n\n";
  Table points({{"CHIPS"},
                {"COLLECTIVE"},
                {"SIZES"},
                {"DECIDED BY"},
                {"MEASURED", Align::right},
                {"BEFORE", Align::right},
                {"OFF", Align::right},
                {"AFTER", Align::right},
                {"OFF", Align::right}});
  for (const codec::OverlayPoint& p : overlay.points) {
    points.add({chip_list(p.chips), p.collective,
                size_text(p.sizes.front()) + "-" + size_text(p.sizes.back()),
                joined(p.decided_by, "+"), gbps_text(p.measured), gbps_text(p.before),
                off(p.before, p.measured), gbps_text(p.after), off(p.after, p.measured)},
               p.used ? Colour::none : Colour::dim);
    if (!p.used) points.add_text("not used: several kinds of links decide this set together");
    if (!p.checked) points.add_text("the benchmark did not check its results (-c 0)");
  }
  out += points.text(colours) + "\n";
  Table rates({{"CONSTANT"},
               {"GB/s BEFORE", Align::right},
               {"GB/s AFTER", Align::right},
               {"POINTS", Align::right}});
  for (const codec::OverlayRate& r : overlay.rates) {
    const char* unit = domain::is_host_path(r.kind) ? ", host path" : ", a lane";
    rates.add({std::string(domain::to_string(r.kind)) + unit, constant(r.replaces),
               constant(r.gbps), std::to_string(r.points)});
  }
  return out + rates.text(colours);
}

}  // namespace chipweave::cli
