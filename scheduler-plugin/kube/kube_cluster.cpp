#include "scheduler-plugin/kube/kube_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/dns_name.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/jobs.hpp"
#include "scheduler-plugin/kube/attribution.hpp"

namespace chipweave::sched {
namespace {

kube::Reflector<codec::KubePod>::Options watch_options() {
  kube::Reflector<codec::KubePod>::Options options;
  options.path = "/api/v1/pods";
  // One that ends is told as deleted then.
  options.selector = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
  return options;
}

}  // namespace

KubeCluster::KubeCluster(kube::Transport& transport, const ResourceTable& resources, Events events,
                         std::function<double()> jitter)
    : transport_(transport),
      resources_(resources),
      binder_(transport),
      annotator_(transport),
      pods_watch_(transport, watch_options(),
                  {{[this](codec::KubePod&& pod) { take(std::move(pod)); },
                    [this](const std::string& key) { drop(key); }},
                   std::move(events.synced),
                   std::move(events.failed)},
                  std::move(jitter)) {}

ClusterPod KubeCluster::made_of(const codec::KubePod& seen) const {
  CountedAsk counted = count_ask(seen, resources_);
  ClusterPod pod;
  pod.ask = std::move(counted.ask);
  pod.ask.job = job_identity(pod.ask);
  pod.ask.labels.clear();
  pod.ask.annotations.clear();
  pod.refused = std::move(counted.refused);
  pod.node = seen.node_name;
  pod.started = !seen.phase.empty() && seen.phase != "Pending";
  pod.ending = seen.ending;
  pod.priority = seen.priority;
  return pod;
}

void KubeCluster::take(codec::KubePod&& seen) {
  const std::string key = kube::key_of(seen);
  if (seen.phase == "Succeeded" || seen.phase == "Failed") return drop(key);
  const auto known = pods_.find(key);
  if (known == pods_.end()) {
    Entry entry{made_of(seen), false};
    if (!entry.pod.node.empty() && entry.pod.ask.chips == 0) return;
    const auto said = placement_of(seen, entry.pod.ask);
    entry.says = said.has_value();
    entry.pod.arrival = ++arrivals_;
    const auto it = pods_.emplace(key, std::move(entry)).first;
    listener_->pod_added(it->second.pod, said ? &*said : nullptr);
    return;
  }
  Entry& entry = known->second;
  entry.pod.started = !seen.phase.empty() && seen.phase != "Pending";
  entry.pod.ending = seen.ending;
  if (seen.node_name.empty() || entry.says) return;  // what it asks for does not change
  if (entry.pod.ask.chips == 0) return drop(key);
  const bool news = entry.pod.node.empty();
  entry.pod.node = seen.node_name;
  const auto said = placement_of(seen, entry.pod.ask);
  entry.says = said.has_value();
  if (news || said) listener_->pod_bound(entry.pod, said ? &*said : nullptr);
}

void KubeCluster::drop(const std::string& key) {
  if (!tickets_.empty()) gone_.insert(key);
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  const ClusterPod gone = std::move(it->second.pod);
  pods_.erase(it);
  listener_->pod_gone(gone);
}

const ClusterPod* KubeCluster::find(const PodKey& key) const {
  const auto it = pods_.find(key.text());
  return it == pods_.end() ? nullptr : &it->second.pod;
}

void KubeCluster::bind(const Binding& binding, const Annotations& annotations, Done done) {
  kube::BindOrder order{binding.key.ns, binding.key.name, binding.uid, binding.node, annotations};
  const std::uint64_t number = calls_ + 1;
  keep(binder_.bind(std::move(order),
                    [this, number, binding, done = std::move(done)](const Result<void>& how) {
                      const auto ticket = tickets_.extract(number);
                      bound(binding, how, done);
                    }));
}

void KubeCluster::bound(const Binding& binding, const Result<void>& how, const Done& done) {
  if (how) {
    const auto it = pods_.find(binding.key.text());
    if (it != pods_.end() && it->second.pod.ask.uid == binding.uid)
      it->second.pod.node = binding.node;
    return done({});
  }
  if (how.error().code != Errc::conflict) return done(how);
  // how it is bound, before anybody acts on it
  refresh(binding.key, [how, done](const Result<void>&) { done(how); });
}

void KubeCluster::annotate(const PodKey& key, const std::string& uid,
                           const Annotations& annotations, Done done) {
  const std::uint64_t number = calls_ + 1;
  keep(annotator_.annotate({key.ns, key.name, uid, annotations, kPlacementAnnotation},
                           [this, number, done = std::move(done)](const Result<void>& how) {
                             const auto ticket = tickets_.extract(number);
                             done(how);
                           }));
}

void KubeCluster::refresh(const PodKey& key, Done done) {
  const std::uint64_t number = calls_ + 1;
  const auto finish = [this, number, key, done = std::move(done)](Result<kube::Reply> reply) {
    const auto ticket = tickets_.extract(number);
    refreshed(key, std::move(reply), done);
    if (tickets_.empty()) gone_.clear();
  };
  if (!is_dns_label(key.ns) || !is_dns_subdomain(key.name)) {  // nothing can be called so
    keep(transport_.after(std::chrono::milliseconds(0), [finish] {
      finish(kube::Reply{404, "", std::nullopt});
    }));
    return;
  }
  kube::Call call;
  call.target = "/api/v1/namespaces/" + key.ns + "/pods/" + key.name;
  call.deadline = std::chrono::milliseconds(3000);
  keep(transport_.call(std::move(call), finish));
}

void KubeCluster::refreshed(const PodKey& key, Result<kube::Reply> reply, const Done& done) {
  const auto trouble = [&](const std::string& what) {
    done(make_error(Errc::unavailable,
                    "the API server does not show pod " + key.text() + ": " + what));
  };
  if (!reply) return trouble(reply.error().text());
  if (reply->status == 404) return done({});  // the watch tells it, too
  if (reply->status != 200) return trouble("HTTP " + std::to_string(reply->status));
  auto pod = reader_.read_one(reply->body);
  if (!pod) return trouble(pod.error().text());
  if (kube::key_of(*pod) != key.text()) return trouble("it answered another one");
  // The watch is behind or ahead; where it will tell of another pod anyway, it does so in order.
  const auto known = pods_.find(key.text());
  const bool there = known != pods_.end();
  const bool another = there && known->second.pod.ask.uid != pod->uid;
  const bool gone = gone_.contains(key.text());
  // so find() does not show it: neither what it asks for nor whether it is bound is known
  if (another || (gone && !there)) return trouble("the watch has not told of it yet");
  if (!gone) pods_watch_.note(std::move(*pod));
  done({});
}

Result<void> KubeCluster::end(const PodKey& key) {
  return make_error(Errc::unsupported,
                    "pod " + key.text() + " is bound; delete it to give its chips back");
}

void KubeCluster::each(const std::function<void(const ClusterPod&)>& visit) const {
  std::vector<const ClusterPod*> all;
  all.reserve(pods_.size());
  for (const auto& [key, entry] : pods_) all.push_back(&entry.pod);
  std::sort(all.begin(), all.end(),
            [](const auto* a, const auto* b) { return a->arrival < b->arrival; });
  for (const ClusterPod* pod : all) visit(*pod);
}

}  // namespace chipweave::sched
