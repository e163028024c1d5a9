// KubeDoor — kube-scheduler's extender verbs over HTTP: reads the body, asks the decision core,
// writes the reply.
//
// Replies are appended by hand to one string, names as they are stored, escaped once: at 5,000
// nodes building a document tree would cost several times the decision. Owner: the loop thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/codec/kube/extender.hpp"
#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/doors/pod_ask.hpp"

namespace chipweave::sched {

class KubeDoor {
 public:
  KubeDoor(Scheduler& scheduler, const ResourceTable& resources)
      : scheduler_(scheduler), resources_(resources) {}

  // Unusable requests: 200 with "Error" (filter, bind), 400 (prioritize, preempt: their replies
  // have no error field).
  http::Response filter(std::string& body);
  http::Response prioritize(std::string& body);
  http::Response bind(std::string& body);
  http::Response preempt(std::string& body);

 private:
  std::string filter_reply(const Survey& survey);
  std::string refusal(const std::string& sentence) const;
  // The name in quotes, escaped; of nodes without inventory after escape_unknown_names().
  std::string_view name_json(const Survey& survey, std::size_t position) const;
  void escape_unknown_names(const Survey& survey);
  void append_nodes(std::string& out, const Survey& survey) const;

  Scheduler& scheduler_;
  const ResourceTable& resources_;
  codec::ExtenderReader reader_;
  codec::ExtenderArgs args_;
  std::unordered_map<std::size_t, std::string> unknown_names_;  // by position in the request
};

}  // namespace chipweave::sched
