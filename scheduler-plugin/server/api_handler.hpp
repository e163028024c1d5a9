// ApiHandler — the scheduler's state as JSON, for people, scripts and the command line
// (docs/reference/http.md). Read-only, except that expired reservations and stale inventories are
// processed first. On the loop thread.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

// Parses "NAMESPACE/NAME" at the end of a path; ns is empty if it has another form.
PodKey pod_key_of(std::string_view rest);

class ApiHandler {
 public:
  explicit ApiHandler(Scheduler& scheduler) : scheduler_(scheduler) {}
  http::Response nodes();
  http::Response node(std::string_view name);
  http::Response pods();
  http::Response explain(std::string_view rest);

 private:
  Scheduler& scheduler_;
};

}  // namespace chipweave::sched
