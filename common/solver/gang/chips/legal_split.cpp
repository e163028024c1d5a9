#include "common/solver/gang/chips/legal_split.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace chipweave::solver {
namespace {

class LegalSplit {
 public:
  LegalSplit(const Machine& machine, ChipSet usable, const std::vector<int>& sizes,
             bool distributed, std::uint64_t& steps)
      : machine_(machine),
        usable_(usable),
        sizes_(sizes),
        distributed_(distributed),
        steps_(steps),
        failed_(sizes.size()) {
    const domain::NodeTopology& topology = machine.topology();
    std::map<int, ChipSet> groups;
    for (int slot = 0; slot < topology.chip_count(); ++slot)
      groups[topology.chip(slot).index.value / topology.rule().group_size].insert(slot);
    for (const auto& [number, chips] : groups) groups_.push_back(chips);
  }

  std::optional<bool> run() {
    const bool found = place(0, usable_);
    if (!found && steps_ == 0) return std::nullopt;
    return found;
  }

 private:
  bool spend() {
    if (steps_ == 0) return false;
    --steps_;
    return true;
  }

  // Whether the pods from `pod` on find chips among the rest.
  bool place(std::size_t pod, ChipSet rest) {
    if (pod == sizes_.size()) return true;
    if (!spend()) return false;
    // What failed for these pods fails again.
    if (!failed_[pod].insert(state(rest)).second) return false;
    const std::vector<ChipSet>& partitions = machine_.topology().partitions();
    if (partitions.empty()) return fill(pod, rest, ChipSet(), 0, sizes_[pod]);
    return std::any_of(partitions.begin(), partitions.end(), [&](ChipSet set) {
      return set.size() == sizes_[pod] && rest.contains(set) && spend() &&
             machine_.legal(set, usable_, distributed_) && place(pod + 1, rest - set);
    });
  }

  // Chips of a group count only by their number: takes the lowest ones.
  bool fill(std::size_t pod, ChipSet rest, ChipSet set, std::size_t group, int missing) {
    if (missing == 0)
      return machine_.legal(set, usable_, distributed_) && place(pod + 1, rest - set);
    if (group == groups_.size() || !spend()) return false;
    const ChipSet free = rest & groups_[group];
    for (int take = std::min(missing, free.size()); take >= 0; --take) {
      ChipSet with = set;
      int added = 0;
      for (const int slot : free) {
        if (added++ == take) break;
        with.insert(slot);
      }
      if (fill(pod, rest, with, group + 1, missing - take)) return true;
    }
    return false;
  }

  // Equal for what is equal up to the order of the groups.
  std::vector<std::uint64_t> state(ChipSet rest) const {
    if (!machine_.topology().partitions().empty()) return {rest.bits()};
    std::vector<std::uint64_t> out;
    for (const ChipSet group : groups_)
      out.push_back(static_cast<std::uint64_t>((rest & group).size()) << 8U |
                    static_cast<std::uint64_t>(group.size()));
    std::sort(out.begin(), out.end());
    return out;
  }

  const Machine& machine_;
  const ChipSet usable_;
  const std::vector<int>& sizes_;
  const bool distributed_;
  std::uint64_t& steps_;
  std::vector<ChipSet> groups_;
  std::vector<std::set<std::vector<std::uint64_t>>> failed_;  // by pod
};

}  // namespace

std::optional<bool> splits_legally(const Machine& machine, ChipSet usable,
                                   const std::vector<int>& sizes, bool distributed,
                                   std::uint64_t& steps) {
  if (std::accumulate(sizes.begin(), sizes.end(), 0) > usable.size()) return false;
  if (sizes.size() == 1) return machine.fits({usable, {}, {}, sizes.front(), distributed});
  return LegalSplit(machine, usable, sizes, distributed, steps).run();
}

}  // namespace chipweave::solver
