// Binding — a pod that is to be bound to a node, as a scheduler asks for it or sends it to the API
// server.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

struct Binding {
  PodKey key;
  std::string uid;
  std::string node;
  std::string caller{};  // who asks for it; empty: a client without a name
};

// Receives the result of a request, once, possibly before the call returns.
using Done = std::function<void(Result<void>)>;

// The decision as it is written to the pod: annotation key → value.
using Annotations = std::map<std::string, std::string>;

// Chips for a ResourceClaim of the pod, which the kubelet follows.
struct ClaimOrder {
  std::string resource;
  std::vector<int> chips;  // vendor indices, ascending
  // Positions in `chips` of what each container gets, by its name.
  std::map<std::string, std::vector<std::size_t>> containers;
};

// What a binding writes to the cluster.
struct BindOrder {
  Binding binding;
  Annotations annotations;
  std::optional<ClaimOrder> claim;  // made before the pod is bound, and ended if it is not
};

// Lets a pod be scheduled that waited for its gang.
struct UngateOrder {
  PodKey key;
  std::string uid;
  Annotations annotations;            // added in the same step
  std::optional<std::string> pin_to;  // the only node that it may be bound to
};

// A Binding as it comes to admission.
struct AdmissionRequest {
  Binding binding;        // uid empty: the Binding carries none
  std::string placement;  // the placement it already carries; empty: none
  bool dry_run = false;
};
// What to add to the pod. uid: of the pod that was considered; empty: the Binding carries another
// uid, which the API server refuses itself.
struct Admission {
  std::string uid;
  Annotations annotations;
};
using Admitted = std::function<void(Result<Admission>)>;

}  // namespace chipweave::sched
