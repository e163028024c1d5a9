// Why a pod is where it is, or why it is pending and the smallest change that would let it run.
#include <algorithm>
#include <map>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/app/availability.hpp"
#include "scheduler-plugin/app/change_search.hpp"
#include "scheduler-plugin/app/explainer.hpp"
#include "scheduler-plugin/app/gang_json.hpp"
#include "scheduler-plugin/app/measured.hpp"

namespace chipweave::sched {
namespace {

// kube-scheduler calls extenders only if its own filters leave a node.
constexpr const char* kNeverOffered =
    " (of all nodes: no scheduler has offered any for it; node selectors, taints or too little of "
    "a "
    "resource may rule them out)";

void write_others(JsonWriter& w, const std::vector<Considered>& others) {
  w.key("others").begin_array();
  for (const Considered& c : others) {
    w.begin_object().field("node", c.node).key("nodes").integer(static_cast<std::int64_t>(c.count));
    w.key("fits").boolean(c.cause == Cause::none).key("gbps").number(c.gbps);
    w.field("why", c.node.empty() ? "in the same state as the chosen node, but later in name order"
                                  : c.reason);
    w.end_object();
  }
  w.end_array();
}

class Explainer {
 public:
  Explainer(const GangView& gangs, const SchedulerState& state, const RequestContexts& contexts,
            Evaluator& evaluator, const Clock& clock)
      : gangs_(gangs), state_(state), contexts_(contexts), evaluator_(evaluator), clock_(clock) {}

  std::string pod(const ClusterPod& pod) {
    w_.begin_object().field("pod", pod.request.key.text()).field("uid", pod.request.uid);
    w_.key("requested")
        .begin_object()
        .field("resource", pod.request.resource)
        .key("chips")
        .integer(pod.request.chips);
    w_.end_object();
    write_gang(w_, pod.request.mark.get());
    const Holding* held = state_.ledger.find(pod.request.uid);
    const bool refused = !pod.refused.empty();
    w_.field("state", refused && held == nullptr ? "refused" : to_string(state_of(pod)));
    if (refused && held == nullptr) {
      w_.field("summary", pod.refused);
    } else if (const auto claims = state_.claim_notes.find(pod.request.uid);
               claims != state_.claim_notes.end()) {
      w_.field("node", pod.node).field("summary", claims->second);
    } else if (pod.request.chips == 0) {
      w_.field("node", pod.node);
      w_.field("summary", "the pod requests no accelerator; any node fits");
    } else {
      by_state(pod, held);
    }
    w_.end_object();
    return w_.take();
  }

 private:
  // held: null if the pod holds nothing.
  void by_state(const ClusterPod& pod, const Holding* held) {
    if (const Decision* d = decision_of(pod)) return bound(*d);
    if (held == nullptr && waits_for_gang(pod)) return;
    if (held == nullptr) return pending(pod);
    if (!pod.refused.empty()) return in_use(pod, *held);
    if (held->assumed) return assumed(pod, *held);
    // a nominated pod holds what there is of its set so far
    if (held->chips.size() == pod.request.chips) return reserved(pod, *held);
    pending(pod);
  }

  // False: it is placed alone, or its gang has a plan.
  bool waits_for_gang(const ClusterPod& pod) {
    if (!gangs_.plans_for(pod.request)) return false;
    const Gang* gang = state_.gangs.of(pod.request.uid);
    const GangStatus now = gangs_.status(*gang);
    if (now.state != GangState::gathering && now.state != GangState::waiting) return false;
    w_.key("fits_now").boolean(false);
    w_.field("summary", "pending: its gang " + gang->name + " " +
                            (now.state == GangState::waiting ? "has no plan: " : "") + now.why);
    return true;
  }

  PodState state_of(const ClusterPod& pod) const { return state_.records.state_of(pod); }

  void placement(const Node& node, const std::vector<int>& chips, double gbps, double best) {
    w_.field("node", node.name).field("machine", node.machine);
    w_.key("node_stale").boolean(node.stale);
    w_.key("chips").integers(chips);
    w_.key("gbps").number(gbps).key("best_gbps").number(best);
  }

  // The chips that the solver could choose from, and the runner-up. Empty if the node's chips have
  // changed since.
  void choice(const Node& node, const std::optional<solver::Request>& request) {
    if (!request || !node.topology.all().contains(request->usable | request->already_held)) return;
    const solver::Explanation e = node.wiring->explain(*request);
    w_.key("usable").integers(node.topology.indices(request->usable));
    w_.key("beside").integers(node.topology.indices(request->already_held));
    w_.key("candidates").integer(static_cast<std::int64_t>(e.candidates));
    w_.key("criteria").strings(e.criteria).key("best_rejected");
    if (!e.best_rejected) {
      w_.raw("null");
      return;
    }
    w_.begin_object().key("chips").integers(node.topology.indices(e.best_rejected->chips));
    w_.key("gbps")
        .number(e.best_rejected->gbps)
        .field("lost_by", e.best_rejected->lost_by)
        .end_object();
  }

  // What the kubelet has given, and what was chosen if that differs.
  void given(const GivenToPod& given) {
    w_.key("given").integers(given.chips.chips);
    if (!given.chosen) return;
    w_.key("chosen").begin_object().key("chips").integers(given.chosen->chips);
    w_.key("gbps").number(given.chosen->gbps).end_object();
  }

  void bound(const Decision& d) {
    const Node& node = state_.nodes.node(d.node);
    placement(node, d.indices, d.gbps, d.best_gbps);
    const auto measured = measured_gbps(d, node, clock_.wall());
    if (measured) w_.key("measured_gbps").number(*measured);
    const PodRecord* record = state_.records.find(d.uid);
    const GivenToPod* given = record == nullptr ? nullptr : record->given.get();
    if (given != nullptr) this->given(*given);
    const bool picked = given == nullptr && d.unenforced_gbps;
    if (picked) w_.key("unenforced_gbps").number(*d.unenforced_gbps);
    w_.field("decision", d.id)
        .field("time", rfc3339(d.time))
        .key("distributed")
        .boolean(d.distributed);
    w_.key("group").boolean(d.of_group);
    choice(node, d.request);
    write_others(w_, d.others);
    std::string summary =
        summary_of(node, d.indices, d.gbps, d.best_gbps, "runs on ") + silence(node);
    if (given != nullptr && given->chosen) {
      summary += "; chips " + comma_list(given->chosen->chips) + " at ";
      append_json_number(summary, given->chosen->gbps);
      summary += " GB/s were chosen, and the kubelet has given others";
    }
    if (picked) {
      summary += "; the kubelet picks the chips itself on this node, likely with ";
      append_json_number(summary, *d.unenforced_gbps);
      summary += " GB/s";
    }
    if (measured) {
      summary += "; the busiest chip carries ";
      append_json_number(summary, *measured);
      summary += " GB/s";
    }
    w_.field("summary", summary);
  }

  void reserved(const ClusterPod& pod, const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    const LastEvaluation* last = evaluation_of(pod);
    const bool known = last != nullptr && last->node == held.node && last->life == node.life;
    const double gbps = known ? last->gbps : node.wiring->gbps(held.chips);
    const double best = known ? last->best_gbps : node.wiring->best_gbps(held.chips, false);
    const std::vector<int> indices = node.topology.indices(held.chips);
    placement(node, indices, gbps, best);
    if (known) {
      choice(node, last->request);
      write_others(w_, last->others);
    }
    w_.field("summary", summary_of(node, indices, gbps, best,
                                   state_of(pod) == PodState::reserved ? "reserved on "
                                                                       : "is being bound to ") +
                            silence(node));
  }

  // Bound by another scheduler; its node may have no inventory.
  void assumed(const ClusterPod& pod, const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    placement(node, node.topology.indices(held.chips), 0, 0);
    const std::string why = state_of(pod) == PodState::disputed
                                ? "its placement claims chips of another pod"
                                : "another scheduler bound it without saying which " +
                                      chips_word(held.count()) + " it has";
    w_.field("summary", "runs on " + node.name + "; " + why +
                            ", so the best free ones are set aside for it" + silence(node));
  }

  // Bound by another scheduler, although its request would be refused.
  void in_use(const ClusterPod& pod, const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    const std::vector<int> chips = node.topology.indices(held.chips);
    w_.key("parts").boolean(pod.parts);
    placement(node, chips, 0, 0);
    std::string text = "runs on " + node.name + " and uses " + (pod.parts ? "parts of " : "") +
                       chips_word(pod.request.chips) + " (" + pod.refused + ")";
    if (!chips.empty()) {
      text += "; chips " + comma_list(chips) + " are not offered to other pods";
      if (held.assumed) text += ": which ones it has is not known, so these are set aside for it";
    } else if (node.has_inventory()) {
      text += "; all chips of the node are in use";
    }
    w_.field("summary", text + silence(node));
  }

  // Of the node where a pod is; empty: its agent reports.
  std::string silence(const Node& node) const {
    if (!node.stale) return {};
    return "; the node is NotReady: " + silence_text(node, clock_.now()) +
           ", so the health of its chips is not known";
  }

  static std::string summary_of(const Node& node, const std::vector<int>& chips, double gbps,
                                double best, const char* verb) {
    std::string text = verb + node.name + " with chips " + comma_list(chips);
    if (best > 0) {
      std::string a;
      std::string b;
      append_json_number(a, gbps);
      append_json_number(b, best);
      text += " at " + a + " GB/s (best possible " + b + ")";
    }
    return text;
  }

  const LastEvaluation* evaluation_of(const ClusterPod& pod) const {
    const PodRecord* record = state_.records.find(pod.request.uid);
    return record == nullptr ? nullptr : record->evaluation.get();
  }

  const Decision* decision_of(const ClusterPod& pod) const {
    const PodRecord* record = state_.records.find(pod.request.uid);
    return record == nullptr ? nullptr : record->decision.get();
  }

  // The nodes that were offered last, else all.
  std::vector<std::string_view> candidates(const ClusterPod& pod) {
    const LastEvaluation* last = evaluation_of(pod);
    never_offered_ = last == nullptr || (last->offered == nullptr && !last->in_sessions);
    if (last == nullptr || last->offered == nullptr) return evaluator_.all_names();
    const NodeSet& offered = *last->offered;
    std::vector<std::string_view> names;
    for (const NodeId id : state_.nodes.by_name()) {
      if (!state_.nodes.node(id).has_inventory()) continue;
      if (id < offered.size() && offered[id]) {
        names.push_back(state_.nodes.node(id).name);
      } else {
        ++not_offered_;
      }
    }
    return names;
  }

  void pending(const ClusterPod& pod) {
    const std::vector<std::string_view> names = candidates(pod);
    const RequestContext context = contexts_.of(pod.request, nullptr);
    evaluator_.evaluate(context, names);
    const Evaluation& evaluation = evaluator_.evaluation();
    w_.key("fits_now").boolean(evaluation.fits > 0);
    std::map<std::string_view, Rejection> reasons;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Verdict& v = evaluation.of(i);
      if (v.fits()) continue;
      Rejection& one = reasons[v.reason];
      one = {one.nodes + 1, v.cause, v.reason};
    }
    w_.key("nodes").begin_array();
    std::size_t shown = 0;
    for (const std::size_t i : by_relevance(evaluation, state_.nodes)) {
      if (++shown > limits::kMaxNodesExplained) break;
      const Verdict& v = evaluation.of(i);
      w_.begin_object()
          .field("node", names[i])
          .key("fits")
          .boolean(v.fits())
          .field("reason", v.reason)
          .end_object();
    }
    w_.end_array().key("reasons").begin_array();
    std::vector<Rejection> rejections;
    for (const auto& [reason, one] : reasons) {
      rejections.push_back(one);
      w_.begin_object()
          .field("reason", reason)
          .key("nodes")
          .integer(static_cast<std::int64_t>(one.nodes))
          .end_object();
    }
    w_.end_array().key("not_offered").integer(static_cast<std::int64_t>(not_offered_));
    if (evaluation.fits > 0) {
      w_.key("changes").begin_array().end_array().key("changes_complete").boolean(true);
      w_.field("smallest_change", "");
      w_.field("summary", "fits on " + state_.nodes.node(evaluation.best_node).name +
                              (never_offered_ ? std::string(" now") + kNeverOffered
                                              : " now; the scheduler has not retried it yet"));
      return;
    }
    std::string summary = "no node has reported its chips";
    if (names.size() + not_offered_ > 0) {
      summary = "pending: " + availability_text(pod.request.resource, rejections, not_offered_);
      const std::string never = never_text(pod.request, evaluation, not_offered_ == 0);
      if (!never.empty()) summary += "; " + never;
    }
    changes(context, names, std::move(summary));
  }

  void changes(const RequestContext& context, const std::vector<std::string_view>& names,
               std::string summary) {
    ChangeSearch search(state_, evaluator_, clock_);
    const std::vector<Change> found = search.easiest(context, names);
    w_.key("changes").begin_array();
    for (const Change& c : found) {
      w_.begin_object()
          .field("kind", c.kind)
          .field("node", c.node)
          .field("text", c.text)
          .end_object();
    }
    w_.end_array().key("changes_complete").boolean(search.complete());
    const std::string smallest = found.empty() ? "" : found.front().text;
    w_.field("smallest_change", smallest);
    if (!smallest.empty()) summary += "; it would fit " + smallest;
    if (never_offered_ && !names.empty()) summary += kNeverOffered;
    w_.field("summary", summary);
  }

  const GangView& gangs_;
  const SchedulerState& state_;
  const RequestContexts& contexts_;
  Evaluator& evaluator_;
  const Clock& clock_;
  JsonWriter w_;
  std::size_t not_offered_ = 0;
  bool never_offered_ = false;
};

}  // namespace

std::string explain(const ClusterPod& pod, const GangView& gangs, const SchedulerState& state,
                    const RequestContexts& contexts, Evaluator& evaluator, const Clock& clock) {
  return Explainer(gangs, state, contexts, evaluator, clock).pod(pod);
}

}  // namespace chipweave::sched
