#include "scheduler-plugin/kube/attribution.hpp"

#include <algorithm>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/pod/placement.hpp"
#include "scheduler-plugin/app/annotations.hpp"

namespace chipweave::sched {
namespace {

Result<Placement> own(const std::string& json) {
  auto note = codec::read_placement(json);
  if (!note) return std::move(note).error();
  Placement p;
  p.node = std::move(note->node);
  p.uid = std::move(note->pod_uid);
  p.resource = std::move(note->resource);
  p.chips = std::move(note->chips);
  p.gbps = note->gbps;
  p.decision = std::move(note->decision);
  p.time = Clock::Wall(std::chrono::seconds(note->time));
  return p;
}

// "0,3", or "Ascend910-0,Ascend910-3". Empty if it is anything else.
std::vector<int> read_list(std::string_view text, std::string_view prefix) {
  std::vector<int> chips;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!one.starts_with(prefix)) return {};
    one.remove_prefix(prefix.size());
    const auto index = parse_number<int>(one);
    if (!index || *index < 0 || *index > limits::kMaxChipIndex ||
        chips.size() >= limits::kMaxChips) {
      return {};
    }
    chips.push_back(*index);
  }
  std::sort(chips.begin(), chips.end());
  if (std::adjacent_find(chips.begin(), chips.end()) != chips.end()) return {};
  return chips;
}

std::vector<int> others(const codec::KubePod& pod, const PodRequest& request) {
  const bool ascend = request.resource.starts_with("huawei.com/");
  const std::string key = ascend ? request.resource : "topology.kubernetes.io/gpu-group";
  const auto found = pod.annotations.find(key);
  if (found == pod.annotations.end()) return {};
  if (!ascend) return read_list(found->second, "");
  const std::string kind = request.resource.substr(request.resource.find('/') + 1);
  return read_list(found->second, kind + "-");
}

}  // namespace

std::optional<Placement> placement_of(const codec::KubePod& pod, const ClusterPod& counted) {
  const PodRequest& request = counted.request;
  if (request.chips == 0 || pod.node_name.empty()) return std::nullopt;
  const auto found = pod.annotations.find(kPlacementAnnotation);
  if (found != pod.annotations.end()) {
    auto placement = own(found->second);
    if (!placement || !can_be_of(*placement, counted)) return std::nullopt;
    return std::move(*placement);
  }
  if (counted.parts) return std::nullopt;
  std::vector<int> chips = others(pod, request);
  if (chips.empty()) return std::nullopt;
  Placement p;
  p.node = pod.node_name;
  p.uid = pod.uid;
  p.resource = request.resource;
  p.chips = std::move(chips);
  return can_be_of(p, counted) ? std::optional(std::move(p)) : std::nullopt;
}

bool is_foreign(const std::string& placement, const ClusterPod& pod) {
  const auto read = own(placement);
  return read ? !can_be_of(*read, pod) : read.error().code == Errc::invalid_argument;
}

}  // namespace chipweave::sched
