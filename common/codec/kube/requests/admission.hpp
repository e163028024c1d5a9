// AdmissionReview (admission.k8s.io/v1) for the creation of Bindings: the request that a mutating
// webhook receives before the API server binds a pod, and the response.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

// Of the request and the Binding in it, as far as placement cares.
struct BindingReview {
  std::string request_uid;  // the answer repeats it
  bool is_binding = false;  // CREATE of pods/binding or bindings; else nothing below is filled
  bool dry_run = false;
  std::string ns;
  std::string pod;
  std::string pod_uid;  // empty where the Binding does not say it
  std::string node;     // empty where it has no target: the API server refuses that itself
  StringMap annotations;
};

// Unknown keys are skipped. Errors: invalid_argument (no JSON, no AdmissionReview of v1, no
// request, a name longer than any object's).
Result<BindingReview> read_binding_review(std::string& body);

// The pod may be bound. The Binding gets those of the annotations that it does not have already; a
// key that is there with another value gets the new one. Where it does not say which pod it means,
// it also gets the uid of the pod that was decided on: then the API server takes it for no other.
std::string write_allowed(const BindingReview& review, const std::string& pod_uid,
                          const std::map<std::string, std::string>& annotations);
// The pod is not bound. code: as an HTTP status. message: what the pod's owner reads.
std::string write_denied(std::string_view request_uid, int code, std::string_view message);

}  // namespace chipweave::codec
