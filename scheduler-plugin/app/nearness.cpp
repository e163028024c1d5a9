#include "scheduler-plugin/app/nearness.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

bool Nearness::begin(const std::string& resource, const Ledger::ByNode* of_job,
                     const Holding* own) {
  farther_.clear();
  if (network_ == nullptr || of_job == nullptr || of_job->empty()) return false;
  fabric_ = &network_->fabric_of(resource);
  const solver::Fabric& fabric = fabric_->fabric();
  if (fabric.levels() < 2) return false;  // the node itself only
  marks_.resize(fabric.domain_numbers());
  if (++begin_ == 0) {
    std::fill(marks_.begin(), marks_.end(), 0);
    begin_ = 1;
  }
  bool any = false;
  for (const auto& [node, chips] : *of_job) {
    if (own != nullptr && own->node == node && chips == own->chips) continue;
    const solver::FabricNodeId number = fabric_->number_of(node);
    if (number == solver::kNowhere) continue;
    any = true;
    for (int level = static_cast<int>(fabric.levels()) - 2; level >= 0; --level)
      marks_[fabric.domain_of(number, level)] = begin_;
  }
  return any;
}

int Nearness::far(NodeId node) const {
  const solver::Fabric& fabric = fabric_->fabric();
  const solver::FabricNodeId number = fabric_->number_of(node);
  const int finest = static_cast<int>(fabric.levels()) - 2;
  int far = 0;
  if (number == solver::kNowhere) return std::min(finest + 1, kMaxFar);
  for (int level = finest; level >= 0 && marks_[fabric.domain_of(number, level)] != begin_; --level)
    ++far;
  return std::min(far, kMaxFar);
}

std::uint32_t Nearness::verdict_of(NodeId node, std::uint32_t number, VerdictTable& table) {
  const int distance = far(node);
  if (distance == 0) return number;
  if (farther_.size() <= number) farther_.resize(number + 1);
  std::uint32_t& known = farther_[number][static_cast<std::size_t>(distance)];
  if (known == 0) {
    Verdict verdict = table.verdicts()[number];
    verdict.far = distance;
    verdict.count = 0;
    verdict.first = kNoNode;
    verdict.first_order = ~std::uint32_t{0};
    known = table.add(std::move(verdict));
  }
  return known;
}

}  // namespace chipweave::sched
