#include "scheduler-plugin/kube/dra/claim_watch.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/codec/kube/objects/pod_claim.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::sched {
namespace {

// Whole objects: the devices of a claim are in its status, those of a slice in its spec.
template <class Object>
typename kube::Reflector<Object>::Options watch_options(const char* resource) {
  typename kube::Reflector<Object>::Options options;
  options.path = std::string("/apis/resource.k8s.io/v1/") + resource;
  return options;
}

bool is_for_a_pod(const codec::KubeClaim& claim) {
  const auto at = claim.annotations.find(codec::kExtendedResourceClaim);
  return at != claim.annotations.end() && at->second == "true" && claim.pods.size() == 1;
}

}  // namespace

std::string text_of(const codec::ClaimedDevice& device) {
  return device.driver + "/" + device.pool + "/" + device.device;
}

ClaimWatch::ClaimWatch(kube::Transport& transport, ClusterListener& listener,
                       const NodeTable& nodes, Events events, const std::function<double()>& jitter)
    : listener_(listener),
      nodes_(nodes),
      events_(std::move(events)),
      claims_watch_(transport, watch_options<codec::KubeClaim>("resourceclaims"),
                    {{[this](codec::KubeClaim&& claim) { take(claim); },
                      [this](const std::string& key) {
                        if (events_.gone) events_.gone(key);
                        drop(key);
                      }},
                     events_.known,
                     [this](const kube::WatchFailure& failure) { failed(no_claims_, failure); }},
                    jitter),
      slices_watch_(transport, watch_options<codec::KubeSlice>("resourceslices"),
                    {{[this](codec::KubeSlice&& slice) {
                        catalog_.take(std::move(slice));
                        if (slices_known()) check();
                      },
                      [this](const std::string& key) { catalog_.drop(key); }},
                     events_.known,
                     [this](const kube::WatchFailure& failure) {
                       slices_forbidden_ = failure.status == kube::kForbidden;
                       failed(no_slices_, failure);
                       if (slices_forbidden_) events_.known();
                     }},
                    jitter) {}

void ClaimWatch::start() {
  slices_watch_.start();
  claims_watch_.start();
}

// Before Kubernetes 1.34 there is no such API. This is not a failure; the watch retries now and
// then.
void ClaimWatch::failed(bool& no_api, const kube::WatchFailure& failure) {
  if (failure.status != kube::kNotFound) return events_.failed(failure);
  no_api = true;
  events_.known();
}

// What the device is counted as; of chipweave's driver, what its node says.
std::string_view ClaimWatch::resource_of(const codec::ClaimedDevice& device) const {
  if (!domain::is_own_driver(device.driver)) return domain::resource_of_driver(device.driver);
  const NodeId id = nodes_.find(device.pool);
  if (id == kNoNode || nodes_.node(id).resources.empty()) return device.driver;
  return nodes_.node(id).resources.front();
}

// One for each node and resource.
std::vector<ClaimWatch::Held> ClaimWatch::held_by(const codec::KubeClaim& claim) const {
  std::map<std::pair<std::string, std::string_view>, std::vector<codec::ClaimedDevice>> devices;
  for (const codec::ClaimedDevice& device : claim.devices) {
    const std::string_view resource = resource_of(device);
    if (!resource.empty()) devices[{device.pool, resource}].push_back(device);
  }
  std::vector<Held> out;
  for (auto& [where, of_claim] : devices) {
    const auto& [node, resource] = where;
    Held held;
    held.of_pod = is_for_a_pod(claim);
    held.pod.request.key = {claim.ns, claim.name + " (claim)"};
    held.pod.request.uid = held.of_pod
                               ? claim.pods.front()
                               : "claim " + claim.uid + " " + node + " " + std::string(resource);
    held.pod.request.resource = resource;
    held.pod.request.chips = static_cast<int>(of_claim.size());
    held.pod.node = node;
    held.devices = std::move(of_claim);
    out.push_back(std::move(held));
  }
  return out;
}

std::optional<std::vector<int>> ClaimWatch::chips_now(const Held& held) const {
  const NodeId id = nodes_.find(held.pod.node);
  if (id == kNoNode || !nodes_.node(id).has_inventory()) return std::nullopt;
  return kube::chips_of(catalog_, held.devices, held.pod.node, nodes_.node(id).topology);
}

void ClaimWatch::announce(const Held& held, bool fresh) {
  std::optional<Placement> placement;
  if (held.chips) {
    placement.emplace();
    placement->node = held.pod.node;
    placement->uid = held.pod.request.uid;
    placement->resource = held.pod.request.resource;
    placement->chips = *held.chips;
  }
  const Placement* claimed = placement ? &*placement : nullptr;
  if (held.of_pod) {
    if (claimed != nullptr) listener_.pod_allocated(*claimed);
  } else if (fresh) {
    listener_.pod_added(held.pod, claimed);
  } else {
    listener_.pod_bound(held.pod, claimed);
  }
}

void ClaimWatch::take(const codec::KubeClaim& claim) {
  if (events_.seen) events_.seen(claim);
  const std::string key = kube::key_of(claim);
  std::vector<Held> now = held_by(claim);
  const auto known = held_.find(key);
  if (known != held_.end() && std::equal(now.begin(), now.end(), known->second.begin(),
                                         known->second.end(), [](const Held& a, const Held& b) {
                                           return a.pod.request.uid == b.pod.request.uid &&
                                                  a.devices == b.devices;
                                         }))
    return;
  drop(key);
  if (const auto at = claim.annotations.find(codec::kExtendedResourceClaim);
      at != claim.annotations.end() && claim.name.starts_with(codec::kPodClaimPrefix)) {
    const std::string uid = claim.name.substr(std::string_view(codec::kPodClaimPrefix).size());
    const auto pod = std::find_if(claim.consumers.begin(), claim.consumers.end(),
                                  [&](const codec::ClaimConsumer& one) { return one.uid == uid; });
    unsettled_[key] = {claim.ns, claim.name, uid,
                       pod == claim.consumers.end() ? std::string() : pod->name};
  }
  if (now.empty()) return;
  std::vector<Held>& held = held_[key] = std::move(now);
  for (Held& one : held) {
    for (const codec::ClaimedDevice& device : one.devices) holders_[text_of(device)].insert(key);
    one.chips = chips_now(one);
    if (!one.chips) unknown_.insert(key);
    announce(one, true);
  }
}

void ClaimWatch::check() {
  for (auto at = unknown_.begin(); at != unknown_.end();) {
    bool all = true;
    for (Held& held : held_.at(*at)) {
      if (held.chips) continue;
      held.chips = chips_now(held);
      if (held.chips) announce(held, false);
      all = all && held.chips;
    }
    at = all ? unknown_.erase(at) : std::next(at);
  }
}

void ClaimWatch::drop(const std::string& key) {
  const auto at = held_.find(key);
  if (at == held_.end()) return;
  const std::vector<Held> gone = std::move(at->second);
  held_.erase(at);
  unknown_.erase(key);
  unsettled_.erase(key);
  for (const Held& held : gone) {
    for (const codec::ClaimedDevice& device : held.devices) {
      const auto holders = holders_.find(text_of(device));
      holders->second.erase(key);
      if (holders->second.empty()) holders_.erase(holders);
    }
    if (held.of_pod) {
      listener_.pod_released(held.pod.request.uid);
    } else {
      listener_.pod_gone(held.pod);
    }
  }
}

bool ClaimWatch::has_claim_of(const std::string& ns, const std::string& pod_uid) const {
  const auto at = held_.find(ns + "/" + codec::kPodClaimPrefix + pod_uid);
  if (at == held_.end()) return false;
  const Held& first = at->second.front();
  return first.of_pod && first.pod.request.uid == pod_uid;
}

std::string ClaimWatch::holder_of(const std::vector<codec::ClaimedDevice>& devices,
                                  const std::string& pod_uid) const {
  for (const codec::ClaimedDevice& device : devices) {
    const auto holders = holders_.find(text_of(device));
    if (holders == holders_.end()) continue;
    for (const std::string& claim : holders->second) {
      const std::vector<Held>& held = held_.at(claim);
      if (!held.front().of_pod || held.front().pod.request.uid != pod_uid) return claim;
    }
  }
  return {};
}

std::optional<ClaimOfPod> ClaimWatch::next_unsettled(
    const std::function<Use(const ClaimOfPod&)>& use) {
  for (auto at = unsettled_.begin(); at != unsettled_.end();) {
    const Use now = use(at->second);
    if (now == Use::leftover) return at->second;
    at = now == Use::used ? unsettled_.erase(at) : std::next(at);
  }
  return std::nullopt;
}

}  // namespace chipweave::sched
