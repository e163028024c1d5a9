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

  // Unusable requests: 200 with "Error" (filter, bind), 400 (prioritize, preempt: their replies
  // have no error field).
  // caller: its name, see CallerCheck.
  http::Response filter(std::string& body, const std::string& caller);
  http::Response prioritize(std::string& body, const std::string& caller);
  http::Answer bind(std::string& body, std::string caller);
  http::Answer preempt(std::string& body);

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
