#include "common/solver/chips/baselines.hpp"

#include <algorithm>
#include <vector>

namespace chipweave::solver {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;

int host_points(LinkKind path) {
  switch (path) {
    case LinkKind::board:
      return 60;
    case LinkKind::pix:
      return 50;
    case LinkKind::pxb:
      return 40;
    case LinkKind::phb:
      return 30;
    case LinkKind::node:
      return 20;
    case LinkKind::sys:
      return 10;
    case LinkKind::self:
    case LinkKind::nvlink:
    case LinkKind::nvswitch:
    case LinkKind::xgmi:
    case LinkKind::hccs:
    case LinkKind::sio:
    case LinkKind::ub:
    case LinkKind::metaxlink:
      return 0;
  }
  return 0;
}

int lanes_to(const domain::Switch& fabric, int slot) {
  for (const domain::SwitchPort& port : fabric.ports) {
    if (port.slot == slot) return port.lanes_up();
  }
  return 0;
}

// n over k, or anything above `most` as most + 1.
std::size_t subsets(int n, int k, std::size_t most) {
  std::size_t count = 1;
  for (int i = 1; i <= std::min(k, n - k); ++i) {
    count = count * static_cast<std::size_t>(n - i + 1) / static_cast<std::size_t>(i);
    if (count > most) return most + 1;
  }
  return count;
}

// All sets of `size` of the free slots in the order "lowest indices first", sums built up along the
// way.
class PairSumSearch {
 public:
  PairSumSearch(const NodeTopology& topology, ChipSet free, int size) : size_(size) {
    for (const int slot : free) slots_.push_back(slot);
    points_.resize(slots_.size() * slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        points_[i * slots_.size() + j] = pair_points(topology, slots_[j], slots_[i]);
      }
    }
  }

  ChipSet best() {
    extend(0, 0);
    return best_;
  }

 private:
  void extend(std::size_t from, int sum) {
    const auto left = static_cast<std::size_t>(size_) - chosen_.size();
    if (left == 0) {
      if (sum > best_sum_) {
        best_sum_ = sum;
        best_ = ChipSet();
        for (const std::size_t i : chosen_) best_.insert(slots_[i]);
      }
      return;
    }
    for (std::size_t i = from; i + left <= slots_.size(); ++i) {
      int more = 0;
      for (const std::size_t j : chosen_) more += points_[i * slots_.size() + j];
      chosen_.push_back(i);
      extend(i + 1, sum + more);
      chosen_.pop_back();
    }
  }

  int size_;
  std::vector<int> slots_;
  std::vector<int> points_;
  std::vector<std::size_t> chosen_;
  ChipSet best_;
  int best_sum_ = -1;
};

}  // namespace

int pair_points(const NodeTopology& topology, int slot_a, int slot_b) {
  int lanes = 0;
  if (const domain::DirectLink* link = topology.link(slot_a, slot_b)) lanes += link->lanes_up();
  for (const domain::Switch& fabric : topology.switches()) {
    lanes += std::min(lanes_to(fabric, slot_a), lanes_to(fabric, slot_b));
  }
  return host_points(topology.host_path(slot_a, slot_b)) + 100 * lanes;
}

std::optional<ChipSet> choose_by_pair_sum(const NodeTopology& topology, ChipSet free, int size) {
  if (size < 0 || size > free.size()) return std::nullopt;
  if (subsets(free.size(), size, kMaxPairSumSets) > kMaxPairSumSets) return std::nullopt;
  return PairSumSearch(topology, free, size).best();
}

std::optional<ChipSet> choose_first_fit(ChipSet free, int size) {
  if (size < 0 || size > free.size()) return std::nullopt;
  ChipSet chosen;
  for (const int slot : free) {
    if (chosen.size() == size) break;
    chosen.insert(slot);
  }
  return chosen;
}

}  // namespace chipweave::solver
