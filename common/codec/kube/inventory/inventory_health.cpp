#include "common/codec/kube/inventory/inventory_health.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/rfc3339_time.hpp"
#include "common/codec/topology/topology_json_reader.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using domain::kHeldUntilReset;
using domain::kLatestFaultTime;
using domain::kMaxFaultTextBytes;
using domain::kMaxReportedFaults;
using domain::RememberedFault;

std::string time_of(std::int64_t unix_ms) {
  return rfc3339(Clock::Wall(std::chrono::duration_cast<Clock::Wall::duration>(
      std::chrono::milliseconds(std::clamp<std::int64_t>(unix_ms, 0, kLatestFaultTime)))));
}

std::string short_text(const std::string& text) { return with_dots(text, kMaxFaultTextBytes); }

void write_text(JsonWriter& w, const char* key, const std::string& text) {
  if (!text.empty()) w.field(key, short_text(text));
}

void write_fault(JsonWriter& w, const Fault& fault, const domain::NodeTopology& topology) {
  w.begin_object().field("code", short_text(fault.code)).field("effect", to_string(fault.effect));
  if (fault.chip) {
    w.key("chip").integer(fault.chip->value);
    const auto slot = topology.slot_of(*fault.chip);
    if (slot) write_text(w, "chipId", topology.chip(*slot).id);
  }
  if (fault.peer) w.key("peer").integer(fault.peer->value);
  if (fault.port) w.key("port").integer(*fault.port);
  write_text(w, "part", fault.part);
  if (fault.lanes > 0) w.key("lanes").integer(fault.lanes);
  write_text(w, "text", fault.text);
  // Milliseconds in addition to the human-readable time, so that reading back is exact.
  w.field("since", time_of(fault.since)).key("sinceMs").integer(fault.since);
  if (fault.held_until == kHeldUntilReset) w.key("untilReset").boolean(true);
  if (fault.held_until > 0) w.field("heldUntil", time_of(fault.held_until));
  w.end_object();
}

void write_conditions(JsonWriter& w, const NodeInventory& inventory) {
  w.key("conditions").begin_array();
  for (const domain::Condition& condition : inventory.conditions) {
    w.begin_object().field("type", condition.type);
    w.field("status", condition.holds ? "True" : "False").field("reason", condition.reason);
    w.field("message", with_dots(condition.message, 4 * kMaxFaultTextBytes));
    w.field("lastTransitionTime", time_of(condition.since)).end_object();
  }
  w.end_array();
}

void write_neighbours(JsonWriter& w, const NodeInventory& inventory) {
  w.key("neighbours").begin_array();
  std::size_t written = 0;
  for (const domain::Neighbour& neighbour : inventory.neighbours) {
    if (written++ == kMaxReportedNeighbours) break;
    w.begin_object();
    write_text(w, "nic", neighbour.nic);
    if (neighbour.chip) w.key("chip").integer(neighbour.chip->value);
    write_text(w, "system", neighbour.system);
    write_text(w, "port", neighbour.port);
    write_text(w, "address", neighbour.address);
    w.end_object();
  }
  w.end_array();
}

void write_facts(JsonWriter& w, const NodeInventory& inventory) {
  if (inventory.facts.empty()) return;
  w.key("facts").begin_object();
  std::size_t written = 0;
  for (const auto& [name, value] : inventory.facts) {
    if (written++ == kMaxReportedFacts) break;
    w.field(short_text(name), short_text(value));
  }
  w.end_object();
}

RememberedFault read_fault(JsonValue value, JsonProblems& problems) {
  const JsonObject o(value,
                     {"code", "effect", "chip", "chipId", "peer", "port", "part", "lanes", "text",
                      "since", "sinceMs", "untilReset", "heldUntil"},
                     problems);
  const auto chip = [&o](const char* key) -> std::optional<ChipIndex> {
    const auto index = o.integer(key, 0, limits::kMaxChipIndex);
    return index ? std::optional(ChipIndex{*index}) : std::nullopt;
  };
  Fault out;
  out.code = o.require_text("code").value_or("");
  const std::string effect = o.require_text("effect").value_or("");
  for (const Effect one : {Effect::note, Effect::link, Effect::network, Effect::unusable}) {
    if (effect == to_string(one)) out.effect = one;
  }
  out.chip = chip("chip");
  out.peer = chip("peer");
  out.port = o.integer("port", 0, limits::kMaxChipIndex);
  out.part = o.text_or_empty("part");
  out.lanes = o.integer("lanes", 0, limits::kMaxLanes).value_or(0);
  out.text = o.text_or_empty("text");
  out.since = o.require_integer("sinceMs", 0, kLatestFaultTime).value_or(0);
  if (o.flag("untilReset").value_or(false)) out.held_until = kHeldUntilReset;
  if (const auto until = o.text("heldUntil"); until && out.held_until == 0) {
    out.held_until = 1000 * seconds_of(*until);
  }
  return {std::move(out), o.text_or_empty("chipId")};
}

// The list `faults` of a status.
Result<std::vector<RememberedFault>> read_faults(JsonValue status) {
  std::vector<RememberedFault> out;
  if (!status.is_object()) return out;
  JsonProblems problems(status, "status");
  const JsonObject o = JsonObject::tolerant(status, problems);
  for (const JsonValue fault : o.array("faults", kMaxReportedFaults)) {
    out.push_back(read_fault(fault, problems));
  }
  if (problems.any()) return problems.error();
  return out;
}

domain::CarriedPeaks read_carried(JsonValue status) {
  domain::CarriedPeaks out;
  const JsonValue list = status["carried"];
  if (!list.is_array()) return out;
  for (const JsonValue one : list) {
    const auto chip = one["chip"].integer();
    const auto gbps = one["gbps"].number();
    if (out.size() == static_cast<std::size_t>(limits::kMaxChips) || !chip || !gbps) continue;
    if (*chip < 0 || *chip > limits::kMaxChipIndex) continue;
    if (*gbps < 0 || *gbps > domain::kMaxCarriedGbps) continue;
    out.emplace(ChipIndex{static_cast<int>(*chip)}, *gbps);
  }
  return out;
}

std::map<std::string, std::string> read_facts(JsonValue status) {
  std::map<std::string, std::string> out;
  const JsonValue facts = status["facts"];
  if (!facts.is_object()) return out;
  for (const JsonValue fact : facts) {
    if (fact.is_string() && out.size() < kMaxReportedFacts) out.emplace(fact.name(), fact.text());
  }
  return out;
}

void write_carried(JsonWriter& w, const domain::CarriedPeaks& carried) {
  w.key("carried").begin_array();
  for (const auto& [chip, gbps] : carried) {
    w.begin_object().key("chip").integer(chip.value).key("gbps").number(gbps).end_object();
  }
  w.end_array();
}

void write_given(JsonWriter& w, const domain::GivenChips& given) {
  w.key("given").begin_object();
  if (given.unknown_devices > 0) w.key("unknownDevices").integer(given.unknown_devices);
  w.key("containers").begin_array();
  std::size_t written = 0;
  for (const domain::GivenChips::Container& one : given.containers) {
    if (written++ == domain::kMaxGivenContainers) break;
    w.begin_object();
    write_text(w, "podUid", one.pod_uid);
    write_text(w, "namespace", one.ns);
    write_text(w, "pod", one.pod);
    write_text(w, "container", one.name);
    write_text(w, "resource", one.resource);
    w.key("chips").begin_array();
    for (const ChipIndex chip : one.chips) w.integer(chip.value);
    w.end_array();
    if (one.parts) w.key("parts").boolean(true);
    w.end_object();
  }
  w.end_array().end_object();
}

// Ascending, each once; empty: not all of them are chips.
std::vector<ChipIndex> read_given_chips(JsonValue list) {
  std::vector<ChipIndex> out;
  for (const JsonValue one : list) {
    const auto chip = one.integer();
    if (!chip || *chip < 0 || *chip > limits::kMaxChipIndex) return {};
    if (out.size() == static_cast<std::size_t>(limits::kMaxChips)) return {};
    out.push_back(ChipIndex{static_cast<int>(*chip)});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Without containers that say neither whose they are nor which chips they have.
std::optional<domain::GivenChips> read_given(JsonValue status) {
  const JsonValue given = status["given"];
  if (!given.is_object()) return std::nullopt;
  domain::GivenChips out;
  out.unknown_devices = static_cast<int>(std::clamp<std::int64_t>(
      given["unknownDevices"].integer().value_or(0), 0, domain::kMaxUnknownDevices));
  for (const JsonValue one : given["containers"]) {
    if (out.containers.size() == domain::kMaxGivenContainers) break;
    const auto text = [&one](const char* key) { return short_text(std::string(one[key].text())); };
    domain::GivenChips::Container container{text("podUid"),
                                            text("namespace"),
                                            text("pod"),
                                            text("container"),
                                            text("resource"),
                                            read_given_chips(one["chips"]),
                                            one["parts"].boolean().value_or(false)};
    if (container.chips.empty() || (container.pod_uid.empty() && container.pod.empty())) continue;
    out.containers.push_back(std::move(container));
  }
  std::sort(out.containers.begin(), out.containers.end());
  return out;
}

Result<JsonTree> parse_bounded(std::string_view text, const char* what) {
  if (text.size() > limits::kMaxKubeObjectBytes) {
    return make_error(Errc::limit_exceeded, std::string(what) + " is too large");
  }
  return parse_json(text);
}

}  // namespace

void write_inventory_health(JsonWriter& w, const NodeInventory& inventory) {
  if (!inventory.node_boot_id.empty()) w.field("nodeBootId", inventory.node_boot_id);
  if (!inventory.faults.empty()) {
    w.key("faults").begin_array();
    const std::size_t written = std::min(inventory.faults.size(), kMaxReportedFaults);
    for (std::size_t i = 0; i < written; ++i)
      write_fault(w, inventory.faults[i], inventory.topology);
    w.end_array();
  }
  if (!inventory.conditions.empty()) write_conditions(w, inventory);
  if (!inventory.neighbours.empty()) write_neighbours(w, inventory);
  write_facts(w, inventory);
  if (!inventory.carried.empty()) write_carried(w, inventory.carried);
  if (inventory.given) write_given(w, *inventory.given);
  if (inventory.enforcement != domain::Enforcement::none)
    w.field("enforcement", domain::name_of(inventory.enforcement));
  if (inventory.enforcement == domain::Enforcement::device_plugin)
    w.field("gate", inventory.gate_open ? "open" : "closed");
}

InventoryMemory read_object_memory(std::string_view object, std::string_view node_boot_id) {
  InventoryMemory out;
  const auto document = parse_bounded(object, "the object");
  if (!document) {
    out.problems.push_back(document.error().text());
    return out;
  }
  const JsonValue status = JsonValue(*document)["status"];
  if (!status.is_object()) return out;
  const JsonValue boot = status["nodeBootId"];
  out.node.same_boot = boot.is_string() && !node_boot_id.empty() && boot.text() == node_boot_id;
  if (const JsonValue machine = status["machine"]; machine.is_string()) {
    out.node.machine = short_text(std::string(machine.text()));
  }
  out.node.facts = read_facts(status);
  auto faults = read_faults(status);
  if (!faults) out.problems.push_back(faults.error().text());
  out.node.faults = std::move(faults).value_or({});
  const JsonValue topology = status["topology"];
  if (!topology.is_object()) return out;
  auto read = TopologyReader(ImportOptions{}).read(topology);
  if (read) {
    out.node.topology = std::move(read).value();
  } else {
    out.problems.push_back(std::move(read).error().in("status.topology").text());
  }
  return out;
}

StatusDetails read_status_details(std::string_view status) {
  StatusDetails out{std::vector<Fault>(), {}, {}, {}, false};
  const auto says = [status](const char* key) {
    return status.find(key) != std::string_view::npos;
  };
  if (!says("\"faults\"") && !says("\"carried\"") && !says("\"given\"") && !says("\"enforcement\""))
    return out;
  const auto document = parse_bounded(status, "the status");
  if (!document) {
    out.faults = document.error();
    return out;
  }
  const JsonValue root(*document);
  auto read = read_faults(root);
  if (read) {
    for (RememberedFault& one : *read) out.faults->push_back(std::move(one.fault));
  } else {
    out.faults = std::move(read).error();
  }
  out.carried = read_carried(root);
  out.given = read_given(root);
  if (const JsonValue how = root["enforcement"]; how.is_string())
    out.enforcement = domain::enforcement_of(how.text()).value_or(domain::Enforcement::none);
  const JsonValue gate = root["gate"];
  out.gate_open = gate.is_string() && gate.text() == "open";
  return out;
}

Result<ReportedHealth> read_status_health(std::string_view status) {
  const auto document = parse_bounded(status, "the status");
  if (!document) return document.error();
  const JsonValue root(*document);
  auto read = read_faults(root);
  if (!read) return std::move(read).error();
  ReportedHealth out;
  for (RememberedFault& one : *read) {
    if (one.fault.held_until != kHeldUntilReset) one.fault.held_until = 0;
    out.faults.push_back(std::move(one.fault));
  }
  out.facts = read_facts(root);
  return out;
}

}  // namespace chipweave::codec
