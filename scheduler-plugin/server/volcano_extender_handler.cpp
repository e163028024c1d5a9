#include "scheduler-plugin/server/volcano_extender_handler.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

// Volcano's codes for a rejection: preemption may help, or cannot.
constexpr int kUnschedulable = 2;
constexpr int kUnresolvable = 3;

constexpr int kFullScore = 100;  // maximum of one of Volcano's own plugins at weight 1

// Volcano 1.6 and 1.7 read `errorMessage`, 1.10 and later the other fields.
http::Response misfit(std::string_view why, int code) {
  JsonWriter w;
  w.begin_object().field("errorMessage", why).field("status", why).key("code").integer(code);
  w.end_object();
  return json_response(w.take());
}

http::Response outcome(std::string_view error) {
  JsonWriter w;
  w.begin_object().field("errorMessage", error).end_object();
  return json_response(w.take());
}

// No scores. Volcano treats an absent nodeScore as an error, so it is always written.
http::Response no_scores(std::string_view error) {
  JsonWriter w;
  w.begin_object().key("nodeScore").begin_object().end_object().field("errorMessage", error);
  w.end_object();
  return json_response(w.take());
}

}  // namespace

bool VolcanoExtenderHandler::known(const codec::VolcanoTask& task) const {
  const ClusterPod* pod = scheduler_.cluster().find({task.ns, task.name});
  return pod != nullptr && pod->request.uid == task.uid;
}

CountedRequest VolcanoExtenderHandler::request_of(const codec::VolcanoTask& task) const {
  if (const ClusterPod* pod = scheduler_.cluster().find({task.ns, task.name});
      pod != nullptr && pod->request.uid == task.uid) {
    return {pod->request, pod->refused};
  }
  CountedRequest counted = count_request(task.pod, resources_);
  counted.request.key = {task.ns, task.name};
  counted.request.uid = task.uid;
  return counted;
}

// Whether the task will fit on node_ once terminating pods are gone. If so, Volcano may let it wait
// for them; otherwise Volcano gives the freed chips to others and evicts further pods for this
// task.
bool VolcanoExtenderHandler::can_wait_for_room(const PodRequest& pod) const {
  constexpr double kThousandths = 1000;
  return node_.idle_of(pod.resource) < kThousandths * pod.chips &&
         scheduler_.preemption().fits_when_ended(pod, node_.name);
}

http::Response VolcanoExtenderHandler::predicate(std::string& body) {
  if (const std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return misfit(why, kUnschedulable);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_predicate(body, knows, task_, node_); !read)
    return error_response(read.error());
  const CountedRequest counted = request_of(task_);
  if (!counted.refused.empty()) return misfit(counted.refused, kUnresolvable);
  const std::string_view name = node_.name;
  const Evaluation& evaluation =
      scheduler_.extender().in_session(Verb::predicate, counted.request, {&name, 1});
  const Verdict verdict = evaluation.of(0);
  const bool preemption = verdict.remedy == Remedy::preemption;
  if (verdict.fits() || (preemption && can_wait_for_room(counted.request)))
    return json_response("{}");
  return misfit(verdict.reason, preemption ? kUnschedulable : kUnresolvable);
}

http::Response VolcanoExtenderHandler::prioritize(std::string& body) {
  if (const std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return no_scores(why);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_prioritize(body, knows, task_, nodes_); !read)
    return error_response(read.error());
  const CountedRequest counted = request_of(task_);
  if (!counted.refused.empty() || nodes_.empty()) return no_scores(counted.refused);
  const Evaluation& evaluation =
      scheduler_.extender().in_session(Verb::prioritize, counted.request, nodes_);
  JsonWriter w;
  w.begin_object().key("nodeScore").begin_object();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int points = evaluation.score(i) * weight_ * kFullScore / Evaluation::kBestScore;
    if (points > 0) w.key(nodes_[i]).integer(points);
  }
  w.end_object().field("errorMessage", "").end_object();
  return json_response(w.take());
}

http::Response VolcanoExtenderHandler::allocate(std::string& body) {
  if (const std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return outcome(why);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_event(body, knows, task_); !read)
    return error_response(read.error());
  // Other states wait for chips that are not free yet, or run again after a cancelled eviction.
  if (task_.status != codec::VolcanoTask::kAllocated) return outcome("");
  const auto held = scheduler_.extender().allocate(request_of(task_).request, task_.node);
  return outcome(held ? "" : held.error().text());
}

http::Response VolcanoExtenderHandler::deallocate(std::string& body) {
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_event(body, knows, task_); !read)
    return error_response(read.error());
  // An evicted task keeps its chips until it is gone.
  if (task_.status == codec::VolcanoTask::kPending)
    scheduler_.extender().deallocate(request_of(task_).request);
  return outcome("");
}

http::Response VolcanoExtenderHandler::choose_victims(std::string& body) {
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_eviction(body, knows, task_, evictees_); !read)
    return error_response(read.error());
  const CountedRequest counted = request_of(task_);
  if (!scheduler_.authority().cannot_decide().empty() || !counted.refused.empty() ||
      counted.request.chips == 0)
    return json_response(R"({"status":0,"victims":[]})");
  std::map<std::string, std::vector<std::string>> by_node;
  for (const auto& evictee : evictees_) by_node[evictee.node].push_back(evictee.uid);
  std::vector<ProposedVictims> proposed;
  proposed.reserve(by_node.size());
  for (auto& [node, uids] : by_node) proposed.push_back({node, std::move(uids)});
  std::set<std::string> victims;
  // Volcano ends no others
  for (auto& uids :
       scheduler_.preemption().choose_victims(counted.request, std::nullopt, proposed)) {
    victims.insert(uids.begin(), uids.end());
  }
  JsonWriter w;
  w.begin_object().key("status").integer(1).key("victims").begin_array();
  for (const auto& evictee : evictees_) {
    if (victims.contains(evictee.uid)) w.raw(evictee.text);
  }
  w.end_array().end_object();
  return json_response(w.take());
}

http::Response VolcanoExtenderHandler::session_hook() { return {}; }

http::Response VolcanoExtenderHandler::no_opinion(std::string_view reply) {
  return json_response(std::string(reply));
}

}  // namespace chipweave::sched
