// AdmissionReview (admission.k8s.io/v1) for the creation of pods: the request that a mutating
// webhook receives before the API server stores a pod, and the response.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

struct PodReview {
  std::string request_uid;  // the answer repeats it
  // Set only for the creation of a pod.
  bool is_new_pod = false;
  KubePod pod;         // without a uid and, if its name is generated, without a name
  std::string object;  // the pod's JSON
};

// Unknown keys are skipped, and so is the object of another request. Errors: invalid_argument
// (invalid JSON, not an AdmissionReview of v1, no request, a name longer than any object's).
Result<PodReview> read_pod_review(std::string& body);

// What a webhook adds to a pod.
struct PodAdditions {
  std::string_view gate;  // spec.schedulingGates
  // A variable with the value of an annotation, for each container that has none of that name, init
  // containers too; empty: none.
  std::string_view variable = {};
  std::string_view from_annotation = {};
};

// The pod may be created as it is.
std::string write_pod_allowed(const PodReview& review);
// With additions. Errors: invalid_argument (an environment that no container can have).
Result<std::string> write_pod_allowed(PodReview& review, const PodAdditions& additions);

}  // namespace chipweave::codec
