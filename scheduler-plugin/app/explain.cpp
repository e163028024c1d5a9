// Why a pod is where it is, or why it is nowhere and what the smallest change is that would let it
// run.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxChanges = 10;

// Something that would let the pod run; smaller is easier.
struct Change {
  int weight = 0;
  std::string kind;
  std::string node;
  std::string text;
};

// Weights by kind: repairing what is broken costs nobody anything, then ending pods by their chips,
// then asking for less.
constexpr int kAgentBack = 0;
constexpr int kRepair = 1;
constexpr int kEndPods = 10;
constexpr int kFewerMembers = 1000;
constexpr int kFewerChips = 2000;

// kube-scheduler asks only if its own rules leave a node.
constexpr const char* kNeverOffered =
    " (of all nodes: no scheduler has offered any for it; node selectors, taints or too little of "
    "a "
    "resource may rule them out)";

std::string chips_word(int n) { return std::to_string(n) + (n == 1 ? " chip" : " chips"); }

// " (xid.79: has fallen off the bus)": what the agent says of a chip that has that effect; "" if it
// says nothing.
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
    w.field("why", c.node.empty() ? "in the same state as the chosen node, but comes later by name"
                                  : c.reason);
    w.end_object();
  }
  w.end_array();
}

}  // namespace

class Explainer {
 public:
  explicit Explainer(Scheduler& scheduler) : s_(scheduler) {}

  std::string pod(const ClusterPod& pod) {
    w_.begin_object().field("pod", pod.ask.key.text()).field("uid", pod.ask.uid);
    w_.key("asked")
        .begin_object()
        .field("resource", pod.ask.resource)
        .key("chips")
        .integer(pod.ask.chips);
    w_.end_object();
    const Holding* held = s_.ledger_.find(pod.ask.uid);
    if (!pod.refused.empty()) {
      w_.field("state", "refused").field("summary", pod.refused);
    } else if (pod.ask.chips == 0) {
      w_.field("state", pod.node.empty() ? "pending" : "bound").field("node", pod.node);
      w_.field("summary", "the pod asks for no accelerator; any node will do");
    } else if (const Decision* d = s_.decision(pod.ask.uid)) {
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
  void placement(const Node& node, const std::vector<int>& chips, double gbps, double best) {
    w_.field("node", node.name).field("machine", node.machine);
    w_.key("chips").integers(chips);
    w_.key("gbps").number(gbps).key("best_gbps").number(best);
  }

  // What the solver had to choose from, and the set that came second. Says nothing of a choice
  // among chips that the node no longer has.
  void choice(const Node& node, const std::optional<solver::Request>& request) {
    if (!request) return;
    const solver::Explanation e = node.wiring->explain(*request);
    w_.key("usable").integers(node.topology.indices(request->usable));
    w_.key("beside").integers(node.topology.indices(request->already_held));
    w_.key("candidates").integer(static_cast<std::int64_t>(e.candidates));
    w_.key("criteria").begin_array();
    for (const std::string& line : e.criteria) w_.string(line);
    w_.end_array().key("best_rejected");
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
    const Node& node = s_.nodes_.node(d.node);
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
    const Node& node = s_.nodes_.node(held.node);
    const auto look = s_.looks_.find(pod.ask.uid);
    const bool known = look != s_.looks_.end() && look->second.node == held.node;
    const double gbps = known ? look->second.gbps : node.wiring->gbps(held.chips);
    const double best =
        known ? look->second.best_gbps : node.wiring->best_gbps(held.chips.size(), false);
    w_.field("state", "reserved");
    const std::vector<int> indices = node.topology.indices(held.chips);
    placement(node, indices, gbps, best);
    if (known) {
      choice(node, look->second.request);
      write_others(w_, look->second.others);
    }
    w_.field("summary", summary_of(node, indices, gbps, best, "waits to be bound to "));
  }

  // Another scheduler bound it. Its node may have no inventory.
  void assumed(const Holding& held) {
    const Node& node = s_.nodes_.node(held.node);
    w_.field("state", "bound");
    placement(node, node.topology.indices(held.chips), 0, 0);
    w_.field("summary", "runs on " + node.name + "; whoever bound it did not say with which " +
                            chips_word(held.count()) + ", so the best free ones are left to it");
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

  // The nodes that kube-scheduler offered last, else all.
  std::vector<std::string_view> candidates(const ClusterPod& pod) {
    const auto look = s_.looks_.find(pod.ask.uid);
    const bool asked = look != s_.looks_.end();
    never_offered_ = !asked || (look->second.offered == nullptr && !look->second.in_sessions);
    if (!asked || look->second.offered == nullptr) return s_.all_names();
    std::set<NodeId> offered(look->second.offered->begin(), look->second.offered->end());
    std::vector<std::string_view> names;
    for (const NodeId id : s_.nodes_.by_name()) {
      if (!s_.nodes_.node(id).has_inventory()) continue;
      if (offered.contains(id)) {
        names.push_back(s_.nodes_.node(id).name);
      } else {
        ++not_offered_;
      }
    }
    return names;
  }

  void pending(const ClusterPod& pod) {
    w_.field("state", "pending");
    const std::vector<std::string_view> names = candidates(pod);
    const Scheduler::Want want = s_.want_of(pod.ask, nullptr);
    s_.look(want, names);
    const Survey& survey = s_.survey_;
    w_.key("fits_now").boolean(survey.fits > 0);
    std::map<std::string, std::size_t> reasons;
    w_.key("nodes").begin_array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Verdict& v = survey.of(i);
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
    if (survey.fits > 0) {
      w_.key("changes").begin_array().end_array().field("smallest_change", "");
      w_.field("summary", "fits on " + s_.nodes_.node(survey.best_node).name +
                              (never_offered_ ? std::string(" now") + kNeverOffered
                                              : " now; the scheduler has not asked for it since"));
      return;
    }
    changes(pod.ask, want, names);
  }

  void changes(const PodAsk& ask, const Scheduler::Want& want,
               const std::vector<std::string_view>& names) {
    std::string never = never_text(ask);
    collect(ask, want, names);
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
    std::string summary = never.empty() ? "waits: no node fits now" : never;
    if (!smallest.empty()) summary += "; it would run " + smallest;
    if (never_offered_ && !names.empty()) summary += kNeverOffered;
    w_.field("summary", summary);
  }

  // Set if no machine here can ever hold the pod.
  std::string never_text(const PodAsk& ask) const {
    const Survey& survey = s_.survey_;
    std::string size_reason;
    bool offered = false;
    std::size_t seen = 0;
    for (const Verdict& v : survey.verdicts) {
      if (v.count == 0) continue;
      ++seen;
      if (v.cause == Cause::resource) continue;
      offered = true;
      if (!v.never) return {};
      size_reason = v.reason;
    }
    if (seen == 0) {
      return not_offered_ == 0
                 ? "no node has reported its chips"
                 : "waits: no node with chips is open to it (node selector, taints or "
                   "other resources rule them out)";
    }
    if (!offered) return "no node here has " + ask.resource;
    const std::string what = is_member(ask) ? "its group" : chips_word(ask.chips);
    return "no machine here can ever hold " + what + ": " + size_reason;
  }

  // False also when enough has been tried: an answer in time is worth more than a complete one.
  bool fits(const Scheduler::Want& want, const NodeState& state, ChipSet beside) {
    if (tries_left_ == 0) return false;
    --tries_left_;
    return s_.answer_of(want, state, beside).verdict.fits();
  }

  void collect(const PodAsk& ask, const Scheduler::Want& want,
               const std::vector<std::string_view>& names) {
    std::set<StateId> seen;
    bool fewer_members = false;
    int best_size = 0;
    std::string best_size_node;
    for (const std::string_view name : names) {
      const NodeId id = s_.nodes_.find(name);
      if (want.only != kNoNode && id != want.only) continue;
      const StateId state_id = s_.nodes_.state_of(id);
      const NodeState state = s_.nodes_.state(state_id);
      const ChipSet beside = Scheduler::beside_on(want, id);
      const std::string node(name);
      departures(want, state_id, beside, id);
      if (!seen.insert(state_id).second) continue;
      repairs(want, state, beside, node);
      if (want.members > 1 && !fewer_members)
        fewer_members = smaller_group(want, state, beside, node);
      const int chips = state.wiring->topology().chip_count();
      for (int size = std::min(ask.chips - 1, chips); size > best_size; --size) {
        PodAsk smaller = ask;
        smaller.chips = size;
        Scheduler::Want less = want;
        less.pod = &smaller;
        if (!fits(less, state, beside)) continue;
        best_size = size;
        best_size_node = node;
      }
    }
    if (best_size > 0) {
      changes_.push_back(
          {kFewerChips + ask.chips - best_size, "smaller_size", best_size_node,
           "if it asked for " + chips_word(best_size) + " (fits on " + best_size_node + ")"});
    }
  }

  void repairs(const Scheduler::Want& want, const NodeState& state, ChipSet beside,
               const std::string& node) {
    if (state.stale) {
      NodeState fresh = state;
      fresh.stale = false;
      if (fits(want, fresh, beside)) {
        changes_.push_back(
            {kAgentBack, "agent", node, "if the agent of " + node + " reported again"});
      }
      return;
    }
    const domain::NodeTopology& topology = state.wiring->topology();
    const Node& known = s_.nodes_.node(s_.nodes_.find(node));
    for (const int slot : state.unhealthy - known.taken) {
      NodeState well = state;
      well.unhealthy.erase(slot);
      well.network_unhealthy.erase(slot);
      well.free.insert(slot);
      if (!fits(want, well, beside)) continue;
      const domain::ChipIndex index = topology.chip(slot).index;
      changes_.push_back({kRepair, "chip", node,
                          "if chip " + std::to_string(index.value) + " on " + node +
                              " were healthy again" +
                              cause_of(known, index, domain::Effect::unusable)});
    }
    if (!want.distributed) return;
    for (const int slot : state.network_unhealthy& state.free) {
      NodeState well = state;
      well.network_unhealthy.erase(slot);
      if (!fits(want, well, beside)) continue;
      const domain::ChipIndex index = topology.chip(slot).index;
      changes_.push_back({kRepair, "network_port", node,
                          "if the network port of chip " + std::to_string(index.value) + " on " +
                              node + " were healthy again" +
                              cause_of(known, index, domain::Effect::network)});
    }
  }

  // One pod whose end is enough; else the fewest, smallest first. Nodes of one state differ in who
  // holds their chips, but what would fit without certain chips is the same for all of them.
  void departures(const Scheduler::Want& want, StateId state_id, ChipSet beside, NodeId id) {
    const std::string& node = s_.nodes_.node(id).name;
    const NodeState state = s_.nodes_.state(state_id);
    std::vector<const Holding*> holders = s_.ledger_.on(id);
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
      const bool enough = after.free.size() >= std::min(want.pod->chips, limits::kMaxChips) &&
                          fits(want, after, beside - back);
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
    // drop those whose end is not needed, largest first
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

  // Whether a change of this weight would be among those that are shown.
  bool worth(int weight) const {
    return endings_.size() < kMaxChanges || weight < *endings_.rbegin();
  }
  void add_ending(Change change) {
    endings_.insert(change.weight);
    if (endings_.size() > kMaxChanges) endings_.erase(std::prev(endings_.end()));
    changes_.push_back(std::move(change));
  }

  bool smaller_group(const Scheduler::Want& want, const NodeState& state, ChipSet beside,
                     const std::string& node) {
    const int room = state.wiring->topology().chip_count() / want.pod->chips;
    for (int members = std::min(want.members - 1, room); members >= 1; --members) {
      Scheduler::Want less = want;
      less.members = members;
      if (!fits(less, state, beside)) continue;
      changes_.push_back({kFewerMembers + want.members - members, "smaller_group", node,
                          "if " + std::to_string(members) +
                              " pods of its group were enough (fit on " + node + ")"});
      return true;
    }
    return false;
  }

  Scheduler& s_;
  JsonWriter w_;
  std::vector<Change> changes_;
  std::multiset<int> endings_;  // weights of the easiest departures so far
  std::map<std::tuple<StateId, std::uint64_t, std::uint64_t>, bool> without_;
  std::size_t not_offered_ = 0;
  bool never_offered_ = false;
  int tries_left_ = limits::kMaxExplainTries;
};

Result<ExplainText> Scheduler::explain(const PodKey& key) {
  if (auto ready = may_tell(); !ready) return std::move(ready).error();
  const ClusterPod* pod = cluster_.find(key);
  if (pod == nullptr) return make_error(Errc::not_found, "pod " + key.text() + " is not known");
  expire_promises();
  return ExplainText{Explainer(*this).pod(*pod)};
}

}  // namespace chipweave::sched
