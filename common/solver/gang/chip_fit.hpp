// ChipFit — which pods can have chips on one node together, where that takes more than enough free
// chips: vendors allow certain sets only. The planner of gangs sees machines through this interface
// alone.
#pragma once

#include <cstdint>
#include <vector>

namespace chipweave::solver {

class ChipFit {
 public:
  ChipFit() = default;
  ChipFit(const ChipFit&) = delete;
  ChipFit& operator=(const ChipFit&) = delete;
  virtual ~ChipFit() = default;

  // False: whatever the node's free chips suffice for fits there.
  virtual bool restricts(std::uint32_t node) const = 0;
  // Whether pods with these numbers of chips, in any order, fit on the node. Where some pods do not
  // fit, no more pods fit either. Precondition: their sum is at most what is free.
  virtual bool fits(std::uint32_t node, std::vector<int> sizes) = 0;
  // From now on these pods do not fit, nor on nodes in the same state.
  virtual void forbid(std::uint32_t node, std::vector<int> sizes) = 0;
};

}  // namespace chipweave::solver
