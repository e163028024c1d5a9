#include "common/codec/kube/objects/gang_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kPlanVersion = 1;

void write_slot(JsonWriter& w, const GangPlanSlot& slot) {
  w.begin_object();
  if (!slot.role.empty()) w.field("role", slot.role);
  if (slot.index) w.field("index", *slot.index);
  w.field("chips", slot.chips);
  if (!slot.uid.empty()) w.field("uid", slot.uid);
  if (!slot.node.empty()) w.field("node", slot.node);
  if (!slot.indices.empty()) w.key("indices").integers(slot.indices);
  w.end_object();
}

std::string short_text(const JsonObject& object, std::string_view key, std::size_t most) {
  std::string text = object.text_or_empty(key);
  if (object.has(key) && text.empty()) object.problem(key, "is empty: leave it out");
  if (text.size() > most) object.problem(key, "is longer than " + std::to_string(most) + " bytes");
  return text;
}

GangPlanSlot read_slot(JsonValue value, JsonProblems& problems) {
  GangPlanSlot out;
  const JsonObject slot(value, {"role", "index", "chips", "uid", "node", "indices"}, problems);
  if (!slot) return out;
  out.role = short_text(slot, "role", limits::kMaxNameBytes);
  out.index = slot.integer("index", 0, limits::kMaxGangPods);
  out.chips = slot.require_integer("chips", 0, limits::kMaxChipsOfPod).value_or(0);
  out.uid = short_text(slot, "uid", limits::kMaxUidBytes);
  out.node = short_text(slot, "node", limits::kMaxNameBytes);
  if (!out.node.empty() && !is_dns_subdomain(out.node))
    slot.problem("node", "is not a valid node name");
  for (const JsonValue each : slot.array("indices", limits::kMaxChips))
    out.indices.push_back(as_integer(each, 0, limits::kMaxChipIndex, problems).value_or(0));
  if (slot.has("indices") && out.indices.empty()) slot.problem("indices", "expected some chips");
  const bool ascending = std::adjacent_find(out.indices.begin(), out.indices.end(),
                                            std::greater_equal<>()) == out.indices.end();
  if (!ascending) slot.problem("indices", "must be ascending");
  if (!out.indices.empty() && out.node.empty()) slot.problem("indices", "need a node");
  return out;
}

void check_uids(const GangPlanText& plan, JsonValue slots, JsonProblems& problems) {
  std::set<std::string_view> seen;
  for (const GangPlanSlot& slot : plan.slots) {
    if (slot.uid.empty() || seen.insert(slot.uid).second) continue;
    return problems.add(slots, "two slots have the pod " + slot.uid);
  }
}

}  // namespace

Result<std::string> write_gang_plan(const GangPlanText& plan) {
  JsonWriter w;
  w.begin_object().field("v", kPlanVersion).field("gang", plan.gang).field("plan", plan.plan);
  w.key("slots").begin_array();
  for (const GangPlanSlot& slot : plan.slots) write_slot(w, slot);
  w.end_array().end_object();
  std::string text = w.take();
  if (text.size() > kMaxGangPlanBytes) {
    return make_error(Errc::limit_exceeded, "the plan of gang " + plan.gang + " with " +
                                                std::to_string(plan.slots.size()) + " pods has " +
                                                std::to_string(text.size()) + " bytes; at most " +
                                                std::to_string(kMaxGangPlanBytes) + " are stored");
  }
  // The next process must be able to read it.
  auto again = read_gang_plan(text);
  if (!again) return make_error(Errc::invalid_argument, again.error().text());
  if (!(*again == plan))
    return make_error(Errc::invalid_argument,
                      "the plan of gang " + plan.gang + " has texts that are not UTF-8");
  return text;
}

Result<GangPlanText> read_gang_plan(std::string_view text) {
  auto document = parse_json(text, {kMaxGangPlanBytes, limits::kMaxJsonValues});
  if (!document) return std::move(document).error();
  // The version alone first: a later one may have any other keys.
  const JsonValue version = JsonValue(*document)["v"];
  if (version.is_integer() && version.integer() != kPlanVersion) {
    return make_error(Errc::unsupported,
                      "v: it has version " + std::string(version.text().substr(0, 20)) +
                          ", and this scheduler reads version " + std::to_string(kPlanVersion));
  }
  JsonProblems problems{JsonValue(*document)};
  const JsonObject root(JsonValue(*document), {"v", "gang", "plan", "slots"}, problems);
  if (!root) return problems.error();
  root.require_integer("v", kPlanVersion, kPlanVersion);
  GangPlanText out;
  root.require("gang");
  root.require("plan");
  out.gang = short_text(root, "gang", limits::kMaxFactBytes);
  out.plan = short_text(root, "plan", limits::kMaxLabelBytes);
  const JsonValue slots = root.require("slots");
  const auto most = static_cast<std::size_t>(limits::kMaxGangPods);
  for (const JsonValue each : root.array("slots", most))
    out.slots.push_back(read_slot(each, problems));
  check_uids(out, slots, problems);
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec
