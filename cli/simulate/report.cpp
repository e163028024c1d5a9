#include "cli/simulate/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.hpp"
#include "cli/terminal.hpp"

namespace chipweave::cli {
namespace {

using Align = Table::Align;

std::string percent(double share) { return fmt::format("{:.2f}", share * 100); }

std::string micros(double ns) { return fmt::format("{:.1f}", ns / 1000); }

std::string figures(const SimulationReport& report, bool colours) {
  Table table({{"POLICY"},
               {"PLACED", Align::right},
               {"MULTI", Align::right},
               {"ALLOC %", Align::right},
               {"FRAG %", Align::right},
               {"MEAN FRAG %", Align::right},
               {"GB/s", Align::right},
               {"WORST", Align::right},
               {"OF ALONE", Align::right},
               {"OF MOST", Align::right},
               {"us/POD", Align::right},
               {"p99", Align::right}});
  for (const PolicyReport& p : report.policies) {
    const simulate::Summary& s = p.summary;
    table.add({p.name, std::to_string(s.placed), std::to_string(s.multi_chip_placed),
               percent(s.allocated.at_end), percent(s.fragmented.at_end),
               percent(s.fragmented.mean), gbps_text(s.mean_gbps), gbps_text(s.worst_gbps),
               fmt::format("{:.3f}", s.of_alone),
               s.of_together > 0 ? fmt::format("{:.3f}", s.of_together) : "-",
               micros(s.decision_ns.mean), micros(s.decision_ns.p99)});
  }
  return table.text(colours);
}

}  // namespace

const PolicyReport* SimulationReport::find(const std::string& name) const {
  const auto it = std::find_if(policies.begin(), policies.end(),
                               [&](const PolicyReport& p) { return p.name == name; });
  return it == policies.end() ? nullptr : &*it;
}

std::string report_text(const SimulationReport& report, bool colours) {
  std::string out = figures(report, colours);
  for (const PolicyReport& p : report.policies) {
    out += p.name + ":";
    for (const auto& s : p.summary.sizes)
      out += fmt::format(" {}: {}/{} {:.1f} ({:.1f})", s.chips, s.placed, s.arrived, s.mean_gbps, s.alone_gbps);
    out += "\n";
  }
  return out;
}

}  // namespace chipweave::cli
