#include "scheduler-plugin/state/memory_cluster.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

// Version 4, random.
std::string make_uid() {
  static thread_local std::random_device entropy;
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t& w : words) w = entropy();
  words[1] = (words[1] & 0xFFFF0FFFU) | 0x00004000U;
  words[2] = (words[2] & 0x3FFFFFFFU) | 0x80000000U;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    text += kHex[(words[i / 8] >> (28 - 4 * (i % 8))) & 15U];
  }
  return text;
}

Error invalid(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

bool is_uid(std::string_view text) {
  return text.size() <= limits::kMaxUidBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_' || c == ':';
         });
}

Result<void> check(const ClusterPod& pod, std::size_t document_bytes) {
  if (!is_dns_subdomain(pod.request.key.name)) {
    return invalid(
        "metadata.name '" + pod.request.key.name.substr(0, 64) +
        "' is not a DNS name (lower-case letters, digits, '-' and '.', at most 253 bytes)");
  }
  if (!is_dns_label(pod.request.key.ns)) {
    return invalid("metadata.namespace '" + pod.request.key.ns.substr(0, 64) +
                   "' is not a DNS label (lower-case letters, digits and '-', at most 63 bytes)");
  }
  if (!is_uid(pod.request.uid)) {
    return invalid("metadata.uid may hold letters, digits, '-', '.', '_' and ':', at most " +
                   std::to_string(limits::kMaxUidBytes));
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : pod.request.annotations) bytes += key.size() + value.size();
  if (bytes > limits::kMaxAnnotationBytes) {
    return make_error(Errc::limit_exceeded, "metadata.annotations are larger than 256 KiB");
  }
  if (document_bytes > limits::kMaxManifestBytes) {
    return make_error(Errc::limit_exceeded, "the pod is larger than 4 MiB");
  }
  return {};
}

}  // namespace

Result<const ClusterPod*> MemoryCluster::add(ClusterPod pod, std::string document) {
  if (pod.request.key.ns.empty()) pod.request.key.ns = "default";
  if (auto ok = check(pod, document.size()); !ok) return std::move(ok).error();
  if (pods_.contains(pod.request.key)) {
    return make_error(Errc::conflict, "pod " + pod.request.key.text() + " already exists");
  }
  if (pods_.size() >= limits::kMaxPods) {
    return make_error(Errc::limit_exceeded, "the cluster is full");
  }
  if (pod.request.uid.empty()) pod.request.uid = make_uid();
  if (!uids_.insert(pod.request.uid).second) {
    return make_error(Errc::conflict, "a pod with uid " + pod.request.uid + " already exists");
  }
  pod.arrival = ++arrivals_;
  by_arrival_[pod.arrival] = pod.request.key;
  PodKey key = pod.request.key;
  const auto it =
      pods_.emplace(std::move(key), Entry{std::move(pod), std::move(document), {}, {}}).first;
  if (listener_ != nullptr) listener_->pod_added(it->second.pod, nullptr);
  return &it->second.pod;
}

const ClusterPod* MemoryCluster::find(const PodKey& key) const {
  const auto it = pods_.find(key);
  return it == pods_.end() ? nullptr : &it->second.pod;
}

Result<MemoryCluster::Entry*> MemoryCluster::find_entry(const PodKey& key, const std::string& uid) {
  const auto it = pods_.find(key);
  if (it == pods_.end())
    return make_error(Errc::not_found, "pod " + key.text() + " does not exist");
  if (it->second.pod.request.uid != uid)
    return make_error(Errc::conflict, "pod " + key.text() + " has another uid");
  return &it->second;
}

Result<void> MemoryCluster::bind_now(const Binding& binding, const Annotations& annotations) {
  const auto found = find_entry(binding.key, binding.uid);
  if (!found) return found.error();
  ClusterPod& pod = (*found)->pod;
  if (!pod.node.empty()) {
    return make_error(Errc::conflict, "pod " + binding.key.text() + " is already bound");
  }
  if (pod.has_gates()) {
    return make_error(Errc::conflict, "pod " + binding.key.text() + " has scheduling gates");
  }
  pod.node = binding.node;
  for (const auto& [key, value] : annotations) (*found)->written[key] = value;
  return {};
}

Result<void> MemoryCluster::ungate_now(const UngateOrder& order) {
  const auto found = find_entry(order.key, order.uid);
  if (!found) return found.error();
  if (std::exchange((*found)->pod.gated, false))
    (*found)->ungated = {true, order.pin_to.value_or("")};
  for (const auto& [key, value] : order.annotations) (*found)->written[key] = value;
  return {};
}

Result<void> MemoryCluster::nominate_now(const Binding& place) {
  const auto found = find_entry(place.key, place.uid);
  if (!found) return found.error();
  ClusterPod& pod = (*found)->pod;
  if (!pod.node.empty())
    return make_error(Errc::conflict, "pod " + place.key.text() + " is bound already");
  if (std::exchange(pod.nominated, place.node) != place.node && listener_ != nullptr)
    listener_->pod_nominated(pod);
  return {};
}

Result<void> MemoryCluster::end(const PodKey& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end())
    return make_error(Errc::not_found, "pod " + key.text() + " does not exist");
  const ClusterPod gone = std::move(it->second.pod);
  by_arrival_.erase(gone.arrival);
  uids_.erase(gone.request.uid);
  pods_.erase(it);
  if (listener_ != nullptr) listener_->pod_gone(gone);
  return {};
}

std::size_t MemoryCluster::each_after(std::uint64_t arrival, std::size_t most,
                                      const std::function<void(const ClusterPod&)>& visit) const {
  std::size_t visited = 0;
  for (auto at = by_arrival_.upper_bound(arrival); at != by_arrival_.end() && visited < most;
       ++at, ++visited)
    visit(pods_.at(at->second).pod);
  return visited;
}

}  // namespace chipweave::sched
