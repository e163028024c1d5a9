#include "cli/plan/flag_nodes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/plan/node_level.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/domain/network/host_names.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonValue;

constexpr codec::JsonLimits kFlagLimits{limits::kMaxPlanLineBytes, limits::kMaxPlanValues};

// The nodes of a network, as people name them.
class NamedNodes {
 public:
  explicit NamedNodes(JsonValue network) {
    for (const JsonValue node : network["nodes"]) {
      std::vector<std::string> path;
      for (const JsonValue element : node["path"]) path.emplace_back(element.text());
      std::string text = joined(path, "/");
      ++paths_[text];
      names_.push_back(node["name"].text());
      path_of_.push_back(std::move(text));
    }
    hosts_ = domain::HostNames(names_);
  }

  // A path stays; a name, also one that is short for a node or longer, becomes the path.
  Result<std::string> path_of(const std::string& flag, const std::string& text) const {
    if (paths_.contains(text)) return text;
    const auto at = find(flag, text);
    if (!at) return Error(at.error());
    if (!*at) return text;
    return path_of_[**at];
  }
  // Whether the text names a node whose path is that of other nodes, too.
  bool shares_path(const std::string& text) const {
    if (paths_.contains(text)) return false;
    const domain::HostNames::Match match = hosts_.find(text);
    return match.index && paths_.at(path_of_[*match.index]) > 1;
  }
  // The node's own name; what names no node stays.
  Result<std::string> name_of(const std::string& flag, const std::string& text) const {
    const auto at = find(flag, text);
    if (!at) return Error(at.error());
    return *at ? std::string(names_[**at]) : text;
  }
  // Whether a text with brackets is a node or a path itself, not a host list.
  bool is_known(const std::string& text) const {
    return paths_.contains(text) || hosts_.exact(text).has_value();
  }

 private:
  Result<std::optional<std::size_t>> find(const std::string& flag, const std::string& text) const {
    const domain::HostNames::Match match = hosts_.find(text);
    if (match.candidates.empty()) return match.index;
    return make_error(Errc::invalid_argument, "node " + match.ambiguity(text)).in(flag);
  }

  std::vector<std::string_view> names_;
  std::vector<std::string> path_of_;                    // by the index of the name
  std::unordered_map<std::string, std::size_t> paths_;  // → how many nodes have it
  domain::HostNames hosts_;
};

// gpu[01-08] → its names; anything else: itself.
Result<std::vector<std::string>> expanded(const std::string& flag, const NamedNodes& nodes,
                                          const std::string& text) {
  if (text.find('[') == std::string::npos || nodes.is_known(text)) return std::vector{text};
  auto names = codec::expand_hostlist(text);
  if (!names) return std::move(names).error().in(flag);
  return names;
}

// Whether --failed or --existing names a node that its path alone does not tell from others.
bool names_shared_path(const NamedNodes& nodes, const PlanFlags& flags) {
  const auto any = [&](const std::vector<std::string>& texts, bool counted) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      const auto names = expanded("", nodes, counted ? text.substr(0, text.rfind('=')) : text);
      return names && std::any_of(names->begin(), names->end(),
                                  [&](const std::string& name) { return nodes.shares_path(name); });
    });
  };
  return any(flags.failed, false) || any(flags.existing, true);
}

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

Result<void> put_paths(std::string& network, PlanFlags& flags) {
  if (flags.existing.empty() && flags.failed.empty() && flags.if_fails.empty()) return {};
  auto tree = codec::parse_json(network, kFlagLimits);
  if (!tree) return Error(tree.error());
  NamedNodes nodes{JsonValue(*tree)};
  if (names_shared_path(nodes, flags)) {
    if (auto finer = with_node_level(JsonValue(*tree))) {
      network = *std::move(finer);
      tree = codec::parse_json(network, kFlagLimits);
      if (!tree) return Error(tree.error());
      nodes = NamedNodes{JsonValue(*tree)};
    }
  }
  // Replaces each text by those of its host list; counted: what follows the last = is kept.
  const auto replace = [&nodes](const std::string& flag, std::vector<std::string>& texts,
                                bool counted, const auto& resolve) -> Result<void> {
    std::vector<std::string> out;
    for (const std::string& text : texts) {
      const std::size_t end = counted ? std::min(text.rfind('='), text.size()) : text.size();
      const auto names = expanded(flag, nodes, text.substr(0, end));
      if (!names) return Error(names.error());
      for (const std::string& name : *names) {
        const bool missing_count = counted && end == text.size();  // an error later
        auto resolved = missing_count ? Result<std::string>(name) : resolve(flag, name);
        if (!resolved) return std::move(resolved).error();
        out.push_back(*resolved + text.substr(end));
      }
    }
    texts = std::move(out);
    return {};
  };
  const auto path_of = [&nodes](const std::string& flag, const std::string& text) {
    return nodes.path_of(flag, text);
  };
  const auto name_of = [&nodes](const std::string& flag, const std::string& text) {
    return nodes.name_of(flag, text);
  };
  if (auto done = replace("--failed", flags.failed, false, path_of); !done) return done;
  if (auto done = replace("--existing", flags.existing, true, path_of); !done) return done;
  return replace("--if-fails", flags.if_fails, false, name_of);
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
