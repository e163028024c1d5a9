#include "common/codec/gang/defrag_codec.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/communicators_codec.hpp"
#include "common/codec/gang/gang_reader.hpp"
#include "common/codec/gang/vendor_keys.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxHeldChips = limits::kMaxChips;

class PodsReader {
 public:
  PodsReader(const JsonObject& line, DefragLineRequest& out) : line_(line), out_(out) {
    for (std::size_t n = 0; n < out.nodes; ++n) node_at_.emplace(out.network.nodes[n].name, n);
  }

  void read() {
    line_.require("pods");
    for (const JsonValue item : line_.array("pods", limits::kMaxGangPods)) {
      const JsonObject pod(item, {"name", "node", "chips", "movable", "gang", "keep_level"},
                           line_.problems());
      if (pod) read_pod(pod);
    }
    // A pod without a level of its own keeps to that of its gang.
    for (RunningPodEntry& pod : out_.pods) {
      const auto known = gang_levels_.find(pod.gang);
      if (pod.keep_level == domain::kNoLevel && known != gang_levels_.end())
        pod.keep_level = known->second;
    }
  }

 private:
  void read_pod(const JsonObject& pod) {
    RunningPodEntry& to = out_.pods.emplace_back();
    to.name = pod.require_text("name").value_or("");
    if (to.name.empty() && pod.find("name").is_string()) pod.problem("name", "must not be empty");
    if (!names_.insert(to.name).second) pod.problem("name", "names a pod for the second time");
    if (const auto node = pod.require_text("node")) {
      const auto at = node_at_.find(*node);
      if (at == node_at_.end())
        pod.problem("node", "unknown node " + in_quotes(*node));
      else
        to.node = at->second;
    }
    read_chips(pod, to);
    to.movable = pod.flag("movable").value_or(false);
    to.gang = pod.text_or_empty("gang");
    read_keep_level(pod, to);
  }

  void read_chips(const JsonObject& pod, RunningPodEntry& to) {
    const JsonValue chips = pod.require("chips");
    const bool machine = !out_.network.nodes[to.node].machine.empty();
    if (!chips.is_array()) {
      to.chips = pod.integer("chips", 1, kMaxPodChips).value_or(1);
      if (machine && chips.is_number())
        pod.problem("chips", "must list the indices of its chips: its node has a machine");
      return;
    }
    to.indices.emplace();
    for (const JsonValue item : pod.array("chips", kMaxHeldChips)) {
      const int index = as_integer(item, 0, kMaxPodChips, pod.problems()).value_or(0);
      if (std::find(to.indices->begin(), to.indices->end(), index) != to.indices->end())
        pod.problems().add(item, "names a chip for the second time");
      to.indices->push_back(index);
    }
    if (chips.empty()) pod.problem("chips", "must name at least one chip");
    to.chips = static_cast<int>(to.indices->size());
  }

  void read_keep_level(const JsonObject& pod, RunningPodEntry& to) {
    const std::optional<int> level = read_level(pod, "keep_level", out_.network.levels);
    if (!level) return;
    to.keep_level = *level;
    if (to.gang.empty()) return;
    const auto [known, fresh] = gang_levels_.try_emplace(to.gang, *level);
    if (!fresh && known->second != *level)
      pod.problem("keep_level", "differs from that of another pod of the gang");
  }

  const JsonObject& line_;
  DefragLineRequest& out_;
  std::unordered_map<std::string, std::size_t> node_at_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> gang_levels_;
};

void read_target(JsonValue value, DefragLineRequest& out, JsonProblems& problems) {
  const JsonObject target(value, {"level", "domains", "max_moves"}, problems);
  if (!target) return;
  out.level = read_level(target, "level", out.network.levels).value_or(domain::kNoLevel);
  out.domains = target.integer("domains", 1, static_cast<int>(limits::kMaxPlanNodes));
  out.max_moves = target.integer("max_moves", 1, limits::kMaxGangPods);
}

// Where the accelerators' domains do not nest in the switches', moves know one of the hierarchies.
void check_hierarchies(const JsonObject& line, const DefragLineRequest& request) {
  if (request.network.nested) return;
  bool accelerators = false;
  bool switches = false;
  const auto see = [&](int level) {
    if (level == domain::kNoLevel) return;
    const bool own = static_cast<std::size_t>(level) < request.network.accelerator_levels;
    (own ? accelerators : switches) = true;
  };
  see(request.level);
  for (const RunningPodEntry& pod : request.pods) see(pod.keep_level);
  if (accelerators && switches)
    line.problem("network",
                 "has accelerators' domains that do not nest in its levels: name levels of one of "
                 "both");
}

Result<DefragLineRequest> read_defrag_request(JsonValue value) {
  JsonProblems problems;
  const JsonObject line(value, {"id", "network", "pods", "target", "gang"}, problems);
  DefragLineRequest out;
  const JsonValue gang = line.find("gang");
  const JsonValue target = line.find("target");
  const JsonValue network = line.find("network");
  if (!network) line.problem("network", "is missing: {levels, nodes}");
  if (network) read_plan_network(network, {gang, target, line.find("pods")}, out.network, problems);
  if (problems.any()) return problems.error();
  out.nodes = out.network.nodes.size();
  if (out.nodes == 0)
    line.problem("network", "must have at least one node");
  else
    PodsReader(line, out).read();
  if (target) read_target(target, out, problems);
  check_hierarchies(line, out);
  out.has_gang = static_cast<bool>(gang);
  if (gang && !problems.any()) read_gang(gang, out.network, problems);
  if (problems.any()) return problems.error();
  return out;
}

void write_domains(JsonWriter& out, std::string_view key, const DefragLineRequest& request,
                   const std::vector<FreedDomain>& domains) {
  out.key(key).begin_array();
  for (const FreedDomain& domain : domains) {
    out.begin_object().key("path").strings(domain.path).key("nodes").begin_array();
    for (const std::size_t node : domain.nodes) out.string(request.network.nodes[node].name);
    out.end_array().end_object();
  }
  out.end_array();
}

void write_moves(JsonWriter& out, const DefragLineRequest& request,
                 const std::vector<MoveEntry>& moves) {
  out.key("moves").begin_array();
  for (const MoveEntry& move : moves) {
    out.begin_object().field("pod", request.pods[move.pod].name);
    out.field("from", request.network.nodes[move.from].name);
    out.field("to", request.network.nodes[move.to].name);
    out.key("chips");
    if (move.chips)
      out.integers(*move.chips);
    else
      out.integer(request.pods[move.pod].chips);
    if (move.gbps_before) out.key("gbps_before").decimal(*move.gbps_before);
    if (move.gbps_after) out.key("gbps_after").decimal(*move.gbps_after);
    out.field("step", move.step);
    if (move.stop_first) out.key("stop_first").boolean(true);
    out.end_object();
  }
  out.end_array();
}

void write_outlook(JsonWriter& out, std::string_view key, const DefragLineRequest& request,
                   const std::optional<PlanOutcome>& outlook) {
  if (!outlook) return;
  out.key(key).begin_object().key("fits").boolean(outlook->fits);
  out.field("placed", outlook->placed);
  write_by_level(out, "domains", request.network.levels, outlook->domains);
  if (outlook->gbps) out.key("gbps").decimal(*outlook->gbps);
  out.field("reason", outlook->reason).end_object();
}

}  // namespace

DefragLine parse_defrag_line(std::string_view line) {
  BatchLine read = read_batch_line(line, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!read.json) return {std::move(read.id), std::move(read.json).error()};
  return {std::move(read.id), read_defrag_request(JsonValue(*read.json))};
}

std::string write_defrag_answer(const std::string& id, const DefragLineRequest& request,
                                const DefragAnswer& answer) {
  JsonWriter out = begin_answer(id);
  out.key("frees").boolean(!answer.freed.empty());
  write_domains(out, "freed", request, answer.freed);
  if (!answer.used_up.empty()) write_domains(out, "used_up", request, answer.used_up);
  write_moves(out, request, answer.moves);
  out.field("pods_moved", answer.moves.size()).field("chips_moved", answer.chips_moved);
  out.key("gangs").strings(answer.gangs);
  out.key("optimal").boolean(answer.optimal);
  if (answer.bound_domains && answer.bound_chips) {
    out.key("bound").begin_object().field("domains", *answer.bound_domains);
    out.field("chips", *answer.bound_chips).end_object();
  }
  out.field("reason", answer.reason);
  out.key("gain").begin_object();
  out.field("free_before", answer.free_before).field("free_after", answer.free_after);
  out.field("whole_node_chips", answer.whole_node_chips);
  write_by_level(out, "whole_nodes_before", request.network.levels, answer.whole_nodes_before);
  write_by_level(out, "whole_nodes_after", request.network.levels, answer.whole_nodes_after);
  write_outlook(out, "gang_before", request, answer.gang_before);
  write_outlook(out, "gang_after", request, answer.gang_after);
  return out.end_object().end_object().take();
}

}  // namespace chipweave::codec
