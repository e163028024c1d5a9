#include "common/codec/gang/plan_codec.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/communicators_codec.hpp"
#include "common/codec/gang/gang_reader.hpp"
#include "common/codec/gang/network_reader.hpp"

namespace chipweave::codec {
namespace {

constexpr int kMaxMachineChips = 64;
constexpr double kMaxLevelGbps = 1e6;

// For a node with a machine: the listed free chips, or all.
void read_machine(const JsonObject& node, PlanNode& to) {
  to.machine = node.text_or_empty("machine");
  for (const char* key : {"free_chips", "loaded_chips", "down_nics"}) {
    if (node.has(key) && to.machine.empty()) node.problem(key, "needs the key machine");
  }
  const auto chips = [&](const char* key) -> std::optional<std::vector<int>> {
    const JsonValue value = node.array(key, kMaxMachineChips);
    if (!value) return std::nullopt;
    std::vector<int> out;
    for (const JsonValue item : value)
      out.push_back(as_integer(item, 0, kMaxPodChips, node.problems()).value_or(0));
    return out;
  };
  to.down_nics = node.texts("down_nics", limits::kMaxNics);
  to.loaded_chips = chips("loaded_chips");
  to.free_chips = chips("free_chips");
  if (!to.free_chips) return;
  const auto free = node.integer("free", 0, kMaxPodChips);
  to.free = static_cast<int>(to.free_chips->size());
  if (free && *free != to.free) node.problem("free", "is not the number of free_chips");
}

// Keys that `network import` prints for a node besides name and path are accepted.
void read_nodes(const JsonObject& network, std::size_t accelerator_levels, PlanRequest& out,
                std::vector<std::vector<std::string>>& accelerators) {
  JsonProblems& problems = network.problems();
  network.require("nodes");
  std::unordered_set<std::string> names;
  for (const JsonValue item : network.array("nodes", limits::kMaxPlanNodes)) {
    const JsonObject node(item,
                          {"name", "path", "free", "free_chips", "loaded_chips", "down_nics",
                           "machine", "max_pods", "healthy", "rails", "accelerator"},
                          problems);
    if (!node) continue;
    PlanNode& to = out.nodes.emplace_back();
    to.name = node.require_text("name").value_or("");
    if (!names.insert(to.name).second) node.problem("name", "names a node for the second time");
    if (const JsonValue path = node.find("path"))
      to.path = read_path(path, out.levels.size(), problems);
    to.free = node.integer("free", 0, kMaxPodChips).value_or(0);
    read_machine(node, to);
    to.rails = node.texts("rails", limits::kMaxNics);
    to.max_pods = node.integer("max_pods", 0, limits::kMaxGangPods).value_or(-1);
    to.healthy = node.flag("healthy").value_or(true);
    std::vector<std::string>& accelerator = accelerators.emplace_back();
    if (const JsonValue path = node.find("accelerator"))
      accelerator = read_path(path, accelerator_levels, problems);
  }
}

// Whether one of these names is a value anywhere in the gang.
bool names_any(JsonValue value, const std::vector<std::string>& names) {
  if (value.is_string()) return std::find(names.begin(), names.end(), value.text()) != names.end();
  return std::any_of(value.begin(), value.end(),
                     [&](JsonValue inner) { return names_any(inner, names); });
}

// GB/s that a node gets across a level when all nodes send.
void read_level_gbps(const JsonObject& network, PlanRequest& out) {
  out.level_gbps.assign(out.levels.size(), std::nullopt);
  JsonProblems& problems = network.problems();
  for (const JsonValue value : network.map("level_gbps", limits::kMaxNetworkLevels)) {
    const auto at = std::find(out.levels.begin(), out.levels.end(), value.name());
    const auto gbps = as_number(value, problems);
    if (at == out.levels.end())
      problems.add(value,
                   unknown_name("level", value.name(), {out.levels.begin(), out.levels.end()}));
    else if (gbps && (*gbps <= 0 || *gbps > kMaxLevelGbps))
      problems.add(value, "must be above 0 and at most 1e6");
    else
      out.level_gbps[static_cast<std::size_t>(at - out.levels.begin())] = gbps;
  }
}

using Path = std::vector<std::string>;

Path prefix(const Path& path, std::size_t length) {
  Path out(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(std::min(length, path.size())));
  out.resize(length);
  return out;
}

// Whether the accelerators' domains fit between levels at - 1 and at: each inside one domain above,
// and each domain below inside one of them.
bool nests(const PlanRequest& request, const std::vector<Path>& accelerators, std::size_t at) {
  std::map<std::string, Path> above;
  std::map<Path, const Path*> below;
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    const Path& path = request.nodes[i].path;
    if (at < request.switch_levels) {
      const auto [it, fresh] = below.try_emplace(prefix(path, at + 1), &accelerators[i]);
      if (!fresh && *it->second != accelerators[i]) return false;
    }
    if (accelerators[i].empty() || accelerators[i].front().empty()) continue;
    const auto [it, fresh] = above.try_emplace(accelerators[i].front(), prefix(path, at));
    if (!fresh && it->second != prefix(path, at)) return false;
  }
  return true;
}

// The two hierarchies of a network, switches and the accelerators' own interconnect (super-pods,
// NVLink domains, UB racks), become one list of levels for the planner: levels and each node's
// place. If the accelerators' domains nest in the tree of switches, they become levels of it, as
// close to the nodes as possible; the plan is then exact. Otherwise they come first, and a switch
// domain that spans several of them counts once in each. accelerators: the accelerator path of each
// node, in the order of the nodes; empty: it has none. asked: the gang names one of
// accelerator_levels, so they are needed even if they do not nest.
void combine_levels(const std::vector<std::string>& accelerator_levels,
                    const std::vector<Path>& accelerators, bool asked, PlanRequest& request) {
  request.switch_levels = request.levels.size();
  for (PlanNode& node : request.nodes) node.place = node.path;
  if (accelerator_levels.empty()) return;
  std::size_t at = request.levels.size() + 1;
  while (at > 0 && !nests(request, accelerators, at - 1)) --at;
  request.nested = at > 0;
  if (!request.nested && !asked) {
    request.nested = true;  // the switches' tree alone is exact
    return;
  }
  const std::size_t position = at > 0 ? at - 1 : 0;
  const auto into = [&](Path& list, const Path& what) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(position), what.begin(), what.end());
  };
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    Path& place = request.nodes[i].place;
    place.resize(request.switch_levels);
    into(place, prefix(accelerators[i], accelerator_levels.size()));
  }
  into(request.levels, accelerator_levels);
  request.accelerator_levels = accelerator_levels.size();
}

void read_network(JsonValue value, const std::vector<JsonValue>& naming, PlanRequest& out,
                  JsonProblems& problems) {
  const JsonObject network(
      value, {"levels", "nodes", "warnings", "accelerator_levels", "level_gbps"}, problems);
  if (!network) return;
  std::vector<std::string> accelerator_levels;
  if (const JsonValue list = network.find("accelerator_levels"))
    accelerator_levels = read_path(list, limits::kMaxNetworkLevels, problems);
  out.levels = read_levels(network, !accelerator_levels.empty());
  for (auto level = accelerator_levels.begin(); level != accelerator_levels.end(); ++level) {
    if (level->empty())
      network.problem("accelerator_levels", "must be names of levels");
    else if (std::find(out.levels.begin(), out.levels.end(), *level) != out.levels.end() ||
             std::find(accelerator_levels.begin(), level, *level) != level)
      network.problem("accelerator_levels", "names a level twice");
  }
  std::vector<std::vector<std::string>> accelerators;
  read_nodes(network, accelerator_levels.size(), out, accelerators);
  if (problems.any()) return;
  const bool asked = std::any_of(naming.begin(), naming.end(),
                                 [&](JsonValue one) { return names_any(one, accelerator_levels); });
  combine_levels(accelerator_levels, accelerators, asked, out);
  read_level_gbps(network, out);
}

// What all gangs of a line have in common.
struct LineKeys {
  JsonValue network;
  bool explain = false;
  std::vector<std::string> if_fails;
};

LineKeys read_line_keys(const JsonObject& object) {
  LineKeys out;
  out.network = object.find("network");
  if (!out.network) object.problem("network", "is missing: {levels, nodes}");
  out.explain = object.flag("explain").value_or(false);
  out.if_fails = object.texts("if_fails", limits::kMaxPlanNodes);
  if (object.has("if_fails") && !out.explain) object.problem("if_fails", "needs explain: true");
  return out;
}

PlanRequest read_request(const LineKeys& keys, JsonValue gang, JsonProblems& problems) {
  PlanRequest out;
  out.explain = keys.explain;
  out.if_fails = keys.if_fails;
  if (keys.network) read_network(keys.network, {gang}, out, problems);
  if (gang) read_gang(gang, out, problems);
  return out;
}

// The object of a gang without the keys that only a list of gangs has, as JSON text.
std::string gang_text(JsonValue item) {
  JsonWriter out;
  out.begin_object();
  for (const JsonValue member : item)
    if (member.name() != "name" && member.name() != "priority")
      out.key(member.name()).reformatted(member.raw());
  return out.end_object().take();
}

void read_gangs(const LineKeys& keys, JsonValue list, PlanGangs& out, JsonProblems& problems) {
  if (list.empty()) problems.add(list, "must name at least one gang");
  const std::size_t nodes = keys.network ? keys.network["nodes"].size() : 0;
  if (list.size() * nodes > kMaxGangsTimesNodes)
    return problems.add(list,
                        "gangs times nodes may be at most " + std::to_string(kMaxGangsTimesNodes));
  std::unordered_set<std::string> names;
  for (const JsonValue item : list) {
    const auto object = JsonObject::tolerant(item, problems);
    NamedGang& to = out.gangs.emplace_back();
    if (!object) {
      problems.add(item, "must be an object: a gang with name and priority");
      continue;
    }
    to.name = object.require_text("name").value_or("");
    if (!to.name.empty() && !names.insert(to.name).second)
      object.problem("name", "names a gang for the second time");
    to.priority = object.integer("priority", -1'000'000'000, 1'000'000'000).value_or(0);
    auto gang = parse_json(gang_text(item), {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
    if (problems.any() || !gang) return;
    JsonProblems of_gang;
    to.request = read_request(keys, JsonValue(*gang), of_gang);
    if (of_gang.any()) problems.add(item, of_gang.error().text());
  }
  std::stable_sort(out.gangs.begin(), out.gangs.end(),
                   [](const NamedGang& a, const NamedGang& b) { return a.priority > b.priority; });
}

Result<PlanRequest> read_plan_request(JsonValue value) {
  JsonProblems problems;
  const JsonObject object(value, {"id", "network", "gang", "explain", "if_fails"}, problems);
  const LineKeys keys = read_line_keys(object);
  object.require("gang");
  PlanRequest out = read_request(keys, object.find("gang"), problems);
  if (problems.any()) return problems.error();
  return out;
}

Result<PlanGangs> read_plan_gangs(JsonValue value) {
  PlanGangs out;
  if (!value["gangs"]) {
    auto one = read_plan_request(value);
    if (!one) return std::move(one).error();
    out.gangs.push_back({"", 0, *std::move(one)});
    return out;
  }
  out.several = true;
  JsonProblems problems;
  const JsonObject object(value, {"id", "network", "gangs", "explain"}, problems);
  const LineKeys keys = read_line_keys(object);
  if (const JsonValue list = object.array("gangs", kMaxGangsOfLine))
    read_gangs(keys, list, out, problems);
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

// Pods by path, in rank order.
void write_assignment(JsonWriter& out, const PlanRequest& request, const domain::Plan& plan) {
  std::vector<std::pair<std::string, int>> sums;
  std::unordered_map<std::string, std::size_t> sum_of;
  for (const domain::PlannedPod& one : plan.pods) {
    const auto [at, fresh] =
        sum_of.try_emplace(joined_path(request.nodes[one.node].path), sums.size());
    if (fresh) sums.emplace_back(at->first, 0);
    ++sums[at->second].second;
  }
  out.key("assignment").begin_object();
  for (const auto& [path, sum] : sums) out.field(path, sum);
  out.end_object();
}

void write_pods(JsonWriter& out, const PlanRequest& request, const domain::Plan& plan,
                const PlanDetails& details) {
  out.key("pods").begin_array();
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    const domain::PlannedPod& one = plan.pods[i];
    const PlanNode& node = request.nodes[one.node];
    out.begin_object().field("pod", one.pod).field("node", node.name);
    out.key("path").strings(node.path).field("rank", one.rank);
    if (one.set != domain::kNoSet)
      out.field(request.gang.roles ? "role" : "subgroup",
                request.gang.sets[static_cast<std::size_t>(one.set)].name);
    if (i < details.chips.size() && !node.machine.empty())
      out.key("chips").integers(details.chips[i]);
    if (i < details.rings.size() && !details.rings[i].empty())
      out.key("ring").integers(details.rings[i]);
    if (i < details.rank_chips.size() && !details.rank_chips[i].empty())
      out.key("rank_chips").integers(details.rank_chips[i]);
    out.end_object();
  }
  out.end_array();
}

void write_ranks(JsonWriter& out, const PlanRequest& request, const PlanRanks& ranks) {
  out.key("rank_order").begin_object();
  out.field("ranks_per_pod", request.gang.communicators->ranks_per_pod);
  if (!ranks.refused.empty()) {
    out.field("refused", ranks.refused).end_object();
    return;
  }
  out.field("weighted", ranks.weighted).field("depth_first_weighted", ranks.depth_first_weighted);
  out.key("optimal").boolean(ranks.optimal);
  write_by_level(out, "crossings", ranks.levels, ranks.ring);
  write_crossings(out, ranks.names, ranks.levels, ranks.crossings);
  out.end_object();
}

void write_details(JsonWriter& out, const PlanRequest& request, const PlanDetails& details) {
  if (details.ranks && request.gang.communicators) write_ranks(out, request, *details.ranks);
  if (!details.bandwidth.empty()) {
    out.key("bandwidth").begin_object();
    for (const PlanTerm& term : details.bandwidth) {
      out.key(term.name);
      if (term.gbps)
        out.decimal(*term.gbps);
      else
        out.string(term.text);
    }
    out.end_object();
  }
  if (details.rail_leaf_sets > 0) out.field("rail_leaf_sets", details.rail_leaf_sets);
  if (details.leaves.empty()) return;
  out.key("leaves").begin_array();
  for (const domain::LeafUse& one : details.leaves) {
    out.begin_object().field("leaf", one.leaf).field("pods", one.pods);
    out.field("state", use_name(one.state.use));
    out.key("healthy").boolean(one.state.healthy).end_object();
  }
  out.end_array();
}

}  // namespace

void read_plan_network(JsonValue network, const std::vector<JsonValue>& naming, PlanRequest& out,
                       JsonProblems& problems) {
  read_network(network, naming, out, problems);
}

std::string joined_path(const std::vector<std::string>& path) { return joined(path, "/"); }

PlanLine parse_plan_line(std::string_view line) {
  BatchLine read = read_batch_line(line, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!read.json) return {std::move(read.id), std::move(read.json).error()};
  return {std::move(read.id), read_plan_request(JsonValue(*read.json))};
}

PlanGangsLine parse_plan_gangs(std::string_view line) {
  BatchLine read = read_batch_line(line, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!read.json) return {std::move(read.id), std::move(read.json).error()};
  return {std::move(read.id), read_plan_gangs(JsonValue(*read.json))};
}

std::string write_gangs_answer(const std::string& id, const std::vector<NamedGang>& gangs,
                               const std::vector<std::string>& answers) {
  JsonWriter out = begin_answer(id);
  out.key("gangs").begin_array();
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    out.begin_object().field("name", gangs[i].name).field("priority", gangs[i].priority);
    out.key("plan").raw(answers[i]).end_object();
  }
  return out.end_array().end_object().take();
}

std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const domain::Plan& plan, const PlanDetails& details) {
  JsonWriter out = begin_answer(id);
  out.key("fits").boolean(plan.fits);
  write_assignment(out, request, plan);
  write_pods(out, request, plan, details);
  write_by_level(out, "domains", request.levels, plan.domains);
  out.field("placed", plan.pods.size()).key("optimal").boolean(plan.optimal);
  if (!plan.bound.empty()) write_by_level(out, "bound", request.levels, plan.bound);
  out.field("reason", plan.reason);
  if (!details.crossing_pairs.empty())
    write_by_level(out, "crossing_pairs", request.levels, details.crossing_pairs);
  write_details(out, request, details);
  if (details.explanation) {
    out.key("explain");
    write_explanation(out, request.levels, *details.explanation);
  }
  return out.end_object().take();
}

}  // namespace chipweave::codec
