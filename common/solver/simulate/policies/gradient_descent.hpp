// Fragmentation Gradient Descent ("Beware of Fragmentation", USENIX ATC 2023): the node whose
// expected fragmentation grows least; among equals the one with the fewest free chips.
#pragma once

#include <limits>
#include <map>
#include <vector>

#include "common/solver/simulate/policies/baseline_policies.hpp"

namespace chipweave::simulate {

class GradientDescent : public BaselinePolicy {
 public:
  explicit GradientDescent(const PolicyContext& context);
  void changed(std::size_t node) override;

 protected:
  NodeKey key(std::size_t index, const ModelNode& node, const PodShape& pod) override;

 private:
  static constexpr double kOpen = std::numeric_limits<double>::infinity();
  double growth(std::size_t index, const ModelNode& node, const PodShape& pod);
  double computed(std::size_t index, const ModelNode& node, const PodShape& pod) const;

  std::map<PodShape, std::size_t> classes_;
  std::vector<double> growth_;  // by node and class, as long as the node stays as it is
};

}  // namespace chipweave::simulate
