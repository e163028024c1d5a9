// KubeExtenderHandler — kube-scheduler's extender verbs over HTTP: reads the body, calls the
// decision core, writes the reply. Owner: the loop thread.
#pragma once

#include <string>
#include <string_view>

#include "common/codec/kube/requests/extender.hpp"
#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/server/extender_reply.hpp"
#include "scheduler-plugin/server/sliced_replies.hpp"

namespace chipweave::sched {

class KubeExtenderHandler {
 public:
  // replies: for answers that take long to find.
  KubeExtenderHandler(Scheduler& scheduler, const ResourceTable& resources, SlicedReplies& replies)
      : scheduler_(scheduler), resources_(resources), replies_(replies) {}

  // Unusable requests: 200 with "Error" (filter, bind), 400 (prioritize), 200 without victims
  // (preempt): kube-scheduler writes the URL, which may hold a secret, of any other reply into the
  // pod's event. It ignores errors of prioritize.
  // caller: its name, see CallerCheck.
  http::Response filter(std::string& body, const std::string& caller);
  http::Response prioritize(std::string& body, const std::string& caller);
  http::Answer bind(std::string& body, std::string caller);
  http::Answer preempt(std::string& body);

  // The replies to requests that never reach the handler; see http::RefusalShape.
  static http::Response refused_filter(std::string_view why);
  static http::Response refused_prioritize(std::string_view why);
  static http::Response refused_bind(std::string_view why);
  static http::Response refused_preempt(std::string_view why);

 private:
  std::string refusal(const std::string& sentence) const;

  Scheduler& scheduler_;
  const ResourceTable& resources_;
  SlicedReplies& replies_;
  codec::ExtenderReader reader_;
  codec::ExtenderArgs args_;
  ExtenderReply reply_;
};

}  // namespace chipweave::sched
