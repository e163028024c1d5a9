// KubeExtenderHandler — kube-scheduler's extender verbs over HTTP: reads the body, calls the
// decision core, writes the reply. Owner: the loop thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/kube/requests/extender.hpp"
#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/server/extender_reply.hpp"
#include "scheduler-plugin/server/large_bodies.hpp"
#include "scheduler-plugin/server/sliced_replies.hpp"

namespace chipweave::sched {

class KubeExtenderHandler {
 public:
  // replies: for answers that take long to find or are large.
  KubeExtenderHandler(http::Loop& loop, Scheduler& scheduler, const ResourceTable& resources,
                      SlicedReplies& replies)
      : scheduler_(scheduler), resources_(resources), replies_(replies), large_(loop) {}

  // Unusable requests: 200 with "Error" (filter, bind), 400 (prioritize), 200 without victims
  // (preempt): kube-scheduler writes the URL, which may hold a secret, of any other reply into the
  // pod's event. It ignores errors of prioritize.
  // caller: its name, see CallerCheck.
  // body: may be moved away.
  http::Answer filter(std::string& body, const std::string& caller);
  http::Answer prioritize(std::string& body, const std::string& caller);
  http::Answer bind(std::string& body, std::string caller);
  http::Answer preempt(std::string& body);

  // The replies to requests that never reach the handler; see http::RefusalShape.
  static http::Response refused_filter(std::string_view why);
  static http::Response refused_prioritize(std::string_view why);
  static http::Response refused_bind(std::string_view why);
  static http::Response refused_preempt(std::string_view why);

 private:
  using FilterReply =
      std::function<http::Answer(const Evaluation& evaluation, const codec::ExtenderArgs& args)>;
  http::Answer filter_read(const Result<void>& read, const codec::ExtenderArgs& args,
                           const std::string& caller, const FilterReply& reply);
  http::Answer prioritize_read(const Result<void>& read, const codec::ExtenderArgs& args,
                               const std::string& caller);
  http::Answer preempt_read(Result<codec::ExtenderPreemptionArgs> args);

  Scheduler& scheduler_;
  const ResourceTable& resources_;
  SlicedReplies& replies_;
  codec::ExtenderReader reader_;
  codec::ExtenderArgs args_;
  ExtenderReply reply_;
  LargeBodies large_;
};

}  // namespace chipweave::sched
