#include "common/solver/nodes/demand_estimate.hpp"

#include <algorithm>
#include <vector>

namespace chipweave::solver {

void DemandEstimate::add(const DemandClass& pod) {
  if (pod.chips < 1) return;
  if (count_ >= kMaxCount || (counts_.size() >= kMaxClasses && !counts_.contains(pod))) halve();
  if (counts_.size() >= kMaxClasses && !counts_.contains(pod)) return;
  ++counts_[pod];
  ++count_;
  ++since_;
}

void DemandEstimate::halve() {
  count_ = 0;
  for (auto it = counts_.begin(); it != counts_.end();) {
    it->second /= 2;
    count_ += it->second;
    it = it->second == 0 ? counts_.erase(it) : std::next(it);
  }
}

void DemandEstimate::refresh(std::span<const EmptyNodes> nodes) {
  std::vector<CountedClass> pods;
  pods.reserve(counts_.size());
  for (const auto& [pod, count] : counts_) pods.push_back({pod, count});
  std::stable_sort(pods.begin(), pods.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  demand_ = Demand(pods, nodes);
  since_ = 0;
  ++version_;
}

}  // namespace chipweave::solver
