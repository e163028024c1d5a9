// AdmissionReview (admission.k8s.io/v1) for the creation of Bindings: the request that a mutating
// webhook receives before the API server binds a pod, and the response.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

// The parts of the request and its Binding that placement needs.
struct BindingReview {
  std::string request_uid;  // the answer repeats it
  bool is_binding = false;  // CREATE of pods/binding or bindings; otherwise nothing below is set
  bool dry_run = false;
  std::string ns;
  std::string pod;
  std::string pod_uid;  // empty if the Binding does not give it
  std::string node;     // empty without a target: the API server rejects that itself
  StringMap annotations;
};

// Unknown keys are skipped. Errors: invalid_argument (invalid JSON, not an AdmissionReview of v1,
// no request, a name longer than any object's).
Result<BindingReview> read_binding_review(std::string& body);

// The pod may be bound. Adds the annotations to the Binding and replaces those with another value.
// If the Binding has no pod uid, adds that of the pod in the decision, so that the API server
// applies it to no other pod.
std::string write_allowed(const BindingReview& review, const std::string& pod_uid,
                          const std::map<std::string, std::string>& annotations);
// The pod must not be bound. code: an HTTP status. message: for the pod's owner.
std::string write_denied(std::string_view request_uid, int code, std::string_view message);

}  // namespace chipweave::codec
