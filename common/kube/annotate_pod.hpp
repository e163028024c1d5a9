// annotate_pod — adds annotations to a pod that does not have them yet: reads the pod and patches
// exactly the version that was read, so that only one of two concurrent writers succeeds.
//
// Idempotent. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct AnnotateRequest {
  std::string ns;
  std::string name;
  std::string uid;  // of the intended pod
  // All of them are written, unless the pod has the key `unless` already.
  std::map<std::string, std::string> annotations;
  std::string unless;
  // Whether such a value may be overwritten nevertheless; empty: none.
  std::function<bool(const std::string&)> replaceable{};
};

// done: ok when the API server has stored the annotations. Errors: not_found (no such pod),
// conflict (another uid, or it has the key `unless` with another value), invalid_argument
// (invalid names; rejected as malformed or forbidden), unavailable (no answer in time: the
// annotations may have been written). No callback after the ticket is destroyed.
std::unique_ptr<Ticket> annotate_pod(Transport& transport, AnnotateRequest request,
                                     std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
