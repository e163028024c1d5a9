// MoveFit — which moved pods can have chips on a node together, where that takes more than enough
// free chips. plan_moves() sees machines through this interface alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chipweave::solver {

class MoveFit {
 public:
  MoveFit() = default;
  MoveFit(const MoveFit&) = delete;
  MoveFit& operator=(const MoveFit&) = delete;
  virtual ~MoveFit() = default;

  // False: whatever the node's free chips suffice for fits there.
  virtual bool restricts(std::uint32_t node) const = 0;
  // Whether the arriving pods fit on the node once the leaving ones have left; both by their
  // position in the request. Where some pods do not fit, no more pods fit either, nor with fewer
  // leaving.
  virtual bool fits(std::uint32_t node, const std::vector<std::size_t>& leaving,
                    const std::vector<std::size_t>& arriving) = 0;
  // Whether it ever answered "no" without being certain.
  virtual bool uncertain() const = 0;
};

}  // namespace chipweave::solver
