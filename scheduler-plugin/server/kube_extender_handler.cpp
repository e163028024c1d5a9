#include "scheduler-plugin/server/kube_extender_handler.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

std::string error_only(const std::string& message) {
  std::string out =
      R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,"Error":)";
  append_json_string(out, message);
  out += '}';
  return out;
}

std::string bind_result(std::string_view error) {
  std::string out = R"({"Error":)";
  append_json_string(out, error);
  out += '}';
  return out;
}

// Answers one preempt request, node by node.
class VictimChoice {
 public:
  VictimChoice(Scheduler& scheduler, PodRequest pod, std::optional<int> priority,
               std::vector<codec::PreemptionNode> nodes)
      : scheduler_(scheduler),
        pod_(std::move(pod)),
        priority_(priority),
        nodes_(std::move(nodes)),
        budget_(nodes_.size()) {
    reply_.begin_object().key("NodeNameToMetaVictims").begin_object();
  }

  // One node; after the last, false and the reply. None once another replica decides.
  bool advance(std::string& out) {
    if (next_ < nodes_.size() && scheduler_.authority().cannot_decide().empty()) {
      choose_on(nodes_[next_++]);
      return true;
    }
    reply_.end_object().end_object();
    out += reply_.take();
    scheduler_.nominations().proposed(pod_.uid, std::move(chosen_));
    return false;
  }

 private:
  void choose_on(codec::PreemptionNode& node) {
    const ProposedVictims proposed{std::move(node.node), std::move(node.victim_uids)};
    auto victims = scheduler_.preemption().choose_victims(pod_, priority_, proposed, budget_);
    if (victims.empty()) return;
    // Disruption budgets are not read here: a victim that kube-scheduler has not checked counts as
    // if its end violated one, so that such a node is not preferred for it.
    const std::unordered_set<std::string_view> checked(proposed.uids.begin(), proposed.uids.end());
    const auto violations = node.pdb_violations +
                            std::count_if(victims.begin(), victims.end(),
                                          [&](const auto& uid) { return !checked.contains(uid); });
    reply_.key(proposed.node).begin_object().key("Pods").begin_array();
    for (const std::string& uid : victims) reply_.begin_object().field("UID", uid).end_object();
    reply_.end_array().key("NumPDBViolations").integer(violations).end_object();
    chosen_.push_back({proposed.node, std::move(victims)});
  }

  Scheduler& scheduler_;
  PodRequest pod_;
  std::optional<int> priority_;
  std::vector<codec::PreemptionNode> nodes_;
  std::size_t next_ = 0;
  Preemption::Budget budget_;
  std::vector<ProposedVictims> chosen_;
  JsonWriter reply_;
};

}  // namespace

http::Response KubeExtenderHandler::filter(std::string& body, const std::string& caller) {
  if (const std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return json_response(error_only(why));
  if (auto read = reader_.read_args(body, args_); !read)
    return json_response(error_only(read.error().text()));
  const CountedRequest counted = count_request(args_.pod, resources_);
  if (!counted.refused.empty()) return json_response(refusal(counted.refused));
  const Evaluation& evaluation = scheduler_.extender().filter(counted.request, args_.names);
  scheduler_.bindings().answered(caller, counted.request);
  return json_response(reply_.filter(evaluation, args_));
}

// No node will ever fit. Not an Error: kube-scheduler would retry the pod as after a failure of
// ours.
std::string KubeExtenderHandler::refusal(const std::string& sentence) const {
  std::string escaped;
  append_json_string(escaped, sentence);
  std::string out = R"({"Nodes":)";
  out += args_.nodes_given ? R"({"metadata":{},"items":[]})" : "null";
  out += R"(,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{)";
  for (std::size_t i = 0; i < args_.names.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, args_.names[i]);
    out += ':' + escaped;
  }
  out += R"(},"Error":""})";
  return out;
}

http::Response KubeExtenderHandler::prioritize(std::string& body, const std::string& caller) {
  if (std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return error_response(make_error(Errc::unavailable, std::move(why)));
  if (auto read = reader_.read_args(body, args_); !read) return error_response(read.error());
  const CountedRequest counted = count_request(args_.pod, resources_);
  if (!counted.refused.empty()) {
    return error_response(make_error(Errc::invalid_argument, counted.refused));
  }
  const Evaluation& evaluation = scheduler_.extender().prioritize(counted.request, args_.names);
  scheduler_.bindings().answered(caller, counted.request);
  return json_response(reply_.prioritize(evaluation, args_));
}

http::Answer KubeExtenderHandler::bind(std::string& body, std::string caller) {
  auto args = reader_.read_binding(body);
  if (!args) return json_response(bind_result(args.error().text()));
  const std::string ns = args->pod_namespace.empty() ? "default" : args->pod_namespace;
  Binding binding{{ns, args->pod_name}, args->pod_uid, args->node, std::move(caller)};
  return http::Later(
      [this, binding = std::move(binding)](const std::shared_ptr<http::PendingReply>& reply) {
        scheduler_.bindings().bind(binding, [reply](const Result<void>& bound) {
          reply->send(json_response(bind_result(bound ? "" : bound.error().text())));
        });
      });
}

// The nodes where the end of some pods would let this one fit, with these pods. One node a slice;
// what was chosen for one stays, even if the state changes until the last: kube-scheduler's own
// choice is older still, and the filter decides after the victims are gone.
http::Answer KubeExtenderHandler::preempt(std::string& body) {
  if (std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return error_response(make_error(Errc::unavailable, std::move(why)));
  auto args = reader_.read_preemption(body);
  if (!args) return error_response(args.error());
  CountedRequest counted = count_request(args->pod, resources_);
  if (!counted.refused.empty()) args->nodes.clear();
  const auto choice = std::make_shared<VictimChoice>(scheduler_, std::move(counted.request),
                                                     args->pod.priority, std::move(args->nodes));
  return replies_.answer(json_response(""),
                         [choice](std::string& out) { return choice->advance(out); });
}

}  // namespace chipweave::sched
