#include "scheduler-plugin/app/annotations.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

// The names that Ascend's stock components use for the chips of a resource, and the annotation with
// their addresses.
struct AscendNames {
  std::string_view resource;
  std::string_view chip_prefix;
  std::string_view configuration;
};
constexpr std::array<AscendNames, 4> kAscend{{
    {"huawei.com/Ascend910", "Ascend910-", "ascend.kubectl.kubernetes.io/ascend-910-configuration"},
    {"huawei.com/Ascend310", "Ascend310-", ""},
    {"huawei.com/Ascend310P", "Ascend310P-", ""},
    {"huawei.com/npu", "npu-", "ascend.kubectl.kubernetes.io/ascend-npu-configuration"},
}};

const AscendNames* ascend_names(std::string_view resource) {
  const auto* it = std::find_if(kAscend.begin(), kAscend.end(),
                                [&](const AscendNames& n) { return n.resource == resource; });
  return it == kAscend.end() ? nullptr : it;
}

int physical_id(const domain::Chip& chip) { return chip.physical_id.value_or(chip.index.value); }

// The container that has the chip; null if the pod has one container with chips only, or none has
// it after the init containers.
const std::string* container_of(const Decision& d, int index) {
  const auto has_chips = [](const ContainerChips& c) { return !c.init; };
  if (std::count_if(d.containers.begin(), d.containers.end(), has_chips) < 2) return nullptr;
  for (const ContainerChips& one : d.containers) {
    if (!one.init && std::binary_search(one.indices.begin(), one.indices.end(), index))
      return &one.container;
  }
  return nullptr;
}

std::string placement_json(const Decision& d, const Node& node) {
  JsonWriter w;
  w.begin_object().key("v").integer(1).field("node", node.name).field("podUid", d.uid);
  w.field("resource", d.resource).key("chips").begin_array();
  for (const int slot : d.chips) {
    const domain::Chip& chip = node.topology.chip(slot);
    w.begin_object().key("index").integer(chip.index.value).field("id", chip.id);
    if (!chip.device_ips.empty()) w.field("ip", chip.device_ips.front());
    if (const std::string* of = container_of(d, chip.index.value)) w.field("container", *of);
    w.end_object();
  }
  w.end_array().key("gbps").number(d.gbps);
  if (d.gang != nullptr) {
    w.key("gang").begin_object().field("name", d.pod.ns + "/" + d.gang->name);
    w.field("plan", d.gang->plan).key("rank").integer(d.gang->rank);
    w.key("size").integer(d.gang->size).key("path").strings(d.gang->path).end_object();
  }
  w.field("decision", d.id).field("time", rfc3339(d.time)).end_object();
  return w.take();
}

// Physical ids, ascending.
std::vector<const domain::Chip*> by_physical_id(const Node& node, ChipSet chips) {
  std::vector<const domain::Chip*> list;
  for (const int slot : chips) list.push_back(&node.topology.chip(slot));
  std::stable_sort(list.begin(), list.end(),
                   [](const auto* a, const auto* b) { return physical_id(*a) < physical_id(*b); });
  return list;
}

// nullopt unless the address of every chip is known: half a table would start a job that cannot
// connect.
std::optional<std::string> ascend_configuration(const Decision& d, const Node& node) {
  const auto chips = by_physical_id(node, d.chips);
  for (const auto* chip : chips) {
    if (chip->device_ips.empty()) return std::nullopt;
  }
  JsonWriter w;
  w.begin_object()
      .field("pod_name", d.pod.name)
      .field("server_id", d.uid)
      .key("devices")
      .begin_array();
  for (const auto* chip : chips) {
    w.begin_object().field("device_id", std::to_string(physical_id(*chip)));
    w.field("device_ip", chip->device_ips.front());
    if (chip->super_device_id) w.field("super_device_id", std::to_string(*chip->super_device_id));
    w.end_object();
  }
  w.end_array().end_object();
  return w.take();
}

void add_ascend(const AscendNames& names, const Decision& d, const Node& node, Annotations& to) {
  std::string chips;
  for (const auto* chip : by_physical_id(node, d.chips)) {
    if (!chips.empty()) chips += ',';
    chips += std::string(names.chip_prefix) + std::to_string(physical_id(*chip));
  }
  to[std::string(names.resource)] = chips;
  to["predicate-time"] = std::to_string(d.predicate_time);
  to["distributed-job"] = d.distributed ? "true" : "false";
  if (names.configuration.empty()) return;
  if (auto json = ascend_configuration(d, node))
    to[std::string(names.configuration)] = *std::move(json);
}

}  // namespace

Annotations annotations_of(const GangPlace& place, const std::string& node) {
  JsonWriter w;
  w.begin_object().key("v").integer(1).field("plan", place.plan);
  w.key("rank").integer(place.rank).key("size").integer(place.size);
  w.field("node", node).key("path").strings(place.path).end_object();
  return {{kGangPlanAnnotation, w.take()}, {kRankAnnotation, std::to_string(place.rank)}};
}

Annotations annotations_of(const Decision& d, const Node& node) {
  Annotations to;
  to[kPlacementAnnotation] = placement_json(d, node);
  if (d.gang != nullptr) to[kRankAnnotation] = std::to_string(d.gang->rank);
  if (const AscendNames* names = ascend_names(d.resource)) add_ascend(*names, d, node, to);
  if (d.resource == "aliyun.com/gpu") {
    to["topology.kubernetes.io/gpu-group"] = comma_list(node.topology.indices(d.chips));
    to["topology.kubernetes.io/gpu-visible"] =
        comma_list(node.topology.indices(d.chips | d.beside));
  }
  return to;
}

GangPlace place_of(const GangPlans::Where& at, const std::string& node, const Network& network) {
  GangPlace out;
  out.name = at.plan->name;
  out.plan = at.plan->id;
  out.rank = at.rank();
  out.size = static_cast<int>(at.plan->slots.size());
  out.path = network.path_of(node);
  if (!out.path.empty() && out.path.back() == node) out.path.pop_back();
  return out;
}

}  // namespace chipweave::sched
