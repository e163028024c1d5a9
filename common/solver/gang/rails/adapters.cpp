#include "common/solver/gang/rails/adapters.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

namespace chipweave::solver {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using domain::Nic;
using domain::NodeTopology;

using AdapterKey = std::function<std::string_view(const Nic&)>;

// The numbers of the rails that have a key so far.
using KnownRails = std::map<std::string, int, std::less<>>;

bool contains(const std::vector<int>& list, std::size_t item) {
  return std::find(list.begin(), list.end(), static_cast<int>(item)) != list.end();
}

// The numbers of a machine's adapters by one key, where at least half of them are known by it;
// the others get new numbers.
std::optional<std::vector<int>> numbers_by(const KnownRails& known, const AdapterKey& key,
                                           const std::vector<Nic>& nics, int& count) {
  std::vector<int> out;
  std::size_t found = 0;
  for (const Nic& nic : nics) {
    const auto at = key(nic).empty() ? known.end() : known.find(key(nic));
    const bool is_new = at == known.end() || contains(out, static_cast<std::size_t>(at->second));
    out.push_back(is_new ? -1 : at->second);
    found += is_new ? 0 : 1;
  }
  if (2 * found < nics.size() || found == 0) return std::nullopt;
  for (int& number : out) {
    if (number < 0) number = count++;
  }
  return out;
}

std::vector<int> numbers_by_position(std::size_t adapters, int& count) {
  std::vector<int> out;
  for (std::size_t i = 0; i < adapters; ++i) out.push_back(static_cast<int>(i));
  count = std::max(count, static_cast<int>(adapters));
  return out;
}

}  // namespace

RailNumbers::RailNumbers(std::vector<const NodeTopology*> machines) {
  std::erase(machines, nullptr);
  std::stable_sort(machines.begin(), machines.end(),
                   [](const NodeTopology* a, const NodeTopology* b) {
                     return a->nics().size() > b->nics().size();
                   });
  const std::vector<AdapterKey> keys = {[](const Nic& nic) { return std::string_view(nic.pci); },
                                        [](const Nic& nic) { return std::string_view(nic.name); }};
  std::vector<KnownRails> known(keys.size());
  for (const NodeTopology* machine : machines) {
    if (numbers_.contains(machine)) continue;
    const std::vector<Nic>& nics = machine->nics();
    std::optional<std::vector<int>> numbers;
    for (std::size_t k = 0; k < keys.size() && !numbers; ++k)
      numbers = numbers_by(known[k], keys[k], nics, count_);
    if (!numbers) numbers = numbers_by_position(nics.size(), count_);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      for (std::size_t i = 0; i < nics.size(); ++i) {
        if (!keys[k](nics[i]).empty())
          known[k].try_emplace(std::string(keys[k](nics[i])), (*numbers)[i]);
      }
    }
    numbers_.emplace(machine, *std::move(numbers));
  }
}

NodeAdapters::NodeAdapters(const NodeTopology& topology, const AdapterState& state)
    : loaded_(state.loaded) {
  const std::vector<Nic>& nics = topology.nics();
  if (nics.empty()) unknown_ = "the machine's description has no network adapters";
  for (std::size_t i = 0; i < nics.size(); ++i) {
    adapters_.push_back({state.rails.empty() ? static_cast<int>(i) : state.rails[i], nics[i].gbps});
    if (nics[i].gbps <= 0 && unknown_.empty()) unknown_ = "no line rate of " + nics[i].name;
  }
  for (int slot = 0; slot < topology.chip_count(); ++slot) {
    const auto chip = static_cast<std::size_t>(slot);
    LinkKind best = LinkKind::sys;
    for (std::size_t i = 0; i < nics.size(); ++i) {
      if (!contains(state.down, i)) best = std::min(best, nics[i].paths[chip]);
    }
    Set& mine = of_chip_.emplace_back();
    for (std::size_t i = 0; i < nics.size(); ++i)
      mine[i] = nics[i].paths[chip] == best && !contains(state.down, i);
    if (mine.any() && best <= LinkKind::pxb) near_.insert(slot);
    path_gbps_.push_back(topology.host_bandwidth().of(best));
  }
}

NodeRails NodeAdapters::of(ChipSet used) const {
  NodeRails out;
  if (!known()) {
    out.unknown = unknown_;
    return out;
  }
  Set left;
  for (const int slot : used) left |= of_chip_[static_cast<std::size_t>(slot)];
  while (left.any()) {
    // The group of the first adapter that is left: with all that share a chip with one of it.
    Set group;
    group[left._Find_first()] = true;
    for (Set before; before != group;) {
      before = group;
      for (const int slot : used) {
        const Set& mine = of_chip_[static_cast<std::size_t>(slot)];
        if ((mine & group).any()) group |= mine;
      }
    }
    left &= ~group;
    double ports = 0;
    double ours = 0;
    double others = 0;
    for (const int slot : used) {
      if ((of_chip_[static_cast<std::size_t>(slot)] & group).none()) continue;
      ports += path_gbps_[static_cast<std::size_t>(slot)];
      ++ours;
    }
    for (const int slot : loaded_ - used)
      others += (of_chip_[static_cast<std::size_t>(slot)] & group).any() ? 1 : 0;
    double lines = 0;
    for (std::size_t i = group._Find_first(); i < group.size(); i = group._Find_next(i))
      lines += adapters_[i].gbps;
    const double share = std::min(ours / (ours + others), ports / lines);
    for (std::size_t i = group._Find_first(); i < group.size(); i = group._Find_next(i))
      out.rails.push_back({adapters_[i].rail, adapters_[i].gbps * share});
  }
  std::sort(out.rails.begin(), out.rails.end(),
            [](const Rail& a, const Rail& b) { return a.index < b.index; });
  return out;
}

NodeRails rails_of(const NodeTopology& topology, ChipSet used, const AdapterState& state) {
  return NodeAdapters(topology, state).of(used);
}

}  // namespace chipweave::solver
