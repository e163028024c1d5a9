#include "scheduler-plugin/app/nearness.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

bool Nearness::begin(const std::string& resource, const Ledger::ByNode* of_job,
                     const Holding* own) {
  for (auto& of_verdict : elsewhere_) of_verdict.clear();
  leaves_.clear();
  near_ = false;
  if (network_ == nullptr) return false;
  fabric_ = &network_->fabric_of(resource);
  const solver::Fabric& fabric = fabric_->fabric();
  if (fabric.levels() < 2) return false;  // the node itself only
  if (of_job == nullptr) return true;
  marks_.resize(fabric.domain_numbers());
  if (++begin_ == 0) {
    std::fill(marks_.begin(), marks_.end(), 0);
    begin_ = 1;
  }
  const solver::RailLeaves& leaves = fabric_->leaves();
  for (const auto& [node, chips] : *of_job) {
    if (own != nullptr && own->node == node && chips == own->chips) continue;
    const solver::FabricNodeId number = fabric_->number_of(node);
    if (number == solver::kNowhere) continue;
    near_ = true;
    for (int level = static_cast<int>(fabric.levels()) - 2; level >= 0; --level)
      marks_[fabric.domain_of(number, level)] = begin_;
    if (!leaves.empty() && leaves[number] != solver::kNoLeaves) leaves_.push_back(leaves[number]);
  }
  std::sort(leaves_.begin(), leaves_.end());
  return true;
}

int Nearness::far(NodeId node) const {
  if (!near_) return 0;
  const solver::Fabric& fabric = fabric_->fabric();
  const solver::FabricNodeId number = fabric_->number_of(node);
  const int finest = static_cast<int>(fabric.levels()) - 2;
  int far = 0;
  if (number == solver::kNowhere) return std::min(finest + 1, kMaxFar);
  for (int level = finest; level >= 0 && marks_[fabric.domain_of(number, level)] != begin_; --level)
    ++far;
  return std::min(far, kMaxFar);
}

Nearness::Place Nearness::place_of(NodeId node) const {
  Place out;
  out.far = far(node);
  const solver::FabricNodeId number = fabric_->number_of(node);
  if (number == solver::kNowhere) return out;
  out.breaks = std::min(fabric_->whole_levels(number), kMaxFar);
  if (leaves_.empty()) return out;
  const int leaves = fabric_->leaves()[number];
  const bool other =
      leaves != solver::kNoLeaves && !std::binary_search(leaves_.begin(), leaves_.end(), leaves);
  out.other_leaves = other ? 1 : 0;
  return out;
}

std::uint32_t Nearness::verdict_of(NodeId node, std::uint32_t number, VerdictTable& table) {
  const Place place = place_of(node);
  if (place == Place{}) return number;
  if (elsewhere_.size() <= number) elsewhere_.resize(number + std::size_t{1});
  auto& known = elsewhere_[number];
  const auto same =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == place; });
  if (same != known.end()) return same->second;
  Verdict verdict = table.verdicts()[number];
  verdict.far = place.far;
  verdict.other_leaves = place.other_leaves;
  verdict.breaks = place.breaks;
  verdict.count = 0;
  verdict.first = kNoNode;
  verdict.first_order = ~std::uint32_t{0};
  const std::uint32_t made = table.add(std::move(verdict));
  known.emplace_back(place, made);
  return made;
}

}  // namespace chipweave::sched
