#include "node-agent/app/machine/continuity.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/topology_edit.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::NodeTopology;
using domain::Observation;

// Which known chip each observed one is; nullopt if one is new. Matched by id, by PCI address if
// the id is missing, and by index if both are missing.
std::optional<ChipNumbers> matched(const NodeTopology& known, const NodeTopology& seen) {
  std::map<std::string, ChipIndex> by_id;
  std::map<std::string, ChipIndex> by_pci;
  for (const domain::Chip& chip : known.chips()) {
    if (!chip.id.empty()) by_id.emplace(chip.id, chip.index);
    if (!chip.pci.empty()) by_pci.emplace(chip.pci, chip.index);
  }
  ChipNumbers out;
  std::set<ChipIndex> taken;
  std::vector<ChipIndex> nameless;
  for (const domain::Chip& chip : seen.chips()) {
    if (chip.id.empty() && chip.pci.empty()) {
      nameless.push_back(chip.index);
      continue;
    }
    const auto& names = chip.id.empty() ? by_pci : by_id;
    const auto found = names.find(chip.id.empty() ? chip.pci : chip.id);
    if (found == names.end() || !taken.insert(found->second).second) return std::nullopt;
    out.emplace(chip.index, found->second);
  }
  for (const ChipIndex index : nameless) {
    if (!known.slot_of(index) || !taken.insert(index).second) return std::nullopt;
    out.emplace(index, index);
  }
  return out;
}

// Whether the observed chips are the known ones, with the same ids (else addresses) and indices.
bool unchanged(const NodeTopology& known, const NodeTopology& seen) {
  return std::equal(known.chips().begin(), known.chips().end(), seen.chips().begin(),
                    seen.chips().end(), [](const domain::Chip& a, const domain::Chip& b) {
                      return a.index == b.index && a.id == b.id &&
                             (!a.id.empty() || a.pci == b.pci);
                    });
}

void rename(const ChipNumbers& chips, Observation& seen) {
  const auto to = [&chips](std::optional<ChipIndex>& chip) {
    if (!chip) return;
    const auto known = chips.find(*chip);
    if (known != chips.end()) chip = known->second;
  };
  for (domain::Port& port : seen.ports) {
    std::optional<ChipIndex> chip = port.chip;
    to(chip);
    port.chip = *chip;
    to(port.peer);
  }
  for (domain::Signal& signal : seen.signals) to(signal.chip);
  for (domain::Neighbour& neighbour : seen.neighbours) to(neighbour.chip);
}

// The known machine, updated chip by chip and lane by lane from the observation. Lanes of a missing
// chip keep their last state.
class Merge {
 public:
  Merge(const NodeTopology& known, const NodeTopology& seen, const ChipNumbers& chips)
      : known_(known), seen_(seen) {
    for (const auto& [now, before] : chips) slots_[before] = *seen.slot_of(now);
  }

  bool sees(ChipIndex chip) const { return slots_.contains(chip); }

  Result<NodeTopology> run() const {
    domain::TopologyEdit edit;
    edit.chip = [this](domain::Chip& chip) { renew(chip); };
    edit.link = [this](domain::DirectLink& link) {
      const auto a = slot(link.a);
      const auto b = slot(link.b);
      if (!a || !b) return;
      const domain::DirectLink* now = seen_.link(std::min(*a, *b), std::max(*a, *b));
      link.lanes_down = std::max(0, link.lanes - (now == nullptr ? 0 : now->lanes_up()));
    };
    edit.port = [this](const domain::Switch& of, domain::SwitchPort& port) {
      if (const auto at = slot(port.slot)) {
        port.lanes_down = std::max(0, port.lanes - lanes_up(of.name, *at));
      }
    };
    return domain::rebuilt(known_, edit);
  }

 private:
  void renew(domain::Chip& chip) const {
    const auto at = slots_.find(chip.index);
    if (at == slots_.end()) return;
    domain::Chip now = seen_.chip(at->second);
    now.index = chip.index;
    if (now.id.empty()) now.id = chip.id;
    if (now.pci.empty()) now.pci = chip.pci;
    chip = std::move(now);
  }
  std::optional<int> slot(int known_slot) const {
    const auto at = slots_.find(known_.chip(known_slot).index);
    return at == slots_.end() ? std::nullopt : std::optional(at->second);
  }
  int lanes_up(const std::string& by_switch, int seen_slot) const {
    for (const domain::Switch& s : seen_.switches()) {
      if (s.name != by_switch) continue;
      for (const domain::SwitchPort& port : s.ports) {
        if (port.slot == seen_slot) return port.lanes_up();
      }
    }
    return 0;
  }

  const NodeTopology& known_;
  const NodeTopology& seen_;
  std::map<ChipIndex, int> slots_;  // of seen, by the index in known
};

}  // namespace

Result<KnownMachine> in_terms_of(const NodeTopology& known, Observation seen) {
  if (unchanged(known, seen.topology)) return KnownMachine{std::move(seen), {}};
  auto chips = matched(known, seen.topology);
  if (!chips) return KnownMachine{std::move(seen), {}};
  const Merge merge(known, seen.topology, *chips);
  auto topology = merge.run();
  if (!topology) return std::move(topology).error();
  rename(*chips, seen);
  for (const domain::Chip& chip : known.chips()) {
    if (merge.sees(chip.index)) continue;
    domain::Signal gone;
    gone.code = kChipGone;
    gone.chip = chip.index;
    gone.text = "the driver no longer lists it";
    seen.signals.push_back(std::move(gone));
  }
  seen.topology = std::move(topology).value();
  return KnownMachine{std::move(seen), *std::move(chips)};
}

void name_chips(const NodeTopology& known, const ChipNumbers& numbers,
                std::vector<domain::Signal>& events) {
  for (domain::Signal& event : events) {
    if (!event.chip && event.pci.empty()) continue;
    const auto by_pci = std::find_if(
        known.chips().begin(), known.chips().end(),
        [&event](const auto& chip) { return !event.pci.empty() && chip.pci == event.pci; });
    if (by_pci != known.chips().end()) {
      event.chip = by_pci->index;
      continue;
    }
    if (event.chip) {
      const auto own = numbers.find(*event.chip);
      if (own != numbers.end()) event.chip = own->second;
      if (known.slot_of(*event.chip)) continue;
    }
    event.text += (event.text.empty() ? "" : "; ") + std::string("of a chip that is not known: ") +
                  (event.pci.empty() ? "number " + std::to_string(event.chip->value) : event.pci);
    event.chip.reset();
    event.port.reset();
  }
}

std::vector<domain::Fault> in_terms_of(const domain::NodeTopology& now,
                                       const std::vector<domain::RememberedFault>& faults) {
  std::vector<domain::Fault> out;
  for (const auto& [fault, id] : faults) {
    domain::Fault renamed = fault;
    if (renamed.chip) {
      const auto& chips = now.chips();
      const auto same = std::find_if(chips.begin(), chips.end(), [&id = id](const auto& chip) {
        return !id.empty() && chip.id == id;
      });
      if (same == chips.end()) continue;
      renamed.chip = same->index;
    }
    out.push_back(std::move(renamed));
  }
  return out;
}

}  // namespace chipweave::agent
