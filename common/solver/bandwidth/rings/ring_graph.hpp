// RingGraph — the part of a wiring that rings over one chip set can use: one medium per pair
// (direct link or switch planes), with capacities. Chips are numbered 0..n-1 in slot order; at
// most 16.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

inline constexpr int kMaxRingChips = 16;  // the limit of the exact dynamic programmes
// More planes that pairs share with others are not packed exactly: each is a row of the linear
// programme for each of its chips. Real machines have a handful.
inline constexpr std::size_t kMaxRingPlanes = 64;

class RingGraph {
 public:
  // A hop takes the wider of the pair's direct link and its common planes, never both: libraries
  // pick one path per pair.
  RingGraph(const Wiring& wiring, ChipSet set);

  int size() const { return n_; }
  // More than kMaxRingPlanes: there is nothing else in the graph.
  bool too_many_planes() const { return too_many_planes_; }
  Rate direct(int i, int j) const {
    return direct_[idx(i)][idx(j)];
  }  // 0: the pair does not use a direct link; planes that only this pair is on count as one
  struct LocalPlane {
    std::uint32_t members = 0;  // local chips on it
    std::array<Rate, kMaxRingChips> egress{};
  };
  const std::vector<LocalPlane>& planes() const { return planes_; }
  // Bit p set: the pair may hop over plane p (only where it uses no direct link).
  std::uint64_t plane_choices(int i, int j) const { return via_[idx(i)][idx(j)]; }
  std::uint32_t partners(int i) const { return partners_[idx(i)]; }  // chips one fast hop away
  // Capacity of one pair alone, one direction.
  Rate pair_capacity(int i, int j) const;

  // Capacity from the chips of `side` (local bits) to the rest, one direction; an upper bound of
  // every packing.
  Rate cut_capacity(std::uint32_t side) const;
  // Least cut_capacity over single chips and over pairs: O(n²·planes).
  Rate quick_cut_bound() const;
  // Least cut_capacity over all bipartitions: O(2^n · n).
  Rate full_cut_bound() const;

 private:
  static std::size_t idx(int i) { return static_cast<std::size_t>(i); }
  int n_ = 0;
  std::array<std::array<Rate, kMaxRingChips>, kMaxRingChips> direct_{};
  std::array<std::array<std::uint64_t, kMaxRingChips>, kMaxRingChips> via_{};
  std::array<std::uint32_t, kMaxRingChips> partners_{};
  std::vector<LocalPlane> planes_;
  bool too_many_planes_ = false;
};

}  // namespace chipweave::solver
