#include "scheduler-plugin/app/victim_choice.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace chipweave::sched {

VictimChoice::VictimChoice(const Preemption& preemption, Nominations& nominations,
                           const Authority& authority, PodRequest pod, std::optional<int> priority,
                           std::vector<ProposedVictims> nodes)
    : preemption_(preemption),
      nominations_(nominations),
      authority_(authority),
      pod_(std::move(pod)),
      priority_(priority),
      nodes_(std::move(nodes)),
      budget_(nodes_.size()) {}

std::optional<VictimChoice::Chosen> VictimChoice::next() {
  if (next_ == nodes_.size() || !authority_.cannot_decide().empty()) {
    nominations_.proposed(pod_.uid, std::move(chosen_));
    return std::nullopt;
  }
  const ProposedVictims& proposed = nodes_[next_];
  Chosen now;
  now.position = next_++;
  now.victims.node = proposed.node;
  now.victims.uids = preemption_.choose_victims(pod_, priority_, proposed, budget_);
  const std::unordered_set<std::string_view> checked(proposed.uids.begin(), proposed.uids.end());
  now.unchecked = std::count_if(now.victims.uids.begin(), now.victims.uids.end(),
                                [&](const auto& uid) { return !checked.contains(uid); });
  if (!now.victims.uids.empty()) chosen_.push_back(now.victims);
  return now;
}

}  // namespace chipweave::sched
