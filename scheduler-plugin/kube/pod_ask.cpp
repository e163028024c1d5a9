#include "scheduler-plugin/kube/pod_ask.hpp"

#include <algorithm>
#include <charconv>

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
std::string read_group(PodAsk& ask) {
  const auto name = ask.labels.find("gpu-topology");
  const auto replica = ask.labels.find("gpu-topology-replica");
  if (name == ask.labels.end() || name->second.empty() || replica == ask.labels.end()) return {};
  int replicas = 0;
  const std::string& text = replica->second;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), replicas);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || replicas < 1 ||
      replicas > limits::kMaxManifestPods) {
    return "label gpu-topology-replica is '" + text.substr(0, 32) +
           "', it must be the number of the group's pods";
  }
  ask.group = GroupRef{name->second, replicas};
  return {};
}

// The sentence if the pod cannot be served, else "" with resource and chips set.
std::string count_chips(const codec::KubePod& pod, const ResourceTable& table, PodAsk& ask) {
  for (const std::string& name : codec::resource_names(pod)) {
    const bool whole = in(table.accelerators, name);
    if (!whole && !in(table.shared, name)) continue;
    const auto count = codec::count_resource(pod, name);
    if (!count) return count.error().text();
    if (*count == 0) continue;
    if (!whole)
      return name.substr(0, limits::kMaxNameBytes) +
             " asks for a part of a chip; only whole chips are placed here";
    if (!ask.resource.empty()) {
      return "asks for " + ask.resource + " and " + name +
             "; one kind of accelerator per pod is supported";
    }
    if (*count > limits::kMaxChipsOfPod) return name + ": more chips than any machine has";
    ask.resource = name;
    ask.chips = static_cast<int>(*count);
  }
  return {};
}

}  // namespace

CountedAsk count_ask(const codec::KubePod& pod, const ResourceTable& table) {
  CountedAsk counted;
  PodAsk& ask = counted.ask;
  ask.key = {pod.ns, pod.name};
  ask.uid = pod.uid;
  ask.labels = {pod.labels.begin(), pod.labels.end()};
  ask.annotations = {pod.annotations.begin(), pod.annotations.end()};
  if (!pod.gang.empty()) ask.gang = pod.ns + "/" + pod.gang;
  counted.refused = count_chips(pod, table, ask);
  if (counted.refused.empty() && ask.chips > 0) counted.refused = read_group(ask);
  if (!counted.refused.empty()) {
    constexpr std::size_t kMax = 400;  // it is repeated for every node
    counted.refused = with_dots(counted.refused, kMax);
    ask.resource.clear();
    ask.chips = 0;
  }
  const auto said = ask.annotations.find("distributed-job");
  ask.distributed = (said != ask.annotations.end() && said->second == "true") ||
                    (ask.group && ask.group->replicas > 1);
  return counted;
}

}  // namespace chipweave::sched
