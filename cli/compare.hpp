// Comparison — what others would have chosen for a pod on the same free chips, and how fast it
// would have been.
//
// Uses the built-in profile that the node's name of machine says, with the lanes down that the
// scheduler reports of the node. A machine that is no profile is not compared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {

struct OtherChoice {
  std::vector<int> chips;  // ascending vendor indices
  double gbps = 0;         // predicted by the same model, GB/s, together with the chips beside
  bool legal = true;       // false: the vendor's runtime would refuse the set
};

struct Comparison {
  std::optional<OtherChoice> pair_sum;   // go-gpuallocator, HAMi; absent: too many sets to look at
  std::optional<OtherChoice> first_fit;  // lowest free indices
};

class Comparer {
 public:
  // node: as it was before the pod was placed. beside: chips that pods of the same job held there;
  // figures are those of the union, as the scheduler's are. nullopt: unknown machine or not enough
  // free chips.
  std::optional<Comparison> compare(const codec::NodeView& node, int size, bool distributed,
                                    const std::vector<int>& beside = {});

 private:
  solver::Machine* machine(const codec::NodeView& node);
  // By profile and links that are down; null: no such profile.
  std::map<std::string, std::unique_ptr<solver::Machine>> machines_;
};

}  // namespace chipweave::cli
