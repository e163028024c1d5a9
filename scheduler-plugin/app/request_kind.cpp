#include "scheduler-plugin/app/request_kind.hpp"

namespace chipweave::sched {

RequestKind kind_of(const RequestContext& context, bool rooms) {
  const PodRequest& pod = *context.pod;
  return {pod.resource,
          pod.chips,
          context.distributed,
          context.members,
          is_member(pod) ? pod.group->replicas : 1,
          pod.objective,
          rooms ? pod.needs : solver::Room()};
}

PodRequest pod_of(const RequestKind& kind) {
  PodRequest pod;
  pod.resource = kind.resource;
  pod.chips = kind.chips;
  pod.objective = kind.objective;
  pod.needs = kind.needs;
  if (kind.replicas > 1) pod.group = GroupRef{"", kind.replicas};
  return pod;
}

}  // namespace chipweave::sched
