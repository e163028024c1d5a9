#include "scheduler-plugin/kube/waiting/waiting_claims.hpp"

#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kLookAgain{5};    // at a pod that waits
constexpr std::chrono::milliseconds kSoon{100};  // when others' writes are awaited
constexpr std::chrono::seconds kListAgain{1};    // after the list of claims failed
constexpr std::size_t kPodsPerTick = 50;
constexpr std::chrono::milliseconds kTickTime{50};  // so that others are served, too
constexpr std::size_t kMaxConsumers = 256;          // of a claim; by the API

kube::Reflector<codec::KubeDeviceClass>::Options class_watch_options() {
  kube::Reflector<codec::KubeDeviceClass>::Options options;
  options.path = "/apis/resource.k8s.io/v1/deviceclasses";
  return options;
}

bool is_reserved_for(const codec::KubeClaim& claim, const std::string& uid) {
  return std::find(claim.pods.begin(), claim.pods.end(), uid) != claim.pods.end();
}

// Whether this pod alone uses it.
bool is_only_for(const codec::KubeClaim& claim, const std::string& uid) {
  return claim.consumers.empty() || (claim.consumers.size() == 1 && is_reserved_for(claim, uid));
}

std::string key_text(const codec::KubeClaim& claim) { return claim.ns + "/" + claim.name; }

}  // namespace

WaitingClaims::WaitingClaims(kube::Transport& transport, Scheduler& scheduler, ClaimWatch& watch,
                             ClaimCertainty& certainty,
                             std::function<std::function<bool()>()> fence, Options options,
                             Events events, const std::function<double()>& jitter)
    : transport_(transport),
      scheduler_(scheduler),
      clock_(scheduler.clock()),
      watch_(watch),
      fence_(std::move(fence)),
      options_(options),
      events_(std::move(events)),
      certainty_(certainty),
      forgotten_(transport, scheduler.clock(), book_,
                 [this](codec::KubeClaim claim) { watch_.note(std::move(claim)); }),
      classes_watch_(transport, class_watch_options(),
                     {{[this](codec::KubeDeviceClass&& seen) {
                         book_.take(std::move(seen));
                         freed_ = ~scheduler_.freed();  // all pods are planned again
                       },
                       [this](const std::string& name) { book_.drop_class(name); }},
                      [] {},
                      [this](const kube::WatchFailure& failure) {
                        if (failure.status != kube::kNotFound) events_.failed(failure);
                      }},
                     jitter) {}

void WaitingClaims::pod_seen(const codec::KubePod& seen) {
  const std::string key = seen.ns + "/" + seen.name;
  if (!seen.node_name.empty() || seen.ending) return pod_gone(key);
  if (seen.claims == nullptr) return;
  if (const auto at = uids_.find(key); at != uids_.end() && at->second != seen.uid) pod_gone(key);
  uids_[key] = seen.uid;
  Pod& pod = pods_[seen.uid];
  if (pod.arrival == 0) {
    pod.arrival = ++arrivals_;
  } else {
    forget_users(pod);
  }
  for (const auto& one : seen.claims->claims) users_[seen.ns + "/" + one.claim].insert(seen.uid);
  pod.key = {seen.ns, seen.name};
  pod.uid = seen.uid;
  pod.priority = seen.priority;
  pod.claims = seen.claims;
  pod.nodes = seen.nodes == nullptr ? domain::NodeWishes() : *seen.nodes;
  pod.gated = seen.rejection.starts_with("SchedulingGated");
  const NodeUse use = use_of(seen);
  constexpr std::int64_t kMib = std::int64_t{1} << 20U;
  pod.needs = solver::Room::needed(use.milli_cpu, use.memory / kMib + (use.memory % kMib ? 1 : 0));
  pod.next = {};
}

// Its claims are freed by Kubernetes, which knows whether it is bound.
void WaitingClaims::pod_gone(const std::string& key) {
  const auto at = uids_.find(key);
  if (at == uids_.end()) return;
  scheduler_.claim_planner().note(at->second, {});
  forget_users(pods_.at(at->second));
  pods_.erase(at->second);
  uids_.erase(at);
}

void WaitingClaims::forget_users(const Pod& pod) {
  for (const auto& one : pod.claims->claims) {
    const auto at = users_.find(pod.key.ns + "/" + one.claim);
    if (at == users_.end()) continue;  // named twice
    at->second.erase(pod.uid);
    if (at->second.empty()) users_.erase(at);
  }
}

void WaitingClaims::claim_seen(const codec::KubeClaim& claim) {
  book_.take(claim);
  const std::string key = key_text(claim);
  if (book_.find(key) == nullptr) return;
  const auto users = users_.find(key);
  if (users == users_.end()) return;
  for (const std::string& uid : users->second) pods_.at(uid).next = {};
}

void WaitingClaims::claim_gone(const std::string& key) { book_.drop(key); }

void WaitingClaims::look_soon(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at != pods_.end()) at->second.next = clock_.now() + kSoon;
}

std::vector<codec::KubeClaim> WaitingClaims::begun() const {
  std::vector<codec::KubeClaim> out;
  for (const auto& [key, claim] : book_.claims()) {
    if (!claim.allocated && codec::has_finalizer(claim)) out.push_back(claim);
  }
  return out;
}

WaitingClaims::Stats WaitingClaims::stats() const {
  Stats out = stats_;
  out.released += forgotten_.ended();
  out.waiting =
      static_cast<std::size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& one) {
        return !one.second.note.empty() && one.second.open;
      }));
  return out;
}

// What an earlier term has begun is known from the claims.
void WaitingClaims::begin_term() {
  term_ = scheduler_.authority().term();
  for (const auto& [uid, ticket] : writes_) scheduler_.claim_planner().drop(uid);
  writes_.clear();
  for (auto& [uid, pod] : pods_) pod.next = {};
}

void WaitingClaims::tick() {
  if (!watch_.served() || !classes_watch_.synced()) return;
  if (!scheduler_.authority().cannot_decide().empty()) return;
  if (scheduler_.authority().term() != term_) begin_term();
  const Clock::Steady now = clock_.now();
  if (!certainty_.is_certain()) {
    if (now < again_) return;
    again_ = now + kListAgain;
    return certainty_.when_certain(fence_(), [](const Result<void>&) {});
  }
  forgotten_.check(fence_());
  const bool more = scheduler_.gains() != gains_ || scheduler_.freed() != freed_;
  gains_ = scheduler_.gains();
  freed_ = scheduler_.freed();
  std::vector<Pod*> due;
  for (auto& [uid, pod] : pods_) {
    const bool due_now = pod.next <= now || (more && pod.open);
    if (due_now && pod.not_before <= now) due.push_back(&pod);
  }
  std::sort(due.begin(), due.end(), [](const Pod* a, const Pod* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->arrival < b->arrival;
  });
  for (std::size_t i = 0; i < due.size(); ++i) {
    const bool at_once = i < kPodsPerTick && (i == 0 || clock_.now() < now + kTickTime);
    due[i]->next = at_once ? now + kLookAgain : now;
    if (at_once) look(*due[i]);
  }
}

WaitingClaims::Ours WaitingClaims::ours_of(const Pod& pod) const {
  Ours out;
  for (const codec::ClaimOfPodSpec& named : pod.claims->claims) {
    if (named.none) continue;
    const std::string key = pod.key.ns + "/" + named.claim;
    if (const codec::KubeClaim* claim = book_.find(key)) {
      out.claims.push_back(claim);
      if (out.problem.empty()) out.problem = book_.refusal(*claim);
    } else if (named.claim.empty() || !book_.is_others(key)) {
      out.missing = named.claim.empty() ? named.name : named.claim;
    }
  }
  return out;
}

bool WaitingClaims::all_allocated(const Pod& pod) const {
  const Ours ours = ours_of(pod);
  return std::all_of(ours.claims.begin(), ours.claims.end(),
                     [](const codec::KubeClaim* one) { return one->allocated; });
}

void WaitingClaims::say(Pod& pod, std::string why) {
  if (pod.note == why) return;
  pod.note = std::move(why);
  scheduler_.claim_planner().note(pod.uid, "waits for its claims: " + pod.note);
  events_.waits(pod.key, pod.uid, pod.note);
}

void WaitingClaims::look(Pod& pod) {
  const Ours ours = ours_of(pod);
  if (ours.claims.empty() || pod.gated) return;
  const auto busy = [&](const codec::KubeClaim* one) { return writes_.contains(one->uid); };
  if (std::any_of(ours.claims.begin(), ours.claims.end(), busy)) return;
  note_refusals(pod, ours.claims);
  std::vector<const codec::KubeClaim*> open;
  std::vector<const codec::KubeClaim*> allocated;
  for (const codec::KubeClaim* claim : ours.claims)
    (claim->allocated ? allocated : open).push_back(claim);
  pod.open = !open.empty();
  if (open.empty()) {
    for (const codec::KubeClaim* claim : allocated) {
      if (!is_reserved_for(*claim, pod.uid)) reserve(pod, *claim);
    }
    return;
  }
  if (!ours.problem.empty()) return say(pod, ours.problem);
  if (!ours.missing.empty()) return say(pod, "claim " + ours.missing + " is not there yet");
  const ClusterPod* known = scheduler_.cluster().find(pod.key);
  if (known != nullptr && (known->request.chips > 0 || !known->refused.empty()))
    return say(pod, "the pod requests chips by an extended resource as well; claims must name all");
  for (const codec::KubeClaim* claim : open) {
    if (claim->ending) return say(pod, "claim " + claim->name + " is being deleted");
  }
  plan(pod, open, allocated);
}

// An allocation for the pod that is gone while it waits: kube-scheduler cannot use that node.
void WaitingClaims::note_refusals(Pod& pod, const std::vector<const codec::KubeClaim*>& claims) {
  for (const codec::KubeClaim* claim : claims) {
    if (claim->allocated) {
      if (is_reserved_for(*claim, pod.uid)) pod.allocated_on[claim->uid] = node_of(*claim);
      continue;
    }
    const auto was = pod.allocated_on.extract(claim->uid);
    if (was.empty() || was.mapped().empty()) continue;
    RefusedNode& refused = pod.refused[was.mapped()];
    if (clock_.now() < refused.until) continue;  // another claim of the same plan
    refused.until = clock_.now() + refused.waits.next();
    ++stats_.refused_nodes;
  }
}

std::string WaitingClaims::node_of_all(
    const std::vector<const codec::KubeClaim*>& allocated) const {
  std::string node;
  for (const codec::KubeClaim* claim : allocated) {
    const std::string here = node_of(*claim);
    if (!node.empty() && here != node) return {};
    node = here;
  }
  return node;
}

std::vector<std::string_view> WaitingClaims::candidates(const Pod& pod, const std::string& only,
                                                        std::string& why) const {
  std::vector<std::string_view> out;
  std::set<std::string> reasons;
  const NodeTable& nodes = scheduler_.nodes();
  for (const NodeId id : nodes.by_name()) {
    const Node& node = nodes.node(id);
    if (!node.has_inventory() || (!only.empty() && node.name != only)) continue;
    const auto refused = pod.refused.find(node.name);
    if (refused != pod.refused.end() && clock_.now() < refused->second.until) {
      reasons.insert("kube-scheduler has just refused the node");
      continue;
    }
    const domain::NodeStanding* there = scheduler_.standings().find(node.name);
    std::string problem = there == nullptr ? "there is no such Node"
                                           : domain::why_not_on(pod.nodes, node.name, *there);
    if (problem.empty()) {
      out.push_back(node.name);
    } else {
      reasons.insert(std::move(problem));
    }
  }
  why = joined(reasons, "; ");
  return out;
}

void WaitingClaims::plan_failed(Pod& pod, const std::vector<const codec::KubeClaim*>& allocated,
                                const std::string& why) {
  if (!allocated.empty() && release(pod, allocated)) return;
  say(pod, "no node fits: " + why);
}

void WaitingClaims::plan(Pod& pod, const std::vector<const codec::KubeClaim*>& open,
                         const std::vector<const codec::KubeClaim*>& allocated) {
  const std::string only = node_of_all(allocated);
  if (only.empty() && !allocated.empty())
    return plan_failed(pod, allocated, "its allocated claims are on different nodes");
  const auto resource = book_.resource_of(open);
  if (!resource) return say(pod, resource.error().message);
  std::string others;
  const std::vector<std::string_view> names = candidates(pod, only, others);
  WantedClaims wanted;
  wanted.pod = pod.key;
  wanted.resource = *resource;
  wanted.needs = pod.needs;
  for (const codec::KubeClaim* claim : open) wanted.claims.push_back(ClaimBook::wanted(*claim));
  const auto devices = [&](const std::string& node) -> Result<std::map<int, Attributes>> {
    auto offered = kube::offered_chips(
        watch_.devices(), node, *resource,
        scheduler_.nodes().node(scheduler_.nodes().find(node)).topology, options_.untainted);
    if (!offered) return std::move(offered).error();
    std::map<int, Attributes> out;
    for (auto& [chip, offer] : *offered) out.emplace(chip, std::move(offer.attributes));
    return out;
  };
  const auto planned = scheduler_.claim_planner().plan(wanted, names, devices);
  if (!planned) {
    const std::string why = names.empty() && !others.empty() ? others : planned.error().message;
    return plan_failed(pod, allocated, others.empty() || names.empty() ? why : why + "; " + others);
  }
  const std::string& node = scheduler_.nodes().node(planned->node).name;
  if (!scheduler_.authority().is_certain(node)) {
    pod.next = clock_.now() + kListAgain;
    return scheduler_.authority().when_certain(node,
                                               [this, uid = pod.uid](const Result<void>& result) {
                                                 if (result) look_soon(uid);
                                               });
  }
  hold(pod, open, wanted, *planned, *resource);
}

void WaitingClaims::hold(Pod& pod, const std::vector<const codec::KubeClaim*>& open,
                         const WantedClaims& wanted, const ClaimPlan& plan,
                         const std::string& resource) {
  const Node& node = scheduler_.nodes().node(plan.node);
  const auto offered =
      kube::offered_chips(watch_.devices(), node.name, resource, node.topology, options_.untainted);
  if (!offered) return;
  const auto device = [&](int chip) { return offered->at(chip).device; };
  std::vector<codec::ClaimAllocation> allocations;
  std::vector<codec::ClaimedDevice> all;
  std::vector<std::string> what;
  for (std::size_t i = 0; i < open.size(); ++i) {
    codec::ClaimAllocation made = book_.allocation(*open[i], node.name, plan.chips[i], device);
    made.time = rfc3339(clock_.wall());
    std::vector<int> chips;
    for (const auto& of_request : plan.chips[i])
      chips.insert(chips.end(), of_request.begin(), of_request.end());
    std::sort(chips.begin(), chips.end());
    what.push_back("claim " + open[i]->name + " has chips " + comma_list(chips));
    for (const codec::DeviceForRequest& one : made.results) all.push_back(one.device);
    allocations.push_back(std::move(made));
  }
  // the claim of a pod that has just ended, for a moment
  if (!watch_.holder_of(all, {}).empty()) {
    pod.next = clock_.now() + kSoon;
    return;
  }
  if (!scheduler_.claim_planner().hold(wanted, plan)) {
    pod.next = clock_.now() + kSoon;
    return;
  }
  pod.note = joined(what, ", ") + " of node " + node.name;
  if (plan.best_gbps > 0) {
    std::string rate;
    append_json_number(rate, plan.gbps);
    rate += " GB/s predicted; ";
    append_json_number(rate, plan.best_gbps);
    pod.note += ": " + rate + " is the best possible there";
  }
  scheduler_.claim_planner().note(pod.uid, pod.note);
  for (std::size_t i = 0; i < open.size(); ++i) allocate(pod, *open[i], std::move(allocations[i]));
}

void WaitingClaims::allocate(const Pod& pod, const codec::KubeClaim& claim,
                             codec::ClaimAllocation allocation) {
  kube::ClaimWrite write;
  write.claim = claim;
  const codec::ClaimConsumer consumer{"", "pods", pod.key.name, pod.uid};
  // Once it was sent it is sent until its outcome is known.
  const auto sent = std::make_shared<bool>(false);
  write.next = [this, allocation = std::move(allocation), consumer,
                sent](const codec::KubeClaim& now) -> std::optional<kube::ClaimPatch> {
    if (now.allocated) return std::nullopt;
    const bool wanted = pods_.contains(consumer.uid) && scheduler_.claim_planner().holds(now.uid);
    if (!*sent && !wanted) return std::nullopt;
    if (!codec::has_finalizer(now))
      return kube::ClaimPatch{false, codec::write_claim_finalizer(now, true)};
    *sent = true;
    return kube::ClaimPatch{true, codec::write_claim_allocation(now, allocation, consumer)};
  };
  this->write(claim, std::move(write), pod.uid);
}

void WaitingClaims::reserve(const Pod& pod, const codec::KubeClaim& claim) {
  if (claim.consumers.size() >= kMaxConsumers || claim.ending) return;
  kube::ClaimWrite write;
  write.claim = claim;
  const codec::ClaimConsumer consumer{"", "pods", pod.key.name, pod.uid};
  write.next = [this, consumer](const codec::KubeClaim& now) -> std::optional<kube::ClaimPatch> {
    if (!now.allocated || is_reserved_for(now, consumer.uid) || !pods_.contains(consumer.uid))
      return std::nullopt;
    return kube::ClaimPatch{true, codec::write_claim_reservation(now, consumer)};
  };
  ++stats_.reserved;
  this->write(claim, std::move(write), pod.uid);
}

// The pod cannot be bound meanwhile: one of its claims is not allocated.
bool WaitingClaims::release(Pod& pod, const std::vector<const codec::KubeClaim*>& claims) {
  const bool all = std::all_of(claims.begin(), claims.end(), [&](const codec::KubeClaim* one) {
    return is_only_for(*one, pod.uid);
  });
  if (!all) return false;
  for (const codec::KubeClaim* claim : claims) {
    pod.allocated_on.erase(claim->uid);
    kube::ClaimWrite write;
    write.claim = *claim;
    write.next = [uid = pod.uid](const codec::KubeClaim& now) -> std::optional<kube::ClaimPatch> {
      if (!now.allocated || !is_only_for(now, uid)) return std::nullopt;
      return kube::ClaimPatch{true, codec::write_claim_release(now)};
    };
    ++stats_.released;
    this->write(*claim, std::move(write), pod.uid);
  }
  return true;
}

void WaitingClaims::write(const codec::KubeClaim& claim, kube::ClaimWrite write,
                          const std::string& pod_uid) {
  write.may_send = fence_();
  const bool was_allocated = claim.allocated;
  writes_[claim.uid] = kube::write_claim(
      transport_, std::move(write),
      [this, uid = claim.uid, pod_uid, was_allocated](kube::ClaimWritten written) {
        const auto own = writes_.extract(uid);
        using Outcome = kube::ClaimWritten::Outcome;
        const bool allocated = written.claim && written.claim->allocated;
        if (written.claim) watch_.note(std::move(*written.claim));
        // of a term that is over
        if (written.outcome == Outcome::called_off) return;
        scheduler_.claim_planner().drop(uid);
        look_soon(pod_uid);
        const auto at = pods_.find(pod_uid);
        if (written.outcome == Outcome::done && allocated && !was_allocated) {
          ++stats_.allocated;
          if (at != pods_.end() && all_allocated(at->second))
            events_.allocated(at->second.key, pod_uid, at->second.note);
        }
        if (written.outcome != Outcome::refused || at == pods_.end()) return;
        at->second.not_before = clock_.now() + kLookAgain;
        say(at->second, written.problem);
      });
}

}  // namespace chipweave::sched
