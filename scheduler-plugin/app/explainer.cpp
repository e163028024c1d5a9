// Why a pod is where it is, or why it is pending and the smallest change that would let it run.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/app/explainer.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxChanges = 10;

// Weights by kind: repairs disturb no workload and come first, then ending pods (by their number of
// chips), then requesting less.
constexpr int kAgentBack = 0;
constexpr int kRepair = 1;
constexpr int kEndPods = 10;
constexpr int kFewerMembers = 1000;
constexpr int kFewerChips = 2000;

// kube-scheduler calls extenders only if its own filters leave a node.
constexpr const char* kNeverOffered =
    " (of all nodes: no scheduler has offered any for it; node selectors, taints or too little of "
    "a "
    "resource may rule them out)";

std::string chips_word(int n) { return std::to_string(n) + (n == 1 ? " chip" : " chips"); }

// " (xid.79: has fallen off the bus)": the agent's fault of the chip with that effect; "" if there
// is none.
std::string cause_of(const Node& node, domain::ChipIndex chip, domain::Effect effect) {
  for (const domain::Fault& fault : node.faults) {
    if (fault.effect != effect || !fault.part.empty() || fault.chip.value_or(chip) != chip)
      continue;
    return " (" + fault.code + (fault.text.empty() ? "" : ": " + fault.text) + ")";
  }
  return "";
}

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
  Explainer(SchedulerState& state, Evaluator& evaluator) : state_(state), evaluator_(evaluator) {}

  std::string pod(const ClusterPod& pod) {
    w_.begin_object().field("pod", pod.request.key.text()).field("uid", pod.request.uid);
    w_.key("asked")
        .begin_object()
        .field("resource", pod.request.resource)
        .key("chips")
        .integer(pod.request.chips);
    w_.end_object();
    const Holding* held = state_.ledger.find(pod.request.uid);
    if (!pod.refused.empty() && held != nullptr && decision_of(pod) == nullptr) {
      in_use(pod, *held);
    } else if (!pod.refused.empty() && held == nullptr) {
      w_.field("state", "refused").field("summary", pod.refused);
    } else if (pod.request.chips == 0) {
      w_.field("state", pod.node.empty() ? "pending" : "bound").field("node", pod.node);
      w_.field("summary", "the pod requests no accelerator; any node fits");
    } else if (const Decision* d = decision_of(pod)) {
      bound(*d);
    } else if (held != nullptr && held->assumed) {
      assumed(*held);
    } else if (held != nullptr) {
      reserved(pod, *held);
    } else {
      pending(pod);
    }
    w_.end_object();
    return w_.take();
  }

 private:
  // Something that would let the pod run; a smaller weight is easier.
  struct Change {
    int weight = 0;
    std::string kind;
    std::string node;
    std::string text;
  };

  void placement(const Node& node, const std::vector<int>& chips, double gbps, double best) {
    w_.field("node", node.name).field("machine", node.machine);
    w_.key("chips").integers(chips);
    w_.key("gbps").number(gbps).key("best_gbps").number(best);
  }

  // The chips that the solver could choose from, and the runner-up. Empty if the node's chips have
  // changed since.
  void choice(const Node& node, const std::optional<solver::Request>& request) {
    if (!request) return;
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

  void bound(const Decision& d) {
    const Node& node = state_.nodes.node(d.node);
    w_.field("state", "bound");
    placement(node, d.indices, d.gbps, d.best_gbps);
    w_.field("decision", d.id)
        .field("time", rfc3339(d.time))
        .key("distributed")
        .boolean(d.distributed);
    w_.key("group").boolean(d.of_group);
    choice(node, d.request);
    write_others(w_, d.others);
    w_.field("summary", summary_of(node, d.indices, d.gbps, d.best_gbps, "runs on "));
  }

  void reserved(const ClusterPod& pod, const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    const LastEvaluation* last = evaluation_of(pod);
    const bool known = last != nullptr && last->node == held.node;
    const double gbps = known ? last->gbps : node.wiring->gbps(held.chips);
    const double best = known ? last->best_gbps : node.wiring->best_gbps(held.chips, false);
    w_.field("state", "reserved");
    const std::vector<int> indices = node.topology.indices(held.chips);
    placement(node, indices, gbps, best);
    if (known) {
      choice(node, last->request);
      write_others(w_, last->others);
    }
    w_.field("summary", summary_of(node, indices, gbps, best, "reserved on "));
  }

  // Bound by another scheduler; its node may have no inventory.
  void assumed(const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    w_.field("state", "bound");
    placement(node, node.topology.indices(held.chips), 0, 0);
    w_.field("summary",
             "runs on " + node.name + "; another scheduler bound it without saying which " +
                 chips_word(held.count()) + " it has, so the best free ones are set aside for it");
  }

  // Bound by another scheduler, although its request would be refused.
  void in_use(const ClusterPod& pod, const Holding& held) {
    const Node& node = state_.nodes.node(held.node);
    const std::vector<int> chips = node.topology.indices(held.chips);
    w_.field("state", "bound").key("parts").boolean(pod.parts);
    placement(node, chips, 0, 0);
    std::string text = "runs on " + node.name + " and uses " + (pod.parts ? "parts of " : "") +
                       chips_word(pod.request.chips) + " (" + pod.refused + ")";
    if (!chips.empty()) {
      text += "; chips " + comma_list(chips) + " are not offered to other pods";
      if (held.assumed) text += ": which ones it has is not known, so these are set aside for it";
    } else if (node.has_inventory()) {
      text += "; all chips of the node are in use";
    }
    w_.field("summary", text);
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
    w_.field("state", "pending");
    const std::vector<std::string_view> names = candidates(pod);
    const RequestContext context = evaluator_.context_of(pod.request, nullptr);
    evaluator_.evaluate(context, names);
    const Evaluation& evaluation = evaluator_.evaluation();
    w_.key("fits_now").boolean(evaluation.fits > 0);
    std::map<std::string, std::size_t> reasons;
    w_.key("nodes").begin_array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Verdict& v = evaluation.of(i);
      if (!v.fits()) ++reasons[v.reason];
      if (i >= limits::kMaxNodesExplained) continue;
      w_.begin_object()
          .field("node", names[i])
          .key("fits")
          .boolean(v.fits())
          .field("reason", v.reason)
          .end_object();
    }
    w_.end_array().key("reasons").begin_array();
    for (const auto& [reason, count] : reasons) {
      w_.begin_object()
          .field("reason", reason)
          .key("nodes")
          .integer(static_cast<std::int64_t>(count))
          .end_object();
    }
    w_.end_array().key("not_offered").integer(static_cast<std::int64_t>(not_offered_));
    if (evaluation.fits > 0) {
      w_.key("changes").begin_array().end_array().field("smallest_change", "");
      w_.field("summary", "fits on " + state_.nodes.node(evaluation.best_node).name +
                              (never_offered_ ? std::string(" now") + kNeverOffered
                                              : " now; the scheduler has not retried it yet"));
      return;
    }
    changes(pod.request, context, names);
  }

  void changes(const PodRequest& request, const RequestContext& context,
               const std::vector<std::string_view>& names) {
    std::string unresolvable = unresolvable_text(request);
    collect(request, context, names);
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.weight < b.weight; });
    if (changes_.size() > kMaxChanges) changes_.resize(kMaxChanges);
    w_.key("changes").begin_array();
    for (const Change& c : changes_) {
      w_.begin_object()
          .field("kind", c.kind)
          .field("node", c.node)
          .field("text", c.text)
          .end_object();
    }
    w_.end_array();
    const std::string smallest = changes_.empty() ? "" : changes_.front().text;
    w_.field("smallest_change", smallest);
    std::string summary = unresolvable.empty() ? "pending: no node fits now" : unresolvable;
    if (!smallest.empty()) summary += "; it would fit " + smallest;
    if (never_offered_ && !names.empty()) summary += kNeverOffered;
    w_.field("summary", summary);
  }

  // Set if no machine in the cluster can hold the pod.
  std::string unresolvable_text(const PodRequest& request) const {
    const Evaluation& evaluation = evaluator_.evaluation();
    std::string size_reason;
    bool offered = false;
    std::size_t seen = 0;
    for (const Verdict& v : evaluation.verdicts) {
      if (v.count == 0) continue;
      ++seen;
      if (v.cause == Cause::resource) continue;
      offered = true;
      if (v.remedy != Remedy::never) return {};
      size_reason = v.reason;
    }
    if (seen == 0) {
      return not_offered_ == 0
                 ? "no node has reported its chips"
                 : "pending: no node with chips is eligible (node selector, taints or "
                   "other resources rule them out)";
    }
    if (!offered) return "no node in the cluster has " + request.resource;
    const std::string what = is_member(request) ? "its group" : chips_word(request.chips);
    return "no machine in the cluster can hold " + what + ": " + size_reason;
  }

  // Also false when the budget is exhausted: a timely answer is worth more than a complete one.
  bool fits(const RequestContext& context, const NodeState& state, ChipSet beside) {
    if (tries_left_ == 0) return false;
    --tries_left_;
    return evaluator_.answer_of(context, state, beside).verdict.fits();
  }

  void collect(const PodRequest& request, const RequestContext& context,
               const std::vector<std::string_view>& names) {
    std::set<StateId> seen;
    bool fewer_members = false;
    int best_size = 0;
    std::string best_size_node;
    for (const std::string_view name : names) {
      const NodeId id = state_.nodes.find(name);
      if (context.only != kNoNode && id != context.only) continue;
      const StateId state_id = state_.nodes.state_of(id);
      const NodeState state = state_.nodes.state(state_id);
      const ChipSet beside = Evaluator::beside_on(context, id);
      const std::string node(name);
      departures(context, state_id, beside, id);
      if (!seen.insert(state_id).second) continue;
      repairs(context, state, beside, node);
      if (context.members > 1 && !fewer_members)
        fewer_members = smaller_group(context, state, beside, node);
      const int chips = state.wiring->topology().chip_count();
      for (int size = std::min(request.chips - 1, chips); size > best_size; --size) {
        PodRequest smaller = request;
        smaller.chips = size;
        RequestContext less = context;
        less.pod = &smaller;
        if (!fits(less, state, beside)) continue;
        best_size = size;
        best_size_node = node;
      }
    }
    if (best_size > 0) {
      changes_.push_back(
          {kFewerChips + request.chips - best_size, "smaller_size", best_size_node,
           "if it requested " + chips_word(best_size) + " (fits on " + best_size_node + ")"});
    }
  }

  void repairs(const RequestContext& context, const NodeState& state, ChipSet beside,
               const std::string& node) {
    if (state.stale) {
      NodeState fresh = state;
      fresh.stale = false;
      if (fits(context, fresh, beside)) {
        changes_.push_back(
            {kAgentBack, "agent", node, "if the agent of " + node + " reported again"});
      }
      return;
    }
    const domain::NodeTopology& topology = state.wiring->topology();
    const Node& known = state_.nodes.node(state_.nodes.find(node));
    for (const int slot : state.unhealthy - known.taken) {
      NodeState well = state;
      well.unhealthy.erase(slot);
      well.network_unhealthy.erase(slot);
      well.free.insert(slot);
      if (!fits(context, well, beside)) continue;
      const domain::ChipIndex index = topology.chip(slot).index;
      changes_.push_back({kRepair, "chip", node,
                          "if chip " + std::to_string(index.value) + " on " + node +
                              " were healthy again" +
                              cause_of(known, index, domain::Effect::unusable)});
    }
    if (!context.distributed) return;
    for (const int slot : state.network_unhealthy& state.free) {
      NodeState well = state;
      well.network_unhealthy.erase(slot);
      if (!fits(context, well, beside)) continue;
      const domain::ChipIndex index = topology.chip(slot).index;
      changes_.push_back({kRepair, "network_port", node,
                          "if the network port of chip " + std::to_string(index.value) + " on " +
                              node + " were healthy again" +
                              cause_of(known, index, domain::Effect::network)});
    }
  }

  // One pod whose end is enough; otherwise the fewest, smallest first. Nodes of one state differ in
  // the holders of their chips, but freeing the same chips has the same effect on all of them.
  void departures(const RequestContext& context, StateId state_id, ChipSet beside, NodeId id) {
    const std::string& node = state_.nodes.node(id).name;
    const NodeState state = state_.nodes.state(state_id);
    std::vector<const Holding*> holders = state_.ledger.on(id);
    std::erase_if(holders, [](const auto* h) { return h->parts; });  // others may share its chips
    std::stable_sort(holders.begin(), holders.end(), [](const auto* a, const auto* b) {
      return a->chips.size() < b->chips.size();
    });
    const auto without = [&](const std::vector<const Holding*>& gone) {
      ChipSet back;
      for (const Holding* h : gone) back |= h->chips;
      const auto [known, fresh] =
          without_.try_emplace({state_id, back.bits(), (beside - back).bits()}, false);
      if (!fresh) return known->second;
      NodeState after = state;
      after.free |= back - state.unhealthy;
      const bool enough = after.free.size() >= std::min(context.pod->chips, limits::kMaxChips) &&
                          fits(context, after, beside - back);
      known->second = enough;
      return enough;
    };
    bool single = false;
    for (const Holding* h : holders) {
      if (single && !worth(kEndPods + h->chips.size())) break;
      if (!without({h})) continue;
      single = true;
      add_ending({kEndPods + h->chips.size(), "pod", node,
                  "if pod " + h->key.text() + " (" + chips_word(h->chips.size()) + ") on " + node +
                      " ended"});
    }
    if (single || holders.size() < 2) return;
    std::vector<const Holding*> gone;
    int chips = 0;
    for (const Holding* h : holders) {
      gone.push_back(h);
      chips += h->chips.size();
      if (without(gone)) break;
    }
    if (!without(gone)) return;
    // keep those whose end is not needed, largest first
    for (std::size_t i = gone.size(); i-- > 0;) {
      std::vector<const Holding*> fewer = gone;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!without(fewer)) continue;
      chips -= gone[i]->chips.size();
      gone = std::move(fewer);
    }
    const int weight = kEndPods + chips + 64 * static_cast<int>(gone.size() - 1);
    if (!worth(weight)) return;
    std::string list;
    for (const Holding* h : gone) list += (list.empty() ? "" : ", ") + h->key.text();
    add_ending({weight, "pods", node,
                "if pods " + list + " (" + chips_word(chips) + ") on " + node + " ended"});
  }

  // Whether a change of this weight would be among those shown.
  bool worth(int weight) const {
    return endings_.size() < kMaxChanges || weight < *endings_.rbegin();
  }
  void add_ending(Change change) {
    endings_.insert(change.weight);
    if (endings_.size() > kMaxChanges) endings_.erase(std::prev(endings_.end()));
    changes_.push_back(std::move(change));
  }

  bool smaller_group(const RequestContext& context, const NodeState& state, ChipSet beside,
                     const std::string& node) {
    const int room = state.wiring->topology().chip_count() / context.pod->chips;
    for (int members = std::min(context.members - 1, room); members >= 1; --members) {
      RequestContext less = context;
      less.members = members;
      if (!fits(less, state, beside)) continue;
      changes_.push_back({kFewerMembers + context.members - members, "smaller_group", node,
                          "if " + std::to_string(members) +
                              " pods of its group were enough (fit on " + node + ")"});
      return true;
    }
    return false;
  }

  SchedulerState& state_;
  Evaluator& evaluator_;
  JsonWriter w_;
  std::vector<Change> changes_;
  std::multiset<int> endings_;  // weights of the easiest departures so far
  std::map<std::tuple<StateId, std::uint64_t, std::uint64_t>, bool> without_;
  std::size_t not_offered_ = 0;
  bool never_offered_ = false;
  int tries_left_ = limits::kMaxExplainTries;
};

}  // namespace

std::string explain(const ClusterPod& pod, SchedulerState& state, Evaluator& evaluator) {
  return Explainer(state, evaluator).pod(pod);
}

}  // namespace chipweave::sched
