#include "scheduler-plugin/app/request_context.hpp"

#include <algorithm>
#include <string>

namespace chipweave::sched {

RequestContext RequestContexts::of(const PodRequest& pod, const Holding* part) const {
  RequestContext context;
  context.pod = &pod;
  context.part = part;
  if (context.planned()) context.only = part->node;
  if (part != nullptr && !part->group.empty()) {
    const Group* group = groups_.find(part->group);
    if (group != nullptr) context.plan = &group->plan;
  }
  const std::string job = pod.chips > 0 ? job_identity(pod) : std::string();
  if (!job.empty()) {
    const ClusterPod* self = cluster_.find(pod.key);
    const bool counted = self != nullptr && self->request.uid == pod.uid && self->request.chips > 0;
    context.distributed = state_.jobs.members(job) > (counted ? 1U : 0U);
    context.of_job = &state_.ledger.of_job(job);
    context.own = state_.ledger.find(pod.uid);
  }
  context.distributed = context.distributed || pod.distributed || is_member(pod);
  if (!is_member(pod)) return context;
  context.members = pod.group->replicas;
  if (const Group* group = groups_.find(group_id(pod))) {
    const auto holding = static_cast<int>(group->members.size() - group->members.count(pod.uid));
    context.members = std::max(1, context.members - holding);
    context.only = group->node;
  }
  return context;
}

bool RequestContext::may_change_to(NodeId node) const {
  return alike != nullptr && std::binary_search(alike->begin(), alike->end(), node);
}

Verdict RequestContext::elsewhere(NodeId node) const {
  if (binding != nullptr) return binding_elsewhere();
  if (may_change_to(node)) return gang_alike();
  return planned() ? gang_elsewhere() : group_elsewhere();
}

GroupPlan plan_of(const RequestContext& context, const Node& node, ChipSet beside) {
  if (const Decision* binding = context.binding)
    return {binding->request, binding->gbps, binding->best_gbps};
  if (context.plan != nullptr) return *context.plan;
  const ChipSet all = context.part->chips | beside;
  return {std::nullopt, node.wiring->gbps(all), node.wiring->best_gbps(all, context.distributed)};
}

}  // namespace chipweave::sched
