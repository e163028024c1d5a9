#include "common/codec/gang/plan_codec.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/network_reader.hpp"
#include "common/codec/near_names.hpp"

namespace chipweave::codec {
namespace {

constexpr int kMostChips = 1 << 20;

// What `network import` prints of a node beside its name and path does no harm here.
void read_nodes(const JsonObject& network, PlanRequest& out) {
  JsonProblems& problems = network.problems();
  const Json* list = network.array("nodes", limits::kMaxPlanNodes);
  if (list == nullptr) {
    if (!network.has("nodes")) problems.add(network.path("nodes"), "is missing");
    return;
  }
  std::unordered_set<std::string> names;
  out.nodes.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonObject node((*list)[i], network.path("nodes") + "[" + std::to_string(i) + "]",
                          {"name", "path", "free", "max_pods", "healthy", "rails", "accelerator"},
                          problems);
    if (!(*list)[i].is_object()) continue;
    PlanNode& to = out.nodes.emplace_back();
    to.name = node.require_text("name").value_or("");
    if (!names.insert(to.name).second)
      problems.add(node.path("name"), "is a node that was named before");
    if (const Json* path = node.find("path"))
      to.path = read_path(*path, node.path("path"), out.levels.size(), problems);
    to.free = static_cast<int>(node.integer("free", 0, kMostChips).value_or(0));
    to.max_pods = static_cast<int>(node.integer("max_pods", 0, limits::kMaxGangPods).value_or(-1));
    to.healthy = node.flag("healthy").value_or(true);
  }
}

// kNoLevel where there is none, or it is wrong.
int read_level(const JsonObject& object, std::string_view key,
               const std::vector<std::string>& levels) {
  const auto name = object.text(key);
  if (!name) return domain::kNoLevel;
  const auto at = std::find(levels.begin(), levels.end(), *name);
  if (at != levels.end()) return static_cast<int>(at - levels.begin());
  object.problems().add(object.path(key), "is no level of the network" +
                                              did_you_mean(*name, {levels.begin(), levels.end()}));
  return domain::kNoLevel;
}

std::vector<domain::Slice> read_slices(const JsonObject& gang, const PlanRequest& request) {
  std::vector<domain::Slice> out;
  JsonProblems& problems = gang.problems();
  const Json* list = gang.array("slices", limits::kMaxNetworkLevels);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject item((*list)[i], gang.path("slices") + "[" + std::to_string(i) + "]",
                          {"level", "size"}, problems);
    if (!(*list)[i].is_object()) continue;
    if (!item.has("level")) problems.add(item.path("level"), "is missing");
    const int level = read_level(item, "level", request.levels);
    const auto size = item.require_integer("size", 1, limits::kMaxGangPods);
    if (level == domain::kNoLevel || !size) continue;
    if (level < request.gang.required_level)
      problems.add(item.path("level"),
                   "is above required_level: such a domain holds the whole gang");
    if (std::any_of(out.begin(), out.end(), [&](const auto& s) { return s.level == level; }))
      problems.add(item.path("level"), "is a level that was named before");
    out.push_back({level, static_cast<int>(*size)});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.level < b.level; });
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i - 1].size % out[i].size != 0)
      problems.add(gang.path("slices"), "size " + std::to_string(out[i].size) +
                                            " does not divide " + std::to_string(out[i - 1].size) +
                                            ", that of a level above it");
  }
  return out;
}

void read_existing(const JsonObject& gang, PlanRequest& out) {
  const Json* map = gang.find("existing");
  if (map == nullptr) return;
  JsonProblems& problems = gang.problems();
  if (!map->is_object())
    return problems.add(gang.path("existing"), "must be an object: path to pods");
  std::unordered_set<std::string> paths;
  for (const PlanNode& node : out.nodes) paths.insert(joined_path(node.path));
  for (const auto& [path, value] : map->items()) {
    const std::string where = gang.path("existing") + "[\"" + path.substr(0, 100) + "\"]";
    if (!paths.contains(path)) problems.add(where, "is the path of no node");
    const auto pods = as_integer(value, where, 0, limits::kMaxGangPods, problems);
    if (pods) out.existing[path] = static_cast<int>(*pods);
  }
}

void read_gang(const JsonObject& object, PlanRequest& out) {
  domain::Gang& gang = out.gang;
  gang.required_level = read_level(object, "required_level", out.levels);
  gang.preferred_level = read_level(object, "preferred_level", out.levels);
  gang.pods = static_cast<int>(object.require_integer("pods", 0, limits::kMaxGangPods).value_or(0));
  gang.chips_per_pod =
      static_cast<int>(object.require_integer("chips_per_pod", 0, kMostChips).value_or(0));
  gang.slices = read_slices(object, out);
  if (const auto policy = object.text("policy"); policy && *policy != "compact")
    object.problems().add(object.path("policy"), "must be compact");
  read_existing(object, out);
  int running = 0;
  for (const auto& [path, pods] : out.existing) running += pods;
  gang.min_member =
      static_cast<int>(object.integer("min_member", 0, std::int64_t{2} * limits::kMaxGangPods)
                           .value_or(gang.pods + running));
}

Result<PlanRequest> read_request(const Json& value) {
  JsonProblems problems;
  const JsonObject object(value, "", {"id", "network", "gang"}, problems);
  PlanRequest out;
  const Json* network = object.find("network");
  if (network == nullptr) {
    problems.add("network", "is missing: {levels, nodes}");
  } else {
    const JsonObject of_network(*network, "network",
                                {"levels", "nodes", "warnings", "accelerator_levels"}, problems);
    if (network->is_object()) {
      out.levels = read_levels(of_network);
      read_nodes(of_network, out);
    }
  }
  const Json* gang = object.find("gang");
  if (gang == nullptr) {
    problems.add("gang", "is missing");
  } else {
    const JsonObject of_gang(*gang, "gang",
                             {"pods", "chips_per_pod", "min_member", "required_level",
                              "preferred_level", "slices", "policy", "existing"},
                             problems);
    if (gang->is_object()) read_gang(of_gang, out);
  }
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace

std::string joined_path(const std::vector<std::string>& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) out += (i == 0 ? "" : "/") + path[i];
  return out;
}

PlanLine parse_plan_line(std::string_view line) {
  BatchLine read = read_batch_line(line, limits::kMaxPlanLineBytes, limits::kMaxPlanValues);
  if (!read.value) return {std::move(read.id), std::move(read.value).error()};
  return {std::move(read.id), read_request(*read.value)};
}

std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const PlanAnswer& answer) {
  using Ordered = nlohmann::ordered_json;
  Ordered assignment = Ordered::object();
  Ordered pods = Ordered::array();
  for (const PlanAnswerPod& one : answer.pods) {
    const PlanNode& node = request.nodes[one.node];
    Ordered& sum = assignment[joined_path(node.path)];
    sum = sum.is_null() ? 1 : sum.get<int>() + 1;
    pods.push_back(
        {{"pod", one.pod}, {"node", node.name}, {"path", node.path}, {"rank", one.rank}});
  }
  const auto by_level = [&](const std::vector<int>& values) {
    Ordered out = Ordered::object();
    for (std::size_t i = 0; i < values.size(); ++i) out[request.levels[i]] = values[i];
    return out;
  };
  Ordered out;
  out["fits"] = answer.fits;
  out["assignment"] = std::move(assignment);
  out["pods"] = std::move(pods);
  out["domains"] = by_level(answer.domains);
  out["placed"] = answer.pods.size();
  out["optimal"] = answer.optimal;
  if (!answer.bound.empty()) out["bound"] = by_level(answer.bound);
  out["reason"] = answer.reason;
  return with_id(id, out);
}

}  // namespace chipweave::codec
