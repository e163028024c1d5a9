// ungate_pod — removes a scheduling gate of a pod, annotates the pod and pins it to a node, in one
// PATCH.
//
// The patch names the uid, so that no other pod of that name is changed, and no version, so that
// it does not collide with other writers. It is sent without a read: the API server accepts a pin
// only as an addition to the affinity that the pod has. Only if it refuses the patch, the pod is
// read, and the pin is added to each of its terms. Idempotent. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct UngateRequest {
  std::string ns;
  std::string name;
  std::string uid;  // of the intended pod; a recreated pod has another uid
  std::string gate;
  std::map<std::string, std::string> annotations;
  // The node that a required node affinity keeps it on (codec/kube/pod/nodes/node_pin.hpp).
  std::optional<std::string> pin_to{};
  // Called right before each PATCH, including retries; if it returns false, no further PATCH is
  // sent. May be empty.
  std::function<bool()> may_send{};
};

// The body of the patch. terms: JSON of nodeSelectorTerms; empty: the affinity stays as it is.
// version: of the pod that was read; empty: any. with_gate: whether the pod may have the gate.
struct UngatePatch {
  std::string terms;
  std::string version;
  bool with_gate = true;
};
std::string ungate_text(const UngateRequest& request, const UngatePatch& patch);

// done: ok when the gate is gone and the API server has stored the annotations, also if another
// client removed the gate; then without a pin. Errors: not_found (no such pod), conflict
// (another uid), invalid_argument (invalid names; rejected as malformed or forbidden), not_sent (no
// PATCH left this process: `may_send` returned false or the server could not be reached),
// unavailable (no answer in time: the gate may be gone). No callback after the ticket is destroyed.
std::unique_ptr<Ticket> ungate_pod(Transport& transport, UngateRequest request,
                                   std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
