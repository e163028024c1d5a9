#include "scheduler-plugin/server/volcano_extender_handler.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

// Why a node is rejected, as Volcano counts it: preemption may help, or never will.
constexpr int kUnschedulable = 2;
constexpr int kUnresolvable = 3;

constexpr int kFullScore = 100;  // what one of Volcano's own plugins gives at most, at weight 1

http::Response json(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

// `errorMessage` is what Volcano 1.6 and 1.7 read, the others what 1.10 and later do.
http::Response misfit(std::string_view why, int code) {
  JsonWriter w;
  w.begin_object().field("errorMessage", why).field("status", why).key("code").integer(code);
  w.end_object();
  return json(w.take());
}

http::Response outcome(std::string_view error) {
  JsonWriter w;
  w.begin_object().field("errorMessage", error).end_object();
  return json(w.take());
}

// Of no node. An absent nodeScore is an error to Volcano, so it is always there.
http::Response no_scores(std::string_view error) {
  JsonWriter w;
  w.begin_object().key("nodeScore").begin_object().end_object().field("errorMessage", error);
  w.end_object();
  return json(w.take());
}

}  // namespace

bool VolcanoExtenderHandler::known(const codec::VolcanoTask& task) const {
  const ClusterPod* pod = scheduler_.cluster().find({task.ns, task.name});
  return pod != nullptr && pod->ask.uid == task.uid;
}

CountedAsk VolcanoExtenderHandler::ask_of(const codec::VolcanoTask& task) const {
  if (const ClusterPod* pod = scheduler_.cluster().find({task.ns, task.name});
      pod != nullptr && pod->ask.uid == task.uid) {
    return {pod->ask, pod->refused};
  }
  CountedAsk counted = count_ask(task.pod, resources_);
  counted.ask.key = {task.ns, task.name};
  counted.ask.uid = task.uid;
  return counted;
}

// Whether the task will have room on node_ when the pods that end there are gone. Where too little
// is free now, Volcano can only let it wait for that; and where it may not, it lets others have
// what comes free, and evicts further pods for this one.
bool VolcanoExtenderHandler::can_wait_for_room(const PodAsk& pod) const {
  constexpr double kThousandths = 1000;
  return node_.idle_of(pod.resource) < kThousandths * pod.chips &&
         scheduler_.fits_when_ended(pod, node_.name);
}

http::Response VolcanoExtenderHandler::predicate(std::string& body) {
  if (const std::string why = scheduler_.cannot_decide(); !why.empty())
    return misfit(why, kUnschedulable);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_predicate(body, knows, task_, node_); !read)
    return error_response(read.error());
  const CountedAsk counted = ask_of(task_);
  if (!counted.refused.empty()) return misfit(counted.refused, kUnresolvable);
  const std::string_view name = node_.name;
  const Survey& survey = scheduler_.session_survey(Verb::predicate, counted.ask, {&name, 1});
  const Verdict verdict = survey.of(0);
  if (verdict.fits() || (!verdict.never && can_wait_for_room(counted.ask))) return json("{}");
  return misfit(verdict.reason, verdict.never ? kUnresolvable : kUnschedulable);
}

http::Response VolcanoExtenderHandler::prioritize(std::string& body) {
  if (const std::string why = scheduler_.cannot_decide(); !why.empty()) return no_scores(why);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_prioritize(body, knows, task_, nodes_); !read)
    return error_response(read.error());
  const CountedAsk counted = ask_of(task_);
  if (!counted.refused.empty() || nodes_.empty()) return no_scores(counted.refused);
  const Survey& survey = scheduler_.session_survey(Verb::prioritize, counted.ask, nodes_);
  JsonWriter w;
  w.begin_object().key("nodeScore").begin_object();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int points = survey.score(i) * weight_ * kFullScore / Survey::kBestScore;
    if (points > 0) w.key(nodes_[i]).integer(points);
  }
  w.end_object().field("errorMessage", "").end_object();
  return json(w.take());
}

http::Response VolcanoExtenderHandler::allocate(std::string& body) {
  if (const std::string why = scheduler_.cannot_decide(); !why.empty()) return outcome(why);
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_event(body, knows, task_); !read)
    return error_response(read.error());
  // Others wait for chips that are not free yet, or run again after an eviction was taken back.
  if (task_.status != codec::VolcanoTask::kAllocated) return outcome("");
  const auto held = scheduler_.session_allocate(ask_of(task_).ask, task_.node);
  return outcome(held ? "" : held.error().text());
}

http::Response VolcanoExtenderHandler::deallocate(std::string& body) {
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_event(body, knows, task_); !read)
    return error_response(read.error());
  // One that is evicted keeps its chips until it is gone.
  if (task_.status == codec::VolcanoTask::kPending)
    scheduler_.session_deallocate(ask_of(task_).ask);
  return outcome("");
}

http::Response VolcanoExtenderHandler::choose_victims(std::string& body) {
  const auto knows = [this](const codec::VolcanoTask& task) { return known(task); };
  if (auto read = reader_.read_eviction(body, knows, task_, evictees_); !read)
    return error_response(read.error());
  const CountedAsk counted = ask_of(task_);
  if (!scheduler_.cannot_decide().empty() || !counted.refused.empty() || counted.ask.chips == 0)
    return json(R"({"status":0,"victims":[]})");
  std::map<std::string, std::vector<std::string>> by_node;
  for (const auto& evictee : evictees_) by_node[evictee.node].push_back(evictee.uid);
  std::set<std::string> victims;
  for (const auto& [node, offered] : by_node) {
    for (std::string& uid : scheduler_.choose_victims(counted.ask, node, offered))
      victims.insert(std::move(uid));
  }
  JsonWriter w;
  w.begin_object().key("status").integer(1).key("victims").begin_array();
  for (const auto& evictee : evictees_) {
    if (victims.contains(evictee.uid)) w.raw(evictee.text);
  }
  w.end_array().end_object();
  return json(w.take());
}

http::Response VolcanoExtenderHandler::session_hook() { return {}; }

http::Response VolcanoExtenderHandler::no_opinion(std::string_view reply) {
  return json(std::string(reply));
}

}  // namespace chipweave::sched
