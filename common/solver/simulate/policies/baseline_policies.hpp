// Policies of other systems: a criterion for the node, and chips without a look at what connects
// them, except for PairSum. Vendor rules do not bind them.
#pragma once

#include "common/solver/simulate/policies/lowest_node.hpp"
#include "common/solver/simulate/policies/policy.hpp"

namespace chipweave::simulate {

class BaselinePolicy : public Policy {
 public:
  explicit BaselinePolicy(const PolicyContext& context) : context_(context) {}
  std::optional<Spot> place(const domain::TracePod& pod,
                            std::span<const std::size_t> nodes) override;

 protected:
  virtual NodeKey key(std::size_t index, const ModelNode& node, const PodShape& pod) = 0;
  virtual ChipSet chips(const ModelNode& node, int size);
  const PolicyContext& context() const { return context_; }

 private:
  PolicyContext context_;
};

class FirstFit : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  NodeKey key(std::size_t index, const ModelNode& node, const PodShape& pod) override;
};

class BestFit : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  NodeKey key(std::size_t index, const ModelNode& node, const PodShape& pod) override;
};

class PairSum : public BestFit {
 public:
  using BestFit::BestFit;

 protected:
  ChipSet chips(const ModelNode& node, int size) override;
};

class Spread : public BaselinePolicy {
 public:
  using BaselinePolicy::BaselinePolicy;

 protected:
  NodeKey key(std::size_t index, const ModelNode& node, const PodShape& pod) override;
};

}  // namespace chipweave::simulate
