// AdmissionHandler — the mutating webhook for the creation of Bindings by any scheduler: adds the
// annotations of the decision.
//
// If it cannot decide (starting, API server unreachable) it answers 503, and the webhook's
// failurePolicy applies. A refusal prevents the binding whatever that policy is.
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
