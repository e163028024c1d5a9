#include "common/solver/calibration/used_chips.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/solver/calibration/refused.hpp"

namespace chipweave::solver {
namespace {

using domain::ChipSet;
using domain::CollectiveRun;
using domain::NodeTopology;

Result<UsedChips> by_index(const std::vector<int>& indices, int ranks, const NodeTopology& topology,
                           const std::string& from) {
  UsedChips out{{}, from};
  for (const int index : indices) {
    const auto slot = topology.slot_of(domain::ChipIndex{index});
    if (!slot) return refused(concat("the machine has no chip ", index)).in(from);
    if (out.chips.contains(*slot))
      return refused(concat("chip ", index, " is named twice")).in(from);
    out.chips |= ChipSet{*slot};
  }
  if (out.chips.size() == ranks) return out;
  return refused(concat(out.chips.size(), " chips for ", ranks, " ranks")).in(from);
}

// "00000000:04:00.0" → "0000:04:00"
std::string normal_pci(std::string_view pci) {
  std::string out = lower_case(pci.substr(0, pci.find('.')));
  const std::size_t colon = out.find(':');
  if (colon > 4 && colon != std::string::npos) out = out.substr(colon - 4);
  return out;
}

// The part between the colons.
std::string_view bus_of(std::string_view pci) {
  const std::size_t colon = pci.find(':');
  return colon == std::string_view::npos ? pci : pci.substr(colon + 1, 2);
}

// The one chip of that address, or of that bus where the log has no more; nullopt: none, or
// several.
std::optional<int> chip_at(const NodeTopology& topology, const std::string& pci) {
  std::optional<int> found;
  for (int slot = 0; slot < topology.chip_count(); ++slot) {
    const std::string own = normal_pci(topology.chip(slot).pci);
    const bool whole = pci.find(':') != std::string::npos;
    if (own.empty() || (whole ? own != normal_pci(pci) : bus_of(own) != pci)) continue;
    if (found) return std::nullopt;
    found = slot;
  }
  return found;
}

Result<UsedChips> by_address(const CollectiveRun& run, const NodeTopology& topology) {
  UsedChips out{{}, "PCI addresses"};
  for (const domain::CollectiveRank& rank : run.devices) {
    const auto slot = chip_at(topology, rank.pci);
    if (!slot) {
      return refused(concat("rank ", rank.rank, " is at ", in_quotes(rank.pci),
                            ", where the machine has no chip or several"));
    }
    if (out.chips.contains(*slot))
      return refused(concat("two ranks are on the chip at ", in_quotes(rank.pci)));
    out.chips |= ChipSet{*slot};
  }
  return out;
}

bool all_have_addresses(const NodeTopology& topology) {
  return std::all_of(topology.chips().begin(), topology.chips().end(),
                     [](const domain::Chip& chip) { return !chip.pci.empty(); });
}

bool alike_switch(const NodeTopology& t) {
  if (t.switches().size() != 1 || !t.links().empty()) return false;
  const domain::Switch& s = t.switches().front();
  return s.members() == t.all() &&
         std::all_of(s.ports.begin(), s.ports.end(), [&s](const domain::SwitchPort& port) {
           return port.lanes_up() == s.ports.front().lanes_up();
         });
}

bool alike_mesh(const NodeTopology& t) {
  const auto n = static_cast<std::size_t>(t.chip_count());
  return t.switches().empty() && !t.links().empty() && t.links().size() == n * (n - 1) / 2 &&
         std::all_of(t.links().begin(), t.links().end(), [&t](const domain::DirectLink& link) {
           return link.kind == t.links().front().kind && link.gbps() == t.links().front().gbps();
         });
}

}  // namespace

bool connected_alike(const NodeTopology& topology) {
  return alike_switch(topology) || alike_mesh(topology);
}

Result<UsedChips> used_chips(const CollectiveRun& run, int ranks, const NodeTopology& topology,
                             const std::vector<int>& stated) {
  if (!stated.empty()) return by_index(stated, ranks, topology, "--chips");
  if (!run.chips.empty()) return by_index(run.chips, ranks, topology, "HCCL_TEST_USE_DEVS");
  const bool addresses = !run.devices.empty() && all_have_addresses(topology);
  if (addresses) return by_address(run, topology);
  if (ranks == topology.chip_count()) return UsedChips{topology.all(), "all chips of the machine"};
  if (connected_alike(topology))
    return UsedChips{ChipSet::first(ranks), "any: all chips are connected alike"};
  return refused(
      concat("which ", ranks, " of ", topology.chip_count(),
             " chips took part is not certain, because device numbers depend on what the process "
             "saw: name them with --chips, or give a --machine file with PCI addresses"));
}

}  // namespace chipweave::solver
