#include <algorithm>
#include <climits>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/topology/topology_json_reader.hpp"
#include "common/domain/link_rates.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

const std::vector<std::string_view> kRuleKinds = {"any",
                                                  "ascend-910a-module",
                                                  "ascend-910a-half",
                                                  "ascend-910b-16",
                                                  "ascend-a3",
                                                  "ascend-310-card",
                                                  "ascend-310-chip",
                                                  "ascend-310p-card",
                                                  "ascend-310p-chip",
                                                  "ascend-a5-mesh4"};
const std::vector<std::string_view> kHealths = {"healthy", "network_unhealthy", "unhealthy"};

int group_size_of(domain::RuleKind kind) {
  switch (kind) {
    case domain::RuleKind::any:
      return 1;
    case domain::RuleKind::ascend_910b_16:
      return 8;
    case domain::RuleKind::ascend_a3:
    case domain::RuleKind::ascend_310p_card:
    case domain::RuleKind::ascend_310p_chip:
      return 2;
    case domain::RuleKind::ascend_910a_module:
    case domain::RuleKind::ascend_910a_half:
    case domain::RuleKind::ascend_310_card:
    case domain::RuleKind::ascend_310_chip:
    case domain::RuleKind::ascend_a5_mesh4:
      return 4;
  }
  return 1;
}

}  // namespace

Result<domain::NodeTopology> TopologyReader::read(JsonValue document) {
  document_ = document;
  problems_ = JsonProblems(document);
  const JsonObject top(
      document,
      {"vendor", "model", "name", "source", "p2p", "host_gbps", "rule", "chips", "links",
       "switches", "nics", "partitions", "super_pod", "meshes", "host_groups"},
      problems_);
  if (!top) return problems_.error();
  builder_.vendor = top.text_or_empty("vendor");
  builder_.model = top.text_or_empty("model");
  if (!options_.model.empty()) builder_.model = options_.model;
  top.text("name");  // for people; its type is still checked
  builder_.p2p = top.flag("p2p").value_or(true);
  read_host_gbps(top);
  read_rule(top);
  read_super_pod(top);
  read_chips(top);
  if (!problems_.any()) {
    read_links(top);
    read_meshes(top);
    read_host_groups(top);
    read_switches(top);
    read_nics(top);
    read_partitions(top);
  }
  if (problems_.any()) return problems_.error();
  return std::move(builder_).build();
}

std::optional<LinkKind> TopologyReader::parse_kind(JsonValue text,
                                                   const std::vector<std::string_view>& allowed) {
  const std::string_view name = text.text();
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) {
    return domain::parse_link_kind(name);
  }
  if (name == "NVSWITCH") {
    problems_.add(text, "NVSWITCH joins chips to a switch: describe it under \"switches\"");
  } else if (name == "SELF") {
    problems_.add(text, "SELF is the path of a chip to itself, which is not listed");
  } else {
    problems_.add(text, unknown_name("kind", name, allowed));
  }
  return std::nullopt;
}

std::optional<LinkKind> TopologyReader::kind_of(const JsonObject& o,
                                                const std::vector<std::string_view>& allowed) {
  return o.require_text("kind") ? parse_kind(o.find("kind"), allowed) : std::nullopt;
}

std::optional<int> TopologyReader::known_chip(JsonValue value) {
  const auto index = as_integer(value, 0, limits::kMaxChipIndex, problems_);
  if (!index || chips_.count(*index) > 0) return index;
  problems_.add(value, "the machine has no chip " + std::to_string(*index));
  return std::nullopt;
}

std::vector<int> TopologyReader::chip_list(JsonValue value) {
  std::vector<int> out;
  if (!value.is_array() || value.empty() || value.size() > chips_.size()) {
    problems_.add(value,
                  "must be a list of 1 to " + std::to_string(chips_.size()) + " chip indices");
    return out;
  }
  bool good = true;
  for (const JsonValue item : value) {
    const auto chip = known_chip(item);
    good = good && chip.has_value();
    if (!chip) continue;
    if (std::find(out.begin(), out.end(), *chip) != out.end()) {
      problems_.add(item, "chip " + std::to_string(*chip) + " is named twice");
      good = false;
    }
    out.push_back(*chip);
  }
  return good ? out : std::vector<int>{};
}

std::optional<double> TopologyReader::rate_of(const JsonObject& o, std::string_view key) {
  const auto rate = o.number(key);
  if (rate && !(*rate > 0 && *rate <= limits::kMaxGbps)) {
    o.problem(key, "must be above 0 and at most 100000 (GB/s)");
    return std::nullopt;
  }
  return rate;
}

void TopologyReader::read_host_gbps(const JsonObject& top) {
  const JsonValue value = top.find("host_gbps");
  if (!value) return;
  const JsonObject o(value, {"BOARD", "PIX", "PXB", "PHB", "NODE", "SYS"}, problems_);
  domain::HostBandwidth host = domain::default_host_bandwidth(builder_.model);
  host.board = rate_of(o, "BOARD").value_or(host.board);
  host.pix = rate_of(o, "PIX").value_or(host.pix);
  host.pxb = rate_of(o, "PXB").value_or(host.pxb);
  host.phb = rate_of(o, "PHB").value_or(host.phb);
  host.node = rate_of(o, "NODE").value_or(host.node);
  host.sys = rate_of(o, "SYS").value_or(host.sys);
  builder_.host_bandwidth = host;
}

void TopologyReader::read_rule(const JsonObject& top) {
  const JsonValue value = top.find("rule");
  if (!value) return;
  const JsonObject o(value, {"kind", "group"}, problems_);
  const auto name = o.require_text("kind");
  const auto group = o.integer("group", 1, limits::kMaxChips);
  if (!name) return;
  const auto kind = domain::parse_rule_kind(*name);
  if (!kind) {
    o.problem("kind", unknown_name("rule", *name, kRuleKinds));
    return;
  }
  builder_.rule = domain::PlacementRule{*kind, group.value_or(group_size_of(*kind))};
}

void TopologyReader::read_super_pod(const JsonObject& top) {
  const JsonValue value = top.find("super_pod");
  if (!value) return;
  const JsonObject o(value, {"id", "server_index"}, problems_);
  domain::SuperPod pod;
  if (const JsonValue id = o.find("id"); id.is_integer()) {
    pod.id = id.raw();
  } else {
    pod.id = o.require_text("id").value_or("");
  }
  pod.server_index = o.integer("server_index", 0, INT_MAX).value_or(-1);
  builder_.super_pod = std::move(pod);
}

void TopologyReader::read_chips(const JsonObject& top) {
  const JsonValue value = top.find("chips");
  if (!value) return top.problem("chips", "is missing: a list of chips, or their number");
  if (value.is_number()) {
    const auto count = as_integer(value, 1, limits::kMaxChips, problems_);
    for (int i = 0; i < count.value_or(0); ++i) {
      domain::Chip chip;
      chip.index = ChipIndex{i};
      chips_.insert(i);
      builder_.add_chip(std::move(chip));
    }
    return;
  }
  const JsonValue list = top.array("chips", static_cast<std::size_t>(limits::kMaxChips));
  if (list.is_array() && list.empty()) {
    problems_.add(list, "must list at least one chip");
  }
  for (const JsonValue chip : list) read_chip(chip);
}

void TopologyReader::read_chip(JsonValue value) {
  const JsonObject o(value,
                     {"index", "id", "uuid", "model", "pci", "numa", "memory_bytes", "device_ips",
                      "physical_id", "logical_id", "super_device_id", "health"},
                     problems_);
  domain::Chip chip;
  const auto index = o.require_integer("index", 0, limits::kMaxChipIndex);
  if (index) {
    chip.index = ChipIndex{*index};
    if (!chips_.insert(chip.index.value).second) {
      o.problem("index", "two chips have index " + std::to_string(*index));
    }
  }
  if (o.has("id") && o.has("uuid"))
    problems_.add(value, "\"id\" and \"uuid\" are the same: give one");
  chip.id = o.text(o.has("uuid") ? "uuid" : "id").value_or("");
  chip.model = o.text_or_empty("model");
  chip.pci = lower_case(o.text_or_empty("pci"));
  chip.numa = o.integer("numa", -1, limits::kMaxNumaNode).value_or(-1);
  chip.memory_bytes =
      static_cast<std::uint64_t>(o.integer("memory_bytes", 0, INT64_MAX).value_or(0));
  chip.device_ips = o.texts("device_ips", 64);
  chip.physical_id = o.integer("physical_id", 0, INT_MAX);
  chip.logical_id = o.integer("logical_id", 0, INT_MAX);
  chip.super_device_id = o.integer("super_device_id", 0, UINT32_MAX);
  if (const auto health = o.text("health")) {
    const auto it = std::find(kHealths.begin(), kHealths.end(), *health);
    if (it == kHealths.end()) {
      o.problem("health", unknown_name("health", *health, kHealths));
    } else {
      chip.health = static_cast<domain::Health>(it - kHealths.begin());
    }
  }
  builder_.add_chip(std::move(chip));
}

bool looks_like_topology_json(std::string_view content) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.substr(0, kBom.size()) == kBom) content.remove_prefix(kBom.size());
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && content[start] == '{';
}

Result<ImportedTopology> import_topology_json(std::string_view content,
                                              const ImportOptions& options) {
  const Result<JsonTree> document = parse_json(content);
  if (!document) return document.error();
  return TopologyReader(options).read(JsonValue(*document)).transform([](auto topology) {
    return ImportedTopology{std::move(topology), "chipweave-json", {}};
  });
}

}  // namespace chipweave::codec
