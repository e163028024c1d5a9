#include "scheduler-plugin/app/victim_choice.hpp"

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
  Chosen now{next_, std::move(nodes_[next_])};
  ++next_;
  now.victims.uids = preemption_.choose_victims(pod_, priority_, now.victims, budget_);
  if (!now.victims.uids.empty()) chosen_.push_back(now.victims);
  return now;
}

}  // namespace chipweave::sched
