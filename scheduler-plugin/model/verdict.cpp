#include "scheduler-plugin/model/verdict.hpp"

#include <utility>

namespace chipweave::sched {
namespace {

constexpr int kFarthest = 1000;

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::unknown_node:
      return "unknown_node";
    case Cause::stale:
      return "stale";
    case Cause::closed:
      return "closed";
    case Cause::resource:
      return "resource";
    case Cause::size:
      return "size";
    case Cause::busy:
      return "busy";
    case Cause::unhealthy:
      return "unhealthy";
    case Cause::rule:
      return "rule";
    case Cause::group:
      return "group";
    case Cause::gang:
      return "gang";
    case Cause::binding:
      return "binding";
  }
  return "";
}

Verdict rejected(Cause cause, Remedy remedy, std::string reason) {
  Verdict v;
  v.cause = cause;
  v.remedy = remedy;
  v.reason = std::move(reason);
  return v;
}

Verdict node_closed() {
  return rejected(Cause::closed, Remedy::time,
                  "the node is closed for pods with chips: its device plugin is not ready");
}

Verdict group_elsewhere() {
  return rejected(Cause::group, Remedy::time, "the other pods of the group are on another node");
}

Verdict gang_elsewhere() {
  return rejected(Cause::gang, Remedy::unresolvable,
                  "the plan of the pod's gang has another node for it");
}

// As far as no other node, so that the pod's own scores higher.
Verdict gang_alike() {
  Verdict v;
  v.far = kFarthest;
  return v;
}

Verdict binding_elsewhere() {
  return rejected(Cause::binding, Remedy::time,
                  "the pod is being bound to another node; the outcome is not known yet");
}

}  // namespace chipweave::sched
