#include "cli/plan/flag_nodes.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonValue;

constexpr codec::JsonLimits kFlagLimits{limits::kMaxPlanLineBytes, limits::kMaxPlanValues};

class Paths {
 public:
  explicit Paths(JsonValue network) {
    for (const JsonValue node : network["nodes"]) {
      std::vector<std::string> path;
      for (const JsonValue element : node["path"]) path.emplace_back(element.text());
      std::string text = joined(path, "/");
      ++nodes_[text];
      by_name_.emplace(node["name"].text(), std::move(text));
    }
  }

  Result<std::string> of(const std::string& flag, const std::string& text) const {
    if (nodes_.contains(text)) return text;
    const auto at = by_name_.find(text);
    if (at == by_name_.end()) return text;
    const std::size_t nodes = nodes_.at(at->second);
    if (nodes == 1) return at->second;
    return make_error(Errc::invalid_argument,
                      concat("node ", in_quotes(text), " has the path ", in_quotes(at->second),
                             " of ", nodes, " nodes; the network needs a level of single nodes"))
        .in(flag);
  }

 private:
  std::unordered_map<std::string, std::size_t> nodes_;    // by path
  std::unordered_map<std::string, std::string> by_name_;  // path
};

// Chips that running pods of a gang hold on a node.
std::int64_t chips_held(const domain::Gang& gang, domain::GangNodeId node,
                        const domain::Running& here) {
  if (!here.chips.empty()) return static_cast<std::int64_t>(here.chips.size());
  std::int64_t held = 0;
  int of_sets = 0;
  int each = gang.chips_per_pod;
  for (const domain::PodSet& set : gang.sets) {
    each = std::max(each, set.chips_per_pod);
    const auto at = set.existing.find(node);
    if (at == set.existing.end()) continue;
    of_sets += at->second;
    held += std::int64_t{at->second} * set.chips_per_pod;
  }
  for (const int chips : gang.pod_chips) each = std::max(each, chips);
  return held + std::int64_t{std::max(here.pods - of_sets, 0)} * each;
}

}  // namespace

Result<void> put_paths(const std::string& network, PlanFlags& flags) {
  if (flags.existing.empty() && flags.failed.empty()) return {};
  const auto tree = codec::parse_json(network, kFlagLimits);
  if (!tree) return Error(tree.error());
  const Paths paths{JsonValue(*tree)};
  for (std::string& text : flags.failed) {
    auto path = paths.of("--failed", text);
    if (!path) return std::move(path).error();
    text = *std::move(path);
  }
  for (std::string& text : flags.existing) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos) continue;  // an error later
    auto path = paths.of("--existing", text.substr(0, equals));
    if (!path) return std::move(path).error();
    text = *path + text.substr(equals);
  }
  return {};
}

std::vector<std::string> subtract_running(const std::set<std::string, std::less<>>& with_free,
                                          std::vector<codec::NamedGang>& gangs) {
  if (with_free.empty() || gangs.empty()) return {};
  std::map<std::vector<std::string>, std::int64_t> held;  // by path
  for (const codec::NamedGang& one : gangs) {
    for (const auto& [node, here] : one.request.gang.existing) {
      held[one.request.nodes[node].path] += chips_held(one.request.gang, node, here);
    }
  }
  std::map<std::vector<std::string>, std::int64_t> rest;
  for (codec::NamedGang& one : gangs) {
    rest = held;
    for (codec::PlanNode& node : one.request.nodes) {
      const auto at = rest.find(node.path);
      if (at == rest.end() || !with_free.contains(node.name)) continue;
      const auto taken = static_cast<int>(std::min<std::int64_t>(at->second, node.free));
      node.free -= taken;
      at->second -= taken;
    }
  }
  std::vector<std::string> out;
  for (const codec::PlanNode& node : gangs.front().request.nodes) {
    const auto at = rest.find(node.path);
    if (at == rest.end() || at->second == 0 || !with_free.contains(node.name)) continue;
    out.push_back(concat("running pods at ", codec::joined_path(node.path), " hold ",
                         std::exchange(at->second, 0), " chips more than --free says"));
  }
  return out;
}

}  // namespace chipweave::cli
