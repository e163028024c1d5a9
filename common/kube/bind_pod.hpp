// bind_pod — binds a pod to a node and writes its annotations, in one request to the API server: a
// POST of a Binding whose metadata.annotations the server merges into the pod.
//
// A Binding cannot be undone, and its answer can be lost. So after an unclear outcome it reads
// the pod: bound to the requested node with the requested annotations is success; any other
// binding is a conflict; an unbound pod is tried again until the deadline. Idempotent. Owner: the
// loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct BindRequest {
  std::string ns;
  std::string name;
  std::string uid;  // of the intended pod; a recreated pod has another uid
  std::string node;
  std::map<std::string, std::string> annotations;
  // Called right before each POST, including retries; if it returns false, no further POST is sent.
  // May be empty.
  std::function<bool()> may_send{};
};

// done: ok when the API server has stored the binding. Errors: not_found (no such pod),
// conflict (another uid, bound elsewhere or by another client, being deleted, gated),
// invalid_argument (invalid names; rejected as malformed or forbidden), not_sent (no POST left this
// process: `may_send` returned false, the server could not be reached or other calls took all the
// time: the pod is not bound), unavailable (no answer in time: the pod may be bound nevertheless).
// No callback after the ticket is destroyed.
std::unique_ptr<Ticket> bind_pod(Transport& transport, BindRequest order,
                                 std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
