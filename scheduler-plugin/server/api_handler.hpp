// ApiHandler — what the scheduler knows as JSON, for people, scripts and the command line
// (docs/reference/http.md). Changes nothing but what time alone has ended: reservations and
// inventories that have run out are taken off first. On the loop thread.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

// "NAMESPACE/NAME" of a path's end; ns empty when it is not of that form.
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
