#include "common/solver/bandwidth/rings/ring_graph.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace chipweave::solver {

RingGraph::RingGraph(const Wiring& wiring, ChipSet set) : n_(set.size()) {
  std::array<int, kMaxRingChips> slots{};
  int next = 0;
  for (const int s : set) slots[idx(next++)] = s;
  std::vector<LocalPlane> all;
  for (const Plane& p : wiring.planes()) {
    if ((p.members & set).size() < 2) continue;
    LocalPlane local;
    for (int i = 0; i < n_; ++i) {
      if (!p.members.contains(slots[idx(i)])) continue;
      local.members |= 1U << i;
      local.egress[idx(i)] = p.egress[idx(slots[idx(i)])];
    }
    all.push_back(local);
  }
  // A plane that only one pair is on is used like a link of that pair. It stays a plane where the
  // pair hops over shared ones, too.
  std::vector<bool> used(all.size(), false);
  std::array<std::array<bool, kMaxRingChips>, kMaxRingChips> over_shared{};
  for (int i = 0; i < n_; ++i) {
    for (int j = i + 1; j < n_; ++j) {
      const std::uint32_t pair = 1U << i | 1U << j;
      Rate over_planes = 0;
      bool shared = false;
      for (const LocalPlane& p : all) {
        if ((p.members & pair) != pair) continue;
        over_planes += std::min(p.egress[idx(i)], p.egress[idx(j)]);
        shared = shared || p.members != pair;
      }
      const Rate link = wiring.direct(slots[idx(i)], slots[idx(j)]);
      if (link == 0 && over_planes == 0) continue;
      partners_[idx(i)] |= 1U << j;
      partners_[idx(j)] |= 1U << i;
      if (link >= over_planes || !shared) {
        direct_[idx(i)][idx(j)] = direct_[idx(j)][idx(i)] = std::max(link, over_planes);
        continue;
      }
      over_shared[idx(i)][idx(j)] = true;
      for (std::size_t p = 0; p < all.size(); ++p) {
        used[p] = used[p] || (all[p].members & pair) == pair;
      }
    }
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (used[p]) planes_.push_back(all[p]);
  }
  if (planes_.size() > kMaxRingPlanes) {
    too_many_planes_ = true;
    planes_.clear();
    return;
  }
  for (int i = 0; i < n_; ++i) {
    for (int j = i + 1; j < n_; ++j) {
      if (!over_shared[idx(i)][idx(j)]) continue;
      const std::uint32_t pair = 1U << i | 1U << j;
      for (std::size_t p = 0; p < planes_.size(); ++p) {
        if ((planes_[p].members & pair) != pair) continue;
        via_[idx(i)][idx(j)] |= std::uint64_t{1} << p;
      }
      via_[idx(j)][idx(i)] = via_[idx(i)][idx(j)];
    }
  }
}

Rate RingGraph::pair_capacity(int i, int j) const {
  if (direct(i, j) > 0) return direct(i, j);
  Rate out = 0;
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    if ((plane_choices(i, j) >> p & 1U) != 0)
      out += std::min(planes_[p].egress[idx(i)], planes_[p].egress[idx(j)]);
  }
  return out;
}

Rate RingGraph::cut_capacity(std::uint32_t side) const {
  const std::uint32_t all = (1U << n_) - 1;
  const std::uint32_t other = all & ~side;
  Rate out = 0;
  std::uint64_t crossing_planes = 0;
  for (std::uint32_t rest = side; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    for (std::uint32_t far = other & partners(i); far != 0; far &= far - 1) {
      const int j = std::countr_zero(far);
      out += direct(i, j);
      crossing_planes |= plane_choices(i, j);
    }
  }
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    if ((crossing_planes >> p & 1U) == 0) continue;
    Rate here = 0;
    Rate there = 0;
    for (int i = 0; i < n_; ++i) {
      if ((planes_[p].members >> i & 1U) == 0) continue;
      ((side >> i & 1U) != 0 ? here : there) += planes_[p].egress[idx(i)];
    }
    out += std::min(here, there);
  }
  return out;
}

Rate RingGraph::quick_cut_bound() const {
  Rate least = std::numeric_limits<Rate>::max();
  for (int i = 0; i < n_; ++i) {
    least = std::min(least, cut_capacity(1U << i));
    if (n_ < 4) continue;
    for (int j = i + 1; j < n_; ++j) {
      if (direct(i, j) > 0) least = std::min(least, cut_capacity(1U << i | 1U << j));
    }
  }
  return least;
}

Rate RingGraph::full_cut_bound() const {
  Rate least = std::numeric_limits<Rate>::max();
  for (std::uint32_t side = 1; side < (1U << (n_ - 1)); ++side)
    least = std::min(least, cut_capacity(side));
  return least;
}

}  // namespace chipweave::solver
