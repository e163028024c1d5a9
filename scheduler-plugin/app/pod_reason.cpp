#include "scheduler-plugin/app/pod_reason.hpp"

#include <utility>
#include <vector>

#include "scheduler-plugin/app/availability.hpp"

namespace chipweave::sched {
namespace {

// Of a pod whose last evaluation found no node; empty: it found one, or there was none.
std::string rejection_text(const PodRequest& pod, const SchedulerState& state) {
  const PodRecord* record = state.records.find(pod.uid);
  const LastEvaluation* last = record == nullptr ? nullptr : record->evaluation.get();
  if (last == nullptr || last->node != kNoNode || last->others.empty()) return {};
  std::vector<Rejection> rejections;
  rejections.reserve(last->others.size());
  for (const Considered& one : last->others)
    rejections.push_back({one.count, one.cause, one.reason});
  return availability_text(pod.resource, rejections, 0);
}

std::string gang_text(const PodRequest& pod, const GangView& gangs, const SchedulerState& state) {
  if (!gangs.plans_for(pod)) return {};
  const Gang* gang = state.gangs.of(pod.uid);
  const GangState stage = gangs.stage(*gang);
  if (stage == GangState::gathering) return "waits for other pods of its gang " + gang->name;
  if (stage == GangState::waiting) return "its gang " + gang->name + " has no plan";
  return {};
}

}  // namespace

std::string pod_reason(const ClusterPod& pod, const GangView& gangs, const SchedulerState& state,
                       Clock::Steady now) {
  const Holding* held = state.ledger.find(pod.request.uid);
  if (held != nullptr) {
    const Node& node = state.nodes.node(held->node);
    return node.stale ? "NotReady: " + silence_text(node, now) : std::string();
  }
  if (!pod.refused.empty()) return pod.refused;
  if (const auto claims = state.claim_notes.find(pod.request.uid);
      claims != state.claim_notes.end())
    return claims->second;
  if (!pod.node.empty() || pod.request.chips == 0) return {};
  const std::string of_gang = gang_text(pod.request, gangs, state);
  return of_gang.empty() ? rejection_text(pod.request, state) : of_gang;
}

}  // namespace chipweave::sched
