#include "scheduler-plugin/server/kube_extender_handler.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/app/victim_choice.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

std::string error_only(std::string_view message) {
  JsonWriter out;
  out.begin_object();
  for (const char* list : {"Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes"})
    out.key(list).raw("null");
  return out.field("Error", message).end_object().take();
}

std::string bind_result(std::string_view error) {
  return JsonWriter().begin_object().field("Error", error).end_object().take();
}

// Without victims kube-scheduler tries again in the pod's next cycle.
constexpr const char* kNoVictims = R"({"NodeNameToMetaVictims":{}})";

// No node will ever fit. Not an Error: kube-scheduler would retry the pod as after a failure of
// ours.
std::string refusal(const std::string& sentence, const codec::ExtenderArgs& args) {
  const std::string reason = JsonWriter().string(sentence).take();
  JsonWriter out;
  out.begin_object().key("Nodes");
  out.raw(args.nodes_given ? R"({"metadata":{},"items":[]})" : "null");
  out.key("NodeNames").raw("[]").key("FailedNodes").raw("{}");
  out.key("FailedAndUnresolvableNodes").begin_object();
  for (const auto& name : args.names) out.key(name).raw(reason);
  return out.end_object().field("Error", "").end_object().take();
}

constexpr const char* kTooMany = "too many large requests at the same time; try again";

// Requests whose bodies are read on another thread. What was read points into the body.
struct LargeArgs {
  LargeArgs(std::string text, LargeBodies::Share held)
      : share(std::move(held)), body(std::move(text)) {}
  void parse() { read = reader.read_args(body, args); }

  LargeBodies::Share share;
  std::string body;
  codec::ExtenderReader reader;
  codec::ExtenderArgs args;
  Result<void> read;
};

struct LargePreemption {
  LargePreemption(std::string text, LargeBodies::Share held)
      : share(std::move(held)), body(std::move(text)) {}
  void parse() { args = codec::ExtenderReader().read_preemption(body); }

  LargeBodies::Share share;
  std::string body;
  Result<codec::ExtenderPreemptionArgs> args = codec::ExtenderPreemptionArgs{};
};

// Null if too many bytes are held.
template <class Request>
std::shared_ptr<Request> keep(LargeBodies& large, std::string& body) {
  LargeBodies::Share share = large.take(body.capacity());
  if (share == nullptr) return nullptr;
  return std::make_shared<Request>(std::move(body), std::move(share));
}

// Writes the rest of a filter's answer after ExtenderReply::kBeforeNodes, node by node.
class NodesReply {
 public:
  NodesReply(std::shared_ptr<const LargeArgs> request, const Evaluation& evaluation,
             std::string after)
      : request_(std::move(request)),
        nodes_(evaluation, request_->args),
        after_(std::move(after)) {}

  bool advance(std::string& out) {
    if (nodes_.append_next(out)) return true;
    out += after_;
    return false;
  }

 private:
  std::shared_ptr<const LargeArgs> request_;
  FittingNodes nodes_;
  std::string after_;
};

// Writes the answer to a preempt request, node by node.
class PreemptReply {
 public:
  PreemptReply(VictimChoice choice, std::vector<std::int64_t> pdb_violations)
      : choice_(std::move(choice)), pdb_violations_(std::move(pdb_violations)) {
    reply_.begin_object().key("NodeNameToMetaVictims").begin_object();
  }

  // One node; after the last, false and the reply.
  bool advance(std::string& out) {
    const auto node = choice_.next();
    if (!node) {
      reply_.end_object().end_object();
      out += reply_.take();
      return false;
    }
    if (node->victims.uids.empty()) return true;
    reply_.key(node->victims.node).begin_object().key("Pods").begin_array();
    for (const std::string& uid : node->victims.uids)
      reply_.begin_object().field("UID", uid).end_object();
    // A victim whose disruption budgets kube-scheduler has not checked counts as a violation, so
    // that such a node is not preferred for it.
    reply_.end_array()
        .key("NumPDBViolations")
        .integer(pdb_violations_[node->position] + node->unchecked)
        .end_object();
    return true;
  }

 private:
  VictimChoice choice_;
  std::vector<std::int64_t> pdb_violations_;  // by node, as kube-scheduler counted them
  JsonWriter reply_;
};

}  // namespace

http::Response KubeExtenderHandler::refused_filter(std::string_view why) {
  return json_response(error_only(why));
}

http::Response KubeExtenderHandler::refused_bind(std::string_view why) {
  return json_response(bind_result(why));
}

http::Response KubeExtenderHandler::refused_prioritize(std::string_view /*why*/) {
  return json_response("[]");
}

http::Response KubeExtenderHandler::refused_preempt(std::string_view /*why*/) {
  return json_response(kNoVictims);
}

http::Answer KubeExtenderHandler::filter(std::string& body, const std::string& caller) {
  if (!LargeBodies::is_large(body)) {
    return filter_read(reader_.read_args(body, args_), args_, caller,
                       [this](const Evaluation& evaluation, const codec::ExtenderArgs& args) {
                         return json_response(reply_.filter(evaluation, args));
                       });
  }
  const auto request = keep<LargeArgs>(large_, body);
  if (request == nullptr) return refused_filter(kTooMany);
  const FilterReply reply = [this, request](const Evaluation& evaluation,
                                            const codec::ExtenderArgs& args) -> http::Answer {
    if (!args.nodes_given) return json_response(reply_.filter(evaluation, args));
    const auto nodes =
        std::make_shared<NodesReply>(request, evaluation, reply_.after_nodes(evaluation, args));
    return replies_.answer(json_response(std::string(ExtenderReply::kBeforeNodes)),
                           [nodes](std::string& out) { return nodes->advance(out); });
  };
  return large_.answer([request] { request->parse(); },
                       [this, request, caller, reply] {
                         return filter_read(request->read, request->args, caller, reply);
                       },
                       refused_filter);
}

http::Answer KubeExtenderHandler::filter_read(const Result<void>& read,
                                              const codec::ExtenderArgs& args,
                                              const std::string& caller, const FilterReply& reply) {
  if (const std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return json_response(error_only(why));
  if (!read) return json_response(error_only(read.error().text()));
  CountedRequest counted = count_request(args.pod, resources_);
  if (!counted.refused.empty()) return json_response(refusal(counted.refused, args));
  // The watch may not have shown the pod yet.
  if (scheduler_.cluster().find(counted.request.key) == nullptr)
    counted.request.mark = gang_mark_of(args.pod);
  return reply(scheduler_.extender().filter(counted.request, args.names, caller), args);
}

http::Answer KubeExtenderHandler::prioritize(std::string& body, const std::string& caller) {
  if (!LargeBodies::is_large(body))
    return prioritize_read(reader_.read_args(body, args_), args_, caller);
  const auto request = keep<LargeArgs>(large_, body);
  if (request == nullptr) return refused_prioritize(kTooMany);
  return large_.answer(
      [request] { request->parse(); },
      [this, request, caller] { return prioritize_read(request->read, request->args, caller); },
      refused_prioritize);
}

http::Answer KubeExtenderHandler::prioritize_read(const Result<void>& read,
                                                  const codec::ExtenderArgs& args,
                                                  const std::string& caller) {
  if (std::string why = scheduler_.authority().cannot_decide(); !why.empty())
    return error_response(make_error(Errc::unavailable, std::move(why)));
  if (!read) return error_response(read.error());
  const CountedRequest counted = count_request(args.pod, resources_);
  if (!counted.refused.empty())
    return error_response(make_error(Errc::invalid_argument, counted.refused));
  return json_response(reply_.prioritize(
      scheduler_.extender().prioritize(counted.request, args.names, caller), args));
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

http::Answer KubeExtenderHandler::preempt(std::string& body) {
  if (!LargeBodies::is_large(body)) return preempt_read(reader_.read_preemption(body));
  const auto request = keep<LargePreemption>(large_, body);
  if (request == nullptr) return refused_preempt(kTooMany);
  return large_.answer([request] { request->parse(); },
                       [this, request] { return preempt_read(std::move(request->args)); },
                       refused_preempt);
}

// The nodes where the end of some pods would let this one fit, with these pods. One node a slice.
http::Answer KubeExtenderHandler::preempt_read(Result<codec::ExtenderPreemptionArgs> args) {
  if (!scheduler_.authority().cannot_decide().empty() || !args) return refused_preempt({});
  CountedRequest counted = count_request(args->pod, resources_);
  if (!counted.refused.empty()) args->nodes.clear();
  std::vector<ProposedVictims> nodes;
  std::vector<std::int64_t> pdb_violations;
  nodes.reserve(args->nodes.size());
  pdb_violations.reserve(args->nodes.size());
  for (codec::PreemptionNode& node : args->nodes) {
    nodes.push_back({std::move(node.node), std::move(node.victim_uids)});
    pdb_violations.push_back(node.pdb_violations);
  }
  const auto reply = std::make_shared<PreemptReply>(
      scheduler_.choose_victims(std::move(counted.request), args->pod.priority, std::move(nodes)),
      std::move(pdb_violations));
  return replies_.answer(
      json_response(""), [reply](std::string& out) { return reply->advance(out); },
      SlicedReplies::Effect::changes_state);
}

}  // namespace chipweave::sched
