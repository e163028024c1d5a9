#include "scheduler-plugin/kube/pod_request.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return name.starts_with(pattern);
  }
  return pattern == name;
}

bool in(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return matches(p, name); });
}

// ACK: both labels, on every pod of the group.
std::string read_group(PodRequest& request) {
  const auto name = request.labels.find("gpu-topology");
  const auto replica = request.labels.find("gpu-topology-replica");
  if (name == request.labels.end() || name->second.empty() || replica == request.labels.end())
    return {};
  const std::string& text = replica->second;
  const auto replicas = parse_number<int>(text);
  if (!replicas || *replicas < 1 || *replicas > limits::kMaxManifestPods) {
    return "label gpu-topology-replica is '" + text.substr(0, 32) +
           "'; expected the number of pods in the group";
  }
  request.group = GroupRef{name->second, *replicas};
  return {};
}

// The message if the pod cannot be served, else "" with resource and chips set.
std::string count_chips(const codec::KubePod& pod, const ResourceTable& table,
                        PodRequest& request) {
  for (const std::string& name : codec::resource_names(pod)) {
    const bool whole = in(table.accelerators, name);
    if (!whole && !in(table.shared, name)) continue;
    const auto count = codec::count_resource(pod, name);
    if (!count) return count.error().text();
    if (*count == 0) continue;
    if (!whole)
      return name.substr(0, limits::kMaxNameBytes) +
             " is a fraction of a chip; only whole chips can be requested";
    if (!request.resource.empty()) {
      return "asks for " + request.resource + " and " + name +
             "; a pod can request only one kind of accelerator";
    }
    if (*count > limits::kMaxChipsOfPod)
      return name + ": more chips than any supported machine has";
    request.resource = name;
    request.chips = static_cast<int>(*count);
  }
  return {};
}

}  // namespace

CountedRequest count_request(const codec::KubePod& pod, const ResourceTable& table) {
  CountedRequest counted;
  PodRequest& request = counted.request;
  request.key = {pod.ns, pod.name};
  request.uid = pod.uid;
  request.labels = {pod.labels.begin(), pod.labels.end()};
  request.annotations = {pod.annotations.begin(), pod.annotations.end()};
  if (!pod.gang.empty()) request.gang = pod.ns + "/" + pod.gang;
  counted.refused = count_chips(pod, table, request);
  if (counted.refused.empty() && request.chips > 0) counted.refused = read_group(request);
  if (!counted.refused.empty()) {
    constexpr std::size_t kMaxRefusalBytes = 400;  // bytes; the message is repeated for every node
    counted.refused = with_dots(counted.refused, kMaxRefusalBytes);
    request.resource.clear();
    request.chips = 0;
  }
  const auto said = request.annotations.find("distributed-job");
  request.distributed = (said != request.annotations.end() && said->second == "true") ||
                        (request.group && request.group->replicas > 1);
  return counted;
}

}  // namespace chipweave::sched
