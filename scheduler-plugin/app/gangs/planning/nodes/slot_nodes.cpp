#include "scheduler-plugin/app/gangs/planning/nodes/slot_nodes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace chipweave::sched {
namespace {

bool same_wishes(const SharedWishes& a, const SharedWishes& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool names_nodes(const SharedWishes& wishes) {
  return wishes != nullptr && domain::named_nodes(*wishes).has_value();
}

}  // namespace

SlotNodes::SlotNodes(EligibleNodes& eligible, std::span<const SharedWishes> pods) {
  std::map<const domain::NodeWishes*, std::size_t> known;              // their kinds
  std::vector<std::pair<const SharedWishes*, std::size_t>> different;  // that name no nodes
  const auto add_kind = [&](const SharedWishes& wishes) {
    sets_.push_back(eligible.of(wishes));
    return sets_.size() - 1;
  };
  std::size_t named = 0;
  std::optional<std::size_t> others;
  const auto kind_of = [&](const SharedWishes& wishes) {
    if (names_nodes(wishes) && ++named <= kMaxNamed) return add_kind(wishes);
    const auto same = std::find_if(different.begin(), different.end(), [&](const auto& one) {
      return same_wishes(*one.first, wishes);
    });
    if (same != different.end()) return same->second;
    if (different.size() < kMaxDifferent)
      return different.emplace_back(&wishes, add_kind(wishes)).second;
    if (!others) others = add_kind(nullptr);
    return *others;
  };
  kind_of_.reserve(pods.size());
  for (const SharedWishes& wishes : pods) {
    const auto [at, fresh] = known.try_emplace(wishes.get(), 0);
    if (fresh) at->second = kind_of(wishes);
    kind_of_.push_back(at->second);
  }
  if (sets_.empty()) sets_.push_back(eligible.of(nullptr));
  any_ = sets_.front();
  for (const NodeSet& set : sets_) {
    for (NodeId node = 0; node < any_.size(); ++node) {
      if (set[node]) any_[node] = true;
    }
  }
  for (const NodeSet& set : sets_) all_.push_back(set == any_);
}

bool SlotNodes::all(NodeId node) const {
  return std::all_of(sets_.begin(), sets_.end(), [&](const NodeSet& set) { return set[node]; });
}

}  // namespace chipweave::sched
