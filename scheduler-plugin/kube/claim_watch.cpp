#include "scheduler-plugin/kube/claim_watch.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

// DRA drivers whose devices are whole chips, and the extended resource of the same chips.
struct Driver {
  std::string_view name;
  const char* resource;
};
constexpr std::array<Driver, 2> kDrivers{
    {{"gpu.nvidia.com", "nvidia.com/gpu"}, {"gpu.amd.com", "amd.com/gpu"}}};

// Whole objects: the devices of a claim are in its status.
kube::Reflector<codec::KubeClaim>::Options claim_watch_options() {
  kube::Reflector<codec::KubeClaim>::Options options;
  options.path = "/apis/resource.k8s.io/v1/resourceclaims";
  return options;
}

bool same(const std::vector<ClusterPod>& a, const std::vector<ClusterPod>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].request.uid != b[i].request.uid || a[i].request.chips != b[i].request.chips)
      return false;
  }
  return true;
}

// As pods bound by another scheduler, one per node and driver.
std::vector<ClusterPod> holders_of(const codec::KubeClaim& claim) {
  std::map<std::pair<std::string, std::string_view>, int> chips;
  for (const codec::ClaimedDevice& device : claim.devices) {
    for (const Driver& driver : kDrivers) {
      if (device.driver == driver.name) ++chips[{device.pool, driver.resource}];
    }
  }
  std::vector<ClusterPod> holders;
  for (const auto& [where, count] : chips) {
    ClusterPod pod;
    pod.request.key = {claim.ns, claim.name + " (claim)"};
    pod.request.uid = "claim " + claim.uid + " " + where.first + " " + std::string(where.second);
    pod.request.resource = where.second;
    pod.request.chips = count;
    pod.node = where.first;
    holders.push_back(std::move(pod));
  }
  return holders;
}

}  // namespace

ClaimWatch::ClaimWatch(kube::Transport& transport, ClusterListener& listener, Events events,
                       std::function<double()> jitter)
    : listener_(listener),
      events_(std::move(events)),
      claims_watch_(transport, claim_watch_options(),
                    {{[this](codec::KubeClaim&& claim) { take(claim); },
                      [this](const std::string& key) { drop(key); }},
                     events_.known,
                     [this](const kube::WatchFailure& failure) { failed(failure); }},
                    std::move(jitter)) {}

// Before Kubernetes 1.34 there is no such API. This is not a failure; the watch retries now and
// then.
void ClaimWatch::failed(const kube::WatchFailure& failure) {
  if (failure.status != kube::kNotFound) return events_.failed(failure);
  no_api_ = true;
  events_.known();
}

void ClaimWatch::take(const codec::KubeClaim& claim) {
  const std::string key = kube::key_of(claim);
  std::vector<ClusterPod> holders = holders_of(claim);
  const auto known = held_.find(key);
  if (known != held_.end() && same(known->second, holders)) return;
  drop(key);
  if (holders.empty()) return;
  const auto& held = held_[key] = std::move(holders);
  for (const ClusterPod& pod : held) listener_.pod_added(pod, nullptr);
}

void ClaimWatch::drop(const std::string& key) {
  const auto it = held_.find(key);
  if (it == held_.end()) return;
  const std::vector<ClusterPod> gone = std::move(it->second);
  held_.erase(it);
  for (const ClusterPod& pod : gone) listener_.pod_gone(pod);
}

}  // namespace chipweave::sched
