// nominate_pod — says in a waiting pod's status on which node it is expected (nominatedNodeName).
//
// kube-scheduler looks at that node first and, if the pod fits there, at no other; meanwhile it
// keeps the CPU and memory there from pods of the same or a lower priority. Unlike a node
// affinity, it can be changed at any time. One attempt: the caller looks at the pod again later,
// since kube-scheduler may remove the node's name. The patch
// names the uid, so that no other pod of that name is changed. Owner: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct NominateRequest {
  std::string ns;
  std::string name;
  std::string uid;   // of the intended pod; a recreated pod has another uid
  std::string node;  // its name
  // Called right before the PATCH; if it returns false, that is not sent. May be empty.
  std::function<bool()> may_send{};
};

// done: ok when the API server has stored it. Errors: not_found (no such pod), conflict (another
// uid, or it is bound already), invalid_argument (invalid names; rejected as malformed or
// forbidden), not_sent (`may_send` returned false), unavailable (no answer: it may be stored). No
// callback after the ticket is destroyed.
std::unique_ptr<Ticket> nominate_pod(Transport& transport, NominateRequest request,
                                     std::function<void(Result<void>)> done);

}  // namespace chipweave::kube
