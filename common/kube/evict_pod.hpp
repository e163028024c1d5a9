// evict_pod — asks the API server to end a pod by the Eviction API, which respects the pod's
// PodDisruptionBudget and grace period.
//
// The request names the uid, so that no other pod of that name is ended. Idempotent. Owner: the
// loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct EvictRequest {
  std::string ns;
  std::string name;
  std::string uid;       // of the intended pod; a recreated pod has another uid
  bool at_once = false;  // without its grace period
  // Called right before each POST, including retries; if it returns false, no further POST is sent.
  // May be empty.
  std::function<bool()> may_send{};
};

std::string eviction_text(const EvictRequest& request);

// done: ok when the API server ends the pod, or no pod has this uid any more. Errors: conflict
// (429: a budget does not allow it now), invalid_argument (invalid names; rejected as malformed or
// forbidden), not_sent (no POST left this process: `may_send` returned false or the server could
// not be reached), unavailable (no answer in time: the pod may end). No callback after the ticket
// is destroyed.
std::unique_ptr<Ticket> evict_pod(Transport& transport, EvictRequest request,
                                  std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
