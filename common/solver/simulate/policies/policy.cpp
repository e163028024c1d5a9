#include "common/solver/simulate/policies/policy.hpp"

#include "common/solver/simulate/policies/baseline_policies.hpp"
#include "common/solver/simulate/policies/chipweave_policy.hpp"
#include "common/solver/simulate/policies/gradient_descent.hpp"

namespace chipweave::simulate {
namespace {

template <class Made>
std::unique_ptr<Policy> make(const PolicyContext& context) {
  return std::make_unique<Made>(context);
}

}  // namespace

const std::vector<NamedPolicy>& policies() {
  static const std::vector<NamedPolicy> all = {
      {"first-fit", "first node with room, lowest chips", make<FirstFit>},
      {"best-fit", "node with the fewest free chips, lowest chips", make<BestFit>},
      {"pair-sum", "node as best-fit, chips with the largest sum of pair scores", make<PairSum>},
      {"spread", "node with the most free chips, lowest chips", make<Spread>},
      {"fgd", "node whose fragmentation grows least, lowest chips", make<GradientDescent>},
      {"chipweave", "what chipweave-scheduler chooses behind kube-scheduler",
       make<ChipweavePolicy>},
  };
  return all;
}

}  // namespace chipweave::simulate
