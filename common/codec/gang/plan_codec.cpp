#include "common/codec/gang/plan_codec.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/combined_levels.hpp"
#include "common/codec/gang/gang_reader.hpp"
#include "common/codec/gang/network_reader.hpp"

namespace chipweave::codec {
namespace {

constexpr int kMostMachineChips = 64;
constexpr double kMostGbps = 1e6;

// A machine says which chips are free: those listed, or all.
void read_machine(const JsonObject& node, PlanNode& to) {
  JsonProblems& problems = node.problems();
  to.machine = node.text("machine").value_or("");
  const Json* list = node.array("free_chips", kMostMachineChips);
  if (list == nullptr) return;
  if (to.machine.empty()) problems.add(node.path("free_chips"), "needs `machine` beside it");
  to.free_chips.emplace();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto chip = as_integer((*list)[i], node.path("free_chips"), 0, kMostChips, problems);
    to.free_chips->push_back(static_cast<int>(chip.value_or(0)));
  }
  const auto free = node.integer("free", 0, kMostChips);
  if (free && *free != static_cast<std::int64_t>(list->size()))
    problems.add(node.path("free"), "is not the number of free_chips");
  to.free = static_cast<int>(list->size());
}

// What `network import` prints of a node beside its name and path does no harm here.
void read_nodes(const JsonObject& network, std::size_t accelerator_levels, PlanRequest& out,
                std::vector<std::vector<std::string>>& accelerators) {
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
                          {"name", "path", "free", "free_chips", "machine", "max_pods", "healthy",
                           "rails", "accelerator"},
                          problems);
    if (!(*list)[i].is_object()) continue;
    PlanNode& to = out.nodes.emplace_back();
    to.name = node.require_text("name").value_or("");
    if (!names.insert(to.name).second)
      problems.add(node.path("name"), "is a node that was named before");
    if (const Json* path = node.find("path"))
      to.path = read_path(*path, node.path("path"), out.levels.size(), problems);
    to.free = static_cast<int>(node.integer("free", 0, kMostChips).value_or(0));
    read_machine(node, to);
    to.max_pods = static_cast<int>(node.integer("max_pods", 0, limits::kMaxGangPods).value_or(-1));
    to.healthy = node.flag("healthy").value_or(true);
    std::vector<std::string>& accelerator = accelerators.emplace_back();
    if (const Json* path = node.find("accelerator"))
      accelerator = read_path(*path, node.path("accelerator"), accelerator_levels, problems);
  }
}

// Whether one of these names stands anywhere in the gang as a value.
bool names_any(const Json& value, const std::vector<std::string>& names) {
  if (value.is_string())
    return std::find(names.begin(), names.end(), value.get_ref<const std::string&>()) !=
           names.end();
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(),
                     [&](const Json& inner) { return names_any(inner, names); });
}

// GB/s that a node gets across a level when all send.
void read_level_gbps(const JsonObject& network, PlanRequest& out) {
  out.level_gbps.assign(out.levels.size(), std::nullopt);
  const Json* map = network.find("level_gbps");
  if (map == nullptr) return;
  JsonProblems& problems = network.problems();
  if (!map->is_object())
    return problems.add(network.path("level_gbps"), "must be an object: level to GB/s");
  for (const auto& [level, value] : map->items()) {
    const std::string where = network.path("level_gbps") + "[\"" + level.substr(0, 100) + "\"]";
    const auto at = std::find(out.levels.begin(), out.levels.end(), level);
    const auto gbps = as_number(value, where, problems);
    if (at == out.levels.end())
      problems.add(where, "is no level of the network");
    else if (gbps && (*gbps <= 0 || *gbps > kMostGbps))
      problems.add(where, "must be above 0 and at most 1e6");
    else
      out.level_gbps[static_cast<std::size_t>(at - out.levels.begin())] = gbps;
  }
}

void read_network(const Json& value, const Json* gang, PlanRequest& out, JsonProblems& problems) {
  const JsonObject network(value, "network",
                           {"levels", "nodes", "warnings", "accelerator_levels", "level_gbps"},
                           problems);
  if (!value.is_object()) return;
  std::vector<std::string> accelerator_levels;
  if (const Json* list = network.find("accelerator_levels"))
    accelerator_levels =
        read_path(*list, "network.accelerator_levels", limits::kMaxNetworkLevels, problems);
  out.levels = read_levels(network, !accelerator_levels.empty());
  for (auto level = accelerator_levels.begin(); level != accelerator_levels.end(); ++level) {
    if (level->empty())
      problems.add("network.accelerator_levels", "must be names of levels");
    else if (std::find(out.levels.begin(), out.levels.end(), *level) != out.levels.end() ||
             std::find(accelerator_levels.begin(), level, *level) != level)
      problems.add("network.accelerator_levels", "names a level twice");
  }
  std::vector<std::vector<std::string>> accelerators;
  read_nodes(network, accelerator_levels.size(), out, accelerators);
  if (problems.any()) return;
  combine_levels(accelerator_levels, accelerators,
                 gang != nullptr && names_any(*gang, accelerator_levels), out);
  read_level_gbps(network, out);
}

Result<PlanRequest> read_plan_request(const Json& value) {
  JsonProblems problems;
  const JsonObject object(value, "", {"id", "network", "gang"}, problems);
  PlanRequest out;
  const Json* network = object.find("network");
  if (network == nullptr) {
    problems.add("network", "is missing: {levels, nodes}");
  } else {
    read_network(*network, object.find("gang"), out, problems);
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

const char* use_name(domain::TorUse use) {
  switch (use) {
    case domain::TorUse::shared:
      return "shared";
    case domain::TorUse::exclusive:
      return "exclusive";
    case domain::TorUse::free:
      break;
  }
  return "free";
}

void add_details(const PlanDetails& details, nlohmann::ordered_json& out) {
  using Ordered = nlohmann::ordered_json;
  if (!details.bandwidth.empty()) {
    Ordered terms = Ordered::object();
    for (const PlanTerm& term : details.bandwidth)
      terms[term.name] = term.gbps ? Ordered(*term.gbps) : Ordered(term.text);
    out["bandwidth"] = std::move(terms);
  }
  if (details.leaves.empty()) return;
  Ordered leaves = Ordered::array();
  for (const PlanLeaf& one : details.leaves)
    leaves.push_back({{"leaf", one.leaf},
                      {"pods", one.pods},
                      {"state", use_name(one.state.use)},
                      {"healthy", one.state.healthy}});
  out["leaves"] = std::move(leaves);
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
  return {std::move(read.id), read_plan_request(*read.value)};
}

std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const domain::Plan& plan, const PlanDetails& details) {
  using Ordered = nlohmann::ordered_json;
  Ordered assignment = Ordered::object();
  Ordered pods = Ordered::array();
  std::vector<std::pair<std::string, int>> sums;  // in rank order
  std::unordered_map<std::string, std::size_t> sum_of;
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    const domain::PlannedPod& one = plan.pods[i];
    const PlanNode& node = request.nodes[one.node];
    const auto [at, fresh] = sum_of.try_emplace(joined_path(node.path), sums.size());
    if (fresh) sums.emplace_back(at->first, 0);
    ++sums[at->second].second;
    Ordered pod = {{"pod", one.pod}, {"node", node.name}, {"path", node.path}, {"rank", one.rank}};
    if (one.set != domain::kNoSet)
      pod[request.gang.roles ? "role" : "subgroup"] =
          request.gang.sets[static_cast<std::size_t>(one.set)].name;
    if (i < details.chips.size() && !node.machine.empty()) pod["chips"] = details.chips[i];
    if (i < details.rings.size() && !details.rings[i].empty()) pod["ring"] = details.rings[i];
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
  add_details(details, out);
  return with_id(id, out);
}

}  // namespace chipweave::codec
