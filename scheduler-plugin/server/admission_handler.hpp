// AdmissionHandler — the mutating webhook on the creation of Bindings: the API server asks before
// it binds a pod, whoever wants that, and gets the annotations that are to be added.
//
// What cannot be answered now (starting, no word from the API server) is a 503: then the webhook's
// failurePolicy decides. A refusal is an answer: the pod is not bound, whatever that policy is.
// Owner: the loop thread.
#pragma once

#include <string>

#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

class AdmissionHandler {
 public:
  explicit AdmissionHandler(Scheduler& scheduler) : scheduler_(scheduler) {}

  http::Answer review(std::string& body);

 private:
  Scheduler& scheduler_;
};

}  // namespace chipweave::sched
