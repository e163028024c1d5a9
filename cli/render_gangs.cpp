#include "cli/render_gangs.hpp"

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {

std::string render_gangs(const std::vector<codec::GangSummary>& gangs, bool colours) {
  constexpr std::size_t kSummaryColumn = 5;
  Table table({{"GANG"},
               {"STATE"},
               {"PODS", Table::Align::right},
               {"BOUND", Table::Align::right},
               {"NEEDS", Table::Align::right},
               {"WAITS FOR"}},
              kSummaryColumn);
  for (const codec::GangSummary& gang : gangs) {
    const std::string why = gang.problem.empty() ? gang.summary : gang.problem;
    table.add({gang.ns + "/" + gang.name, gang.state, std::to_string(gang.pods),
               std::to_string(gang.bound), std::to_string(gang.quorum), why.empty() ? "-" : why},
              gang.state == "running" || gang.state == "ungrouped" ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

std::string render_whole_gangs(const std::vector<codec::GangSummary>& gangs, bool colours) {
  std::string out = render_gangs(gangs, colours);
  for (const codec::GangSummary& gang : gangs) {
    if (gang.plan.empty()) continue;
    out += "\nplan " + gang.plan;
    if (gang.gbps > 0) out += ", " + gbps_text(gang.gbps) + " GB/s";
    Table table({{"RANK", Table::Align::right}, {"POD"}, {"STATE"}, {"NODE"}, {"PATH"}, {"CHIPS"}});
    for (const codec::GangSlotView& slot : gang.slots) {
      table.add({std::to_string(slot.rank), slot.pod.empty() ? "-" : slot.pod, slot.state,
                 slot.node.empty() ? "-" : slot.node,
                 slot.path.empty() ? "-" : joined(slot.path, "/"), chip_list(slot.chips)},
                slot.state == "bound" ? Colour::none : Colour::yellow);
    }
    for (const codec::GangSlotView& spare : gang.spares) {
      table.add({"-", "-", "spare", spare.node, spare.path.empty() ? "-" : joined(spare.path, "/"),
                 chip_list(spare.chips)});
    }
    out += "\n" + table.text(colours);
  }
  return out;
}

}  // namespace chipweave::cli
