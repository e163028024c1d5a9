#include "scheduler-plugin/kube/pod_request.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"

namespace chipweave::sched {
namespace {

constexpr int kMilli = 3;  // decimals

std::int64_t mib(std::int64_t bytes) {
  constexpr std::int64_t kMib = std::int64_t{1} << 20U;
  return bytes / kMib + (bytes % kMib != 0 ? 1 : 0);
}

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

// The g of "nvidia.com/mig-3g.20gb": sevenths of a GPU; 0 for other resources.
int sevenths_of(std::string_view name) {
  constexpr std::string_view kMig = "nvidia.com/mig-";
  if (!name.starts_with(kMig)) return 0;
  name.remove_prefix(kMig.size());
  const std::size_t g = name.find('g');
  const int sevenths =
      g == std::string_view::npos ? 0 : parse_number<int>(name.substr(0, g)).value_or(0);
  return std::clamp(sevenths, 0, 7);
}

// Adds up on how many chips a pod's accelerators can be at least, see CountedRequest.
class ChipsInUse {
 public:
  void add_whole(std::int64_t count) { devices_ += count; }
  void add_part(std::string_view name, std::int64_t count) {
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (has("percent") || has("ratio") || name == "koordinator.sh/gpu") return in_percent(count);
    if (has("mem")) return in_percent(1);
    if (has("core")) return in_percent(count);
    if (const int sevenths = sevenths_of(name); sevenths > 0) {
      sevenths_ += count * sevenths;
    } else {
      devices_ += count;
    }
  }
  int chips() const {
    const std::int64_t chips = std::max(devices_ + up(sevenths_, 7), up(percent_, 100));
    return static_cast<int>(std::min<std::int64_t>(chips, limits::kMaxChipsOfPod));
  }

 private:
  static std::int64_t up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }
  // Memory and cores are shares of the devices that the pod asks for beside them.
  void in_percent(std::int64_t count) { percent_ = std::max(percent_, count); }

  std::int64_t devices_ = 0;
  std::int64_t sevenths_ = 0;
  std::int64_t percent_ = 0;
};

// Sets what the pod asks for and what it uses if it is bound; `refused` is the first problem.
void count_chips(const codec::KubePod& pod, const ResourceTable& table, CountedRequest& counted) {
  PodRequest& request = counted.request;
  ChipsInUse in_use;
  const auto refuse = [&](const std::string& why) {
    if (counted.refused.empty()) counted.refused = why;
  };
  for (const std::string& name : codec::resource_names(pod)) {
    const bool whole = in(table.accelerators, name);
    if (!whole && !in(table.shared, name)) continue;
    const auto count = codec::count_resource(pod, name);
    if (!count) refuse(count.error().text());
    const std::int64_t used = count ? *count : 1;
    if (used == 0) continue;
    if (counted.used.resource.empty()) counted.used.resource = name;
    if (!whole) {
      in_use.add_part(name, used);
      counted.used.parts = true;
      refuse(name.substr(0, limits::kMaxNameBytes) +
             " is a fraction of a chip; only whole chips can be requested");
      continue;
    }
    in_use.add_whole(used);
    if (!request.resource.empty()) {
      refuse("asks for " + request.resource + " and " + name +
             "; a pod can request only one kind of accelerator");
    }
    if (used > limits::kMaxChipsOfPod) refuse(name + ": more chips than any supported machine has");
    if (request.resource.empty()) request.resource = name;
  }
  if (!request.resource.empty()) counted.used.resource = request.resource;
  counted.used.chips = in_use.chips();
  request.chips = counted.used.chips;
}

void read_identity(const codec::KubePod& pod, PodRequest& to) {
  to.key = {pod.ns, pod.name};
  to.uid = pod.uid;
  to.labels = {pod.labels.begin(), pod.labels.end()};
  to.annotations = {pod.annotations.begin(), pod.annotations.end()};
  if (!pod.gang.empty()) to.gang = pod.ns + "/" + pod.gang;
}

}  // namespace

CountedRequest count_request(const codec::KubePod& pod, const ResourceTable& table) {
  CountedRequest counted;
  PodRequest& request = counted.request;
  read_identity(pod, request);
  count_chips(pod, table, counted);
  if (counted.refused.empty() && request.chips > 0) counted.refused = read_group(request);
  if (counted.refused.empty() && request.chips > 0) counted.refused = read_wishes(request);
  if (request.chips > 0 && counted.refused.empty()) {
    for (const codec::ContainerCount& one : codec::count_by_container(pod, request.resource))
      request.containers.push_back(
          {std::string(one.container), static_cast<int>(one.count), one.init});
  }
  if (request.chips > 0) {
    const NodeUse use = use_of(pod);
    request.needs = solver::Room::needed(use.milli_cpu, mib(use.memory));
  }
  if (!counted.refused.empty()) {
    constexpr std::size_t kMaxRefusalBytes = 400;  // bytes; the message is repeated for every node
    counted.refused = with_dots(counted.refused, kMaxRefusalBytes);
    request.resource.clear();
    request.chips = 0;
  }
  const auto found = request.annotations.find("distributed-job");
  request.distributed = (found != request.annotations.end() && found->second == "true") ||
                        (request.group && request.group->replicas > 1);
  return counted;
}

std::shared_ptr<const GangMark> gang_mark_of(const codec::KubePod& pod) {
  PodRequest named;
  read_identity(pod, named);
  auto mark = gang_mark_of(named);
  if (mark) {
    mark->topology = codec::topology_of_pod(pod.labels, pod.annotations);
    if (mark->problem.empty()) mark->problem = mark->topology.problem;
  }
  return mark ? std::make_shared<const GangMark>(*std::move(mark)) : nullptr;
}

NodeUse use_of(const codec::KubePod& pod) {
  return {codec::amount_of_resource(pod, "cpu", kMilli),
          codec::amount_of_resource(pod, "memory", 0)};
}

OtherResources other_resources(const codec::KubePod& pod, const ResourceTable& table) {
  constexpr std::size_t kMaxNamed = 16;  // memory per pod
  OtherResources others;
  for (const std::string& name : codec::resource_names(pod)) {
    if (in(table.accelerators, name) || in(table.shared, name)) continue;
    const std::int64_t amount = codec::amount_of_resource(pod, name, name == "cpu" ? kMilli : 0);
    if (name == "cpu") {
      others.milli_cpu = amount;
    } else if (name == "memory") {
      others.memory = amount;
    } else if (name == "ephemeral-storage") {
      others.ephemeral_storage = amount;
    } else if (amount > 0 && others.named.size() < kMaxNamed) {
      others.named[name] = amount;
    }
  }
  return others;
}

}  // namespace chipweave::sched
