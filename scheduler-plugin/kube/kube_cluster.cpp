#include "scheduler-plugin/kube/kube_cluster.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/kube/annotate_pod.hpp"
#include "common/kube/bind_pod.hpp"
#include "common/kube/nominate_pod.hpp"
#include "common/kube/ungate_pod.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/attribution.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {
namespace {

using kube::kNotFound;

constexpr const char* kPods = "/api/v1/pods";
// With it, a pod that finishes is delivered as deleted.
constexpr const char* kSelector =
    "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
constexpr std::chrono::milliseconds kPodReadTimeout{3000};
constexpr int kListAttempts = 4;  // attempts to list pods that keep changing

// Once bound, nothing of it counts but its CPU and memory.
bool is_bare(const ClusterPod& pod) {
  return pod.request.chips == 0 && pod.request.mark == nullptr;
}

// Whole objects: the resources and the node of a pod are in its spec, its rejection in its status.
kube::Reflector<codec::KubePod>::Options pod_watch_options() {
  kube::Reflector<codec::KubePod>::Options options;
  options.path = kPods;
  options.selector = kSelector;
  return options;
}

}  // namespace

KubeCluster::KubeCluster(kube::Transport& transport, const ResourceTable& resources, Events events,
                         std::function<double()> jitter)
    : transport_(transport),
      resources_(resources),
      pods_watch_(transport, pod_watch_options(),
                  {{[this](codec::KubePod&& pod) { take(std::move(pod)); },
                    [this](const std::string& key) { drop(key); }},
                   [this, synced = std::move(events.synced)] {
                     calls_before_list_ = calls_;
                     synced();
                   },
                   std::move(events.failed)},
                  std::move(jitter)) {}

ClusterPod KubeCluster::made_of(const codec::KubePod& seen) const {
  CountedRequest counted = count_request(seen, resources_);
  ClusterPod pod;
  pod.request = std::move(counted.request);
  pod.request.job = job_identity(pod.request);
  pod.request.mark = planned_mark_of(seen, pod.request.chips);
  pod.request.labels.clear();
  pod.request.annotations.clear();
  pod.refused = std::move(counted.refused);
  pod.node = seen.node_name;
  if (pod.node.empty()) pod.scheduler = seen.scheduler;
  if (!pod.node.empty() && !pod.refused.empty()) {
    pod.request.resource = std::move(counted.used.resource);
    pod.request.chips = counted.used.chips;
    pod.parts = counted.used.parts;
  }
  pod.started = !seen.phase.empty() && seen.phase != "Pending";
  pod.ending = seen.ending;
  pod.created = seen.created;
  pod.priority = seen.priority;
  pod.may_preempt = seen.may_preempt;
  pod.nominated = seen.nominated_node;
  pod.gated = has_gang_gate(seen);
  pod.foreign_gates = has_foreign_gates(seen);
  pod.others = other_resources(seen, resources_);
  return pod;
}

void KubeCluster::take(codec::KubePod&& seen) {
  const std::string key = kube::key_of(seen);
  if (seen.phase == "Succeeded" || seen.phase == "Failed") return drop(key);
  if (seen_) seen_(seen);
  Entry* known = pods_.find(key);
  if (known != nullptr && !seen.node_name.empty() && known->pod.node.empty() &&
      !known->pod.refused.empty()) {
    // what it uses now is counted, unlike what it asked for
    const ClusterPod waiting = take_out(key, *known);
    listener_->pod_gone(waiting);
    known = nullptr;
  }
  if (known == nullptr) {
    Entry entry{made_of(seen), false, std::hash<std::string>()(seen.rejection)};
    if (!entry.pod.node.empty() && is_bare(entry.pod)) return count_bare(key, seen);
    const auto claimed = placement_of(seen, entry.pod);
    entry.placement_known = claimed.has_value();
    take_nodes(entry.pod, seen);
    entry.pod.arrival = ++arrivals_;
    Entry& kept = pods_.add(key, std::move(entry));
    const ClusterPod& added = kept.pod;
    by_arrival_.emplace(arrivals_, &added);
    count_use(kept);
    listener_->pod_added(added, claimed ? &*claimed : nullptr);
    return;
  }
  Entry& entry = *known;
  entry.pod.started = !seen.phase.empty() && seen.phase != "Pending";
  entry.pod.ending = seen.ending;
  if (seen.node_name.empty()) return take_status(entry, seen);
  if (entry.placement_known) return;  // a pod's request does not change
  if (is_bare(entry.pod)) {
    drop_entry(key);
    return count_bare(key, seen);
  }
  const bool news = entry.pod.node.empty();
  entry.pod.node = seen.node_name;
  entry.pod.gated = false;
  entry.pod.foreign_gates = false;
  entry.pod.nodes = nullptr;
  count_use(entry);
  const auto claimed = placement_of(seen, entry.pod);
  entry.placement_known = claimed.has_value();
  if (news || claimed) listener_->pod_bound(entry.pod, claimed ? &*claimed : nullptr);
}

void KubeCluster::count_use(Entry& entry) {
  if (entry.counted || entry.pod.node.empty()) return;
  entry.counted = true;
  listener_->node_use_changed(entry.pod.node,
                              {entry.pod.others.milli_cpu, entry.pod.others.memory});
}

// It may be seen again, with other requests if it was resized.
void KubeCluster::count_bare(const std::string& key, const codec::KubePod& seen) {
  const NodeUse use = use_of(seen);
  const BareUse* known = bare_.find(key);
  if (known != nullptr && known->node == seen.node_name && known->use == use) return;
  end_bare(key);
  if (use == NodeUse{}) return;
  bare_.add(key, {seen.node_name, use});
  listener_->node_use_changed(seen.node_name, use);
}

void KubeCluster::end_bare(const std::string& key) {
  const BareUse* known = bare_.find(key);
  if (known == nullptr) return;
  const BareUse ended = *known;
  bare_.erase(key);
  listener_->node_use_changed(ended.node, -ended.use);
}

// A gate of others may come with node selectors when it is opened (Kueue).
void KubeCluster::take_nodes(ClusterPod& pod, const codec::KubePod& seen) {
  if (!pod.node.empty() || pod.request.mark == nullptr) return;
  pod.nodes = wishes_ = own_wishes(seen, wishes_);
}

// Some frameworks set their marks after the pod was made.
void KubeCluster::take_mark(Entry& entry, const codec::KubePod& seen) {
  auto mark = planned_mark_of(seen, entry.pod.request.chips);
  const auto& known = entry.pod.request.mark;
  if ((mark == nullptr) == (known == nullptr) && (mark == nullptr || *mark == *known)) return;
  entry.pod.request.mark = std::move(mark);
  listener_->pod_marked(entry.pod);
}

// What kube-scheduler reports of a pod that waits.
void KubeCluster::take_status(Entry& entry, const codec::KubePod& seen) {
  if (!entry.pod.node.empty()) return;  // an older version
  take_mark(entry, seen);
  take_nodes(entry.pod, seen);
  const std::size_t rejection = std::hash<std::string>()(seen.rejection);
  const bool unschedulable =
      std::exchange(entry.rejection, rejection) != rejection && !seen.rejection.empty();
  const bool nominated = entry.pod.nominated != seen.nominated_node;
  entry.pod.nominated = seen.nominated_node;
  take_gates(entry.pod, seen);
  if (unschedulable) listener_->pod_unschedulable(entry.pod);
  if (nominated) listener_->pod_nominated(entry.pod);
}

// A version with more gates than were seen before is an older one.
void KubeCluster::take_gates(ClusterPod& pod, const codec::KubePod& seen) {
  const bool ours = pod.gated && has_gang_gate(seen);
  const bool foreign = pod.foreign_gates && has_foreign_gates(seen);
  const bool changed = ours != pod.gated || foreign != pod.foreign_gates;
  pod.gated = ours;
  pod.foreign_gates = foreign;
  if (changed) listener_->pod_gates_changed(pod);
}

void KubeCluster::drop(const std::string& key) {
  if (gone_too_) gone_too_(key);
  drop_entry(key);
}

void KubeCluster::drop_entry(const std::string& key) {
  if (!tickets_.empty()) {
    gone_[key] = calls_;
    deletions_.emplace_back(calls_, key);
    forget_deletions();
  }
  end_bare(key);
  Entry* known = pods_.find(key);
  if (known != nullptr) listener_->pod_gone(take_out(key, *known));
}

// Those that no call in flight was made before.
void KubeCluster::forget_deletions() {
  const std::uint64_t first = tickets_.empty() ? calls_ + 1 : tickets_.begin()->first;
  for (; !deletions_.empty() && deletions_.front().first < first; deletions_.pop_front()) {
    const auto it = gone_.find(deletions_.front().second);
    // else a pod of that name was deleted again
    if (it != gone_.end() && it->second == deletions_.front().first) gone_.erase(it);
  }
}

// The call is over once its answer was worked on: until then the deletions since it count.
std::unique_ptr<kube::Ticket> KubeCluster::end_call(std::uint64_t number) {
  auto ticket = tickets_.extract(number);
  forget_deletions();
  return ticket.empty() ? nullptr : std::move(ticket.mapped());
}

ClusterPod KubeCluster::take_out(const std::string& key, Entry& entry) {
  ClusterPod out = std::move(entry.pod);
  if (entry.counted)
    listener_->node_use_changed(out.node, {-out.others.milli_cpu, -out.others.memory});
  by_arrival_.erase(out.arrival);
  pods_.erase(key);
  return out;
}

const ClusterPod* KubeCluster::find(const PodKey& key) const {
  const Entry* known = pods_.find(key.text());
  return known == nullptr ? nullptr : &known->pod;
}

// The claim first: a bound pod without its claim would be given any chips. A binding that is
// definitely not stored ends its claim before it fails, because failing frees the chips.
void KubeCluster::bind(const BindOrder& order, Done done) {
  if (!order.claim) return bind_now(order.binding, order.annotations, std::move(done));
  allocate(order, std::move(done), [this, order](const ClaimedBinding& what) {
    bind_now(order.binding, order.annotations,
             [this, what](const Result<void>& result) { claimed_pod_bound(what, result); });
  });
}

void KubeCluster::hand_over(const BindOrder& order, Done done) {
  allocate(order, std::move(done), [](const ClaimedBinding& what) { what.done({}); });
}

// done is called if there is no claim in the end; otherwise `then` has to.
void KubeCluster::allocate(const BindOrder& order, Done done,
                           std::function<void(const ClaimedBinding&)> then) {
  if (claims_ == nullptr)
    return done(make_error(Errc::unsupported, "this scheduler makes no ResourceClaims"));
  auto claim = claims_->claim_of(order);
  if (!claim) return done(std::move(claim).error());
  const std::string& uid = order.binding.uid;
  if (!claims_->take(uid)) {
    return done(make_error(Errc::not_sent, "an earlier claim of pod " + order.binding.key.text() +
                                               " is not ended yet; try again"));
  }
  ClaimedBinding what{std::move(*claim), fence(),
                      [this, uid, done = std::move(done)](const Result<void>& result) {
                        claims_->give_back(uid);
                        done(result);
                      }};
  const std::uint64_t number = calls_ + 1;
  keep(claims_->allocate(
      what.claim, what.fence,
      [this, number, what, then = std::move(then)](const Result<void>& allocated) {
        const auto ticket = end_call(number);
        if (!allocated) return end_claim(what, allocated);
        then(what);
      }));
}

void KubeCluster::claimed_pod_bound(const ClaimedBinding& what, const Result<void>& result) {
  const bool open = !result && (result.error().code == Errc::unavailable ||
                                result.error().code == Errc::deadline);
  if (result || open) return what.done(result);
  end_claim(what, result);
}

void KubeCluster::end_claim(const ClaimedBinding& what, const Result<void>& why) {
  const ClusterPod* pod = find({what.claim.ns, what.claim.pod});
  // bound by others: the kubelet may follow the claim by now
  if (pod != nullptr && pod->request.uid == what.claim.pod_uid && !pod->node.empty())
    return what.done(why);
  keep(claims_->end(what.claim, what.fence, ending([why, what](const Result<void>& ended) {
                      if (ended) return what.done(why);
                      what.done(make_error(
                          Errc::unavailable,
                          why.error().text() + "; its claim is left: " + ended.error().text()));
                    })));
}

void KubeCluster::bind_now(const Binding& binding, const Annotations& annotations, Done done) {
  kube::BindRequest request{binding.key.ns, binding.key.name, binding.uid,
                            binding.node,   annotations,      fence()};
  keep(kube::bind_pod(transport_, std::move(request),
                      ending([this, binding, done = std::move(done)](const Result<void>& result) {
                        bound(binding, result, done);
                      })));
}

void KubeCluster::bound(const Binding& binding, const Result<void>& result, const Done& done) {
  if (result) {
    Entry* known = pods_.find(binding.key.text());
    if (known != nullptr && known->pod.request.uid == binding.uid) {
      known->pod.node = binding.node;
      count_use(*known);
    }
    return done({});
  }
  if (result.error().code != Errc::conflict) return done(result);
  // Read how it is bound before anyone acts on it. Until then its chips may be those of the
  // binding.
  refresh(binding.key, [result, done](const Result<void>& read) {
    if (read) return done(result);
    done(make_error(Errc::unavailable, result.error().text() + "; " + read.error().text()));
  });
}

void KubeCluster::annotate(const PodKey& key, const std::string& uid,
                           const Annotations& annotations, Done done) {
  kube::AnnotateRequest request{key.ns, key.name, uid, annotations, kPlacementAnnotation, {}};
  if (const ClusterPod* pod = find(key); pod != nullptr && pod->request.uid == uid) {
    request.replaceable = [pod = *pod](const std::string& placement) {
      return is_foreign(placement, pod);
    };
  }
  keep(kube::annotate_pod(transport_, std::move(request), ending(std::move(done))));
}

void KubeCluster::ungate(const UngateOrder& order, Done done) {
  kube::UngateRequest request{order.key.ns,      order.key.name, order.uid, kGangGate,
                              order.annotations, order.pin_to,   fence()};
  keep(kube::ungate_pod(transport_, std::move(request),
                        ending([this, key = order.key.text(), uid = order.uid,
                                done = std::move(done)](const Result<void>& result) {
                          Entry* known = result ? pods_.find(key) : nullptr;
                          if (known != nullptr && known->pod.request.uid == uid)
                            known->pod.gated = false;
                          done(result);
                        })));
}

void KubeCluster::nominate(const Binding& place, Done done) {
  kube::NominateRequest request{place.key.ns, place.key.name, place.uid, place.node, fence()};
  keep(kube::nominate_pod(transport_, std::move(request), ending(std::move(done))));
}

// For the next call: it is over once it has its result.
Done KubeCluster::ending(Done done) {
  return [this, number = calls_ + 1, done = std::move(done)](const Result<void>& result) {
    const auto ticket = end_call(number);
    done(result);
  };
}

bool KubeCluster::gone_since(std::uint64_t call, const std::string& key) const {
  if (call <= calls_before_list_ && !pods_.contains(key)) return true;
  const auto it = gone_.find(key);
  return it != gone_.end() && it->second >= call;
}

void KubeCluster::ask(kube::Call call,
                      std::function<void(std::uint64_t, Result<kube::Reply>)> took) {
  const std::uint64_t number = calls_ + 1;
  call.deadline = kPodReadTimeout;
  keep(transport_.call(std::move(call),
                       [this, number, took = std::move(took)](Result<kube::Reply> reply) {
                         took(number, std::move(reply));
                         const auto ticket = end_call(number);
                       }));
}

void KubeCluster::refresh(const PodKey& key, Done done) {
  if (!is_dns_label(key.ns) || !is_dns_subdomain(key.name)) {  // not a valid object name
    const std::uint64_t number = calls_ + 1;
    keep(transport_.after(std::chrono::milliseconds(0), [this, number, done = std::move(done)] {
      const auto ticket = end_call(number);
      done({});
    }));
    return;
  }
  kube::Call call;
  call.target = "/api/v1/namespaces/" + key.ns + "/pods/" + key.name;
  ask(std::move(call),
      [this, key, done = std::move(done)](std::uint64_t number, Result<kube::Reply> reply) {
        refreshed(key, number, std::move(reply), done);
      });
}

void KubeCluster::refreshed(const PodKey& key, std::uint64_t call, Result<kube::Reply> reply,
                            const Done& done) {
  const auto trouble = [&](const std::string& what) {
    done(make_error(Errc::unavailable, "cannot read pod " + key.text() + ": " + what));
  };
  if (!reply) return trouble(reply.error().text());
  if (reply->status == kNotFound) return done({});  // the watch delivers the deletion
  if (reply->status != 200) return trouble("HTTP " + std::to_string(reply->status));
  auto pod = reader_.read_one(reply->body);
  if (!pod) return trouble(pod.error().text());
  if (kube::key_of(*pod) != key.text()) return trouble("it returned another pod");
  // The watch may be behind or ahead. It delivers a recreated pod itself, in order.
  const Entry* known = pods_.find(key.text());
  const bool there = known != nullptr;
  const bool another = there && known->pod.request.uid != pod->uid;
  const bool gone = gone_since(call, key.text());
  // find() does not have it, so neither its request nor its binding is known
  if (another || (gone && !there)) return trouble("the watch has not delivered it yet");
  if (!gone) pods_watch_.note(std::move(*pod));
  done({});
}

void KubeCluster::refresh_node(const std::string& node, Done done) {
  if (!before_refresh_) return list_node(node, kListAttempts, std::move(done));
  before_refresh_(node, [this, node, done = std::move(done)](const Result<void>& result) {
    if (!result) return done(result);
    list_node(node, kListAttempts, done);
  });
}

void KubeCluster::list_node(const std::string& node, int tries_left, Done done) {
  if (!is_dns_subdomain(node)) {
    return done(make_error(Errc::invalid_argument, in_quotes(node) + " is not a valid node name"));
  }
  kube::Call call;
  // without a resourceVersion: a consistent read instead of a cached one
  call.target = kPods + std::string("?") + kSelector + "%2Cspec.nodeName%3D" + node;
  ask(std::move(call), [this, node, tries_left, done = std::move(done)](std::uint64_t number,
                                                                        Result<kube::Reply> reply) {
    listed(node, number, tries_left, std::move(reply), done);
  });
}

void KubeCluster::listed(const std::string& node, std::uint64_t call, int tries_left,
                         Result<kube::Reply> reply, const Done& done) {
  const auto trouble = [&](const std::string& what) {
    done(make_error(Errc::unavailable, "cannot list the pods of node " + node + ": " + what));
  };
  if (!reply) return trouble(reply.error().text());
  if (reply->status != 200) return trouble("HTTP " + std::to_string(reply->status));
  auto page = reader_.read_page(reply->body);
  if (!page) return trouble(page.error().text());
  if (!page->next.empty()) return trouble("the list is incomplete");
  bool uncertain = false;
  for (codec::KubePod& pod : page->objects) {
    const std::string key = kube::key_of(pod);
    const Entry* known = pods_.find(key);
    // A pod of this name was deleted since then: this one or its predecessor.
    const bool same = known != nullptr && known->pod.request.uid == pod.uid;
    if (same || !gone_since(call, key)) {
      pods_watch_.note(std::move(pod));
    } else {
      uncertain = true;
    }
  }
  if (!uncertain) return done({});
  if (tries_left <= 1) return trouble("they change too fast");
  list_node(node, tries_left - 1, done);
}

// Whether a binding requested now may still be sent later.
std::function<bool()> KubeCluster::fence() const {
  if (leadership_ == nullptr) return {};
  return [leadership = leadership_, term = leadership_->term()] {
    return leadership->term() == term && leadership->standby().empty();
  };
}

Result<void> KubeCluster::end(const PodKey& key) {
  return make_error(Errc::unsupported,
                    "pod " + key.text() + " is bound; delete it to release its chips");
}

std::size_t KubeCluster::each_after(std::uint64_t arrival, std::size_t most,
                                    const std::function<void(const ClusterPod&)>& visit) const {
  std::size_t visited = 0;
  for (auto at = by_arrival_.upper_bound(arrival); at != by_arrival_.end() && visited < most;
       ++at, ++visited)
    visit(*at->second);
  return visited;
}

}  // namespace chipweave::sched
