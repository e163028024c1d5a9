#include "common/codec/gang/plan_codec.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/gang_reader.hpp"
#include "common/codec/gang/network_reader.hpp"

namespace chipweave::codec {
namespace {

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
    read_gang(*gang, out, problems);
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
                              const domain::Plan& plan) {
  using Ordered = nlohmann::ordered_json;
  Ordered assignment = Ordered::object();
  Ordered pods = Ordered::array();
  std::vector<std::pair<std::string, int>> sums;  // in rank order
  std::unordered_map<std::string, std::size_t> sum_of;
  for (const domain::PlannedPod& one : plan.pods) {
    const PlanNode& node = request.nodes[one.node];
    const auto [at, fresh] = sum_of.try_emplace(joined_path(node.path), sums.size());
    if (fresh) sums.emplace_back(at->first, 0);
    ++sums[at->second].second;
    Ordered pod = {{"pod", one.pod}, {"node", node.name}, {"path", node.path}, {"rank", one.rank}};
    if (one.set != domain::kNoSet)
      pod[request.gang.roles ? "role" : "subgroup"] =
          request.gang.sets[static_cast<std::size_t>(one.set)].name;
    pods.push_back(std::move(pod));
  }
  // Straight into the list behind it: paths are unique, and its own insertion would look for each.
  auto& entries =
      static_cast<Ordered::object_t::Container&>(assignment.get_ref<Ordered::object_t&>());
  for (auto& [path, sum] : sums) entries.emplace_back(std::move(path), sum);
  const auto by_level = [&](const std::vector<int>& values) {
    Ordered out = Ordered::object();
    for (std::size_t i = 0; i < values.size(); ++i) out[request.levels[i]] = values[i];
    return out;
  };
  Ordered out;
  out["fits"] = plan.fits;
  out["assignment"] = std::move(assignment);
  out["pods"] = std::move(pods);
  out["domains"] = by_level(plan.domains);
  out["placed"] = plan.pods.size();
  out["optimal"] = plan.optimal;
  if (!plan.bound.empty()) out["bound"] = by_level(plan.bound);
  out["reason"] = plan.reason;
  return with_id(id, out);
}

}  // namespace chipweave::codec
