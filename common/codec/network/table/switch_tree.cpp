#include "common/codec/network/table/switch_tree.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
Result<std::size_t> SwitchTree::find_or_add(const std::string& name, const std::string& where) {
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  if (auto good = check_network_name("switch", name); !good) {
    return located(std::move(good).error(), where);
  }
  if (switches_.size() >= limits::kMaxNetworkDomains) {
    return located(too_many(limits::kMaxNetworkDomains, "switches; split the file"), where);
  }
  index_.emplace(name, switches_.size());
  switches_.push_back({name, "", where});
  return switches_.size() - 1;
}

Result<void> SwitchTree::declare(const std::string& name, const std::string& where) {
  Result<std::size_t> found = find_or_add(name, where);
  if (!found) return std::move(found).error();
  Switch& one = switches_[*found];
  if (!one.where.empty()) {
    return located(
        network_error("duplicate switch " + quoted_excerpt(name) + ", first at " + one.where),
        where);
  }
  one.where = where;
  return {};
}

Result<void> SwitchTree::connect(const std::string& parent, const std::string& child,
                                 const std::string& where) {
  const Result<std::size_t> above = find_or_add(parent, where);
  if (!above) return above.error();
  const Result<std::size_t> below = find_or_add(child, where);
  if (!below) return below.error();
  Switch& one = switches_[*below];
  if (one.parent != kNone) {
    return located(network_error("switch " + quoted_excerpt(child) + " has two parents, " +
                                 quoted_excerpt(switches_[one.parent].name) + " and " +
                                 quoted_excerpt(parent) + "; keep one"),
                   where);
  }
  one.parent = *above;
  ++switches_[*above].children;
  return {};
}

Result<void> SwitchTree::attach(const std::string& name, domain::NetworkNode node,
                                const std::string& where) {
  const Result<std::size_t> found = find_or_add(name, where);
  if (!found) return found.error();
  if (nodes_.size() >= limits::kMaxNetworkNodes) {
    return located(too_many(limits::kMaxNetworkNodes, "nodes; split the file"), where);
  }
  ++switches_[*found].children;
  nodes_.push_back({*found, std::move(node), where});
  return {};
}

Result<void> SwitchTree::require_declared() const {
  for (const Switch& one : switches_) {
    if (one.where.empty()) {
      return located(network_error("switch " + quoted_excerpt(one.name) +
                                   " is not declared anywhere; declare it or remove it here"),
                     one.wanted);
    }
  }
  return {};
}

Result<std::vector<std::size_t>> SwitchTree::line_to(std::size_t leaf) const {
  std::vector<std::size_t> line;
  for (std::size_t i = leaf; i != kNone; i = switches_[i].parent) {
    line.push_back(i);
    if (line.size() > limits::kMaxNetworkLevels) break;
  }
  if (line.size() <= limits::kMaxNetworkLevels) {
    std::reverse(line.begin(), line.end());
    return line;
  }
  const std::string shown = "switch " + quoted_excerpt(switches_[leaf].name);
  std::set<std::size_t> seen;
  for (std::size_t i = leaf; i != kNone; i = switches_[i].parent) {
    if (seen.insert(i).second) continue;
    return located(network_error("switch " + quoted_excerpt(switches_[i].name) +
                                 " is below itself; remove one connection of the cycle"),
                   switches_[i].wanted);
  }
  return located(make_error(Errc::limit_exceeded, shown + " is " + std::to_string(seen.size()) +
                                                      " levels deep; must be " + "at most " +
                                                      std::to_string(limits::kMaxNetworkLevels)),
                 switches_[leaf].wanted);
}

void SwitchTree::warn_of_empty(Warnings& warnings) const {
  for (const Switch& one : switches_) {
    if (one.children > 0) continue;
    warnings.add("switch " + quoted_excerpt(one.name) + " has no nodes below it and is left out");
  }
}

Result<domain::NetworkTable> SwitchTree::table(std::vector<std::string> accelerator_levels,
                                               Warnings& warnings) const {
  std::size_t depth = 0;
  // Of every switch, so that a ring without nodes is found too.
  std::vector<std::vector<std::size_t>> lines;
  lines.reserve(switches_.size());
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    Result<std::vector<std::size_t>> line = line_to(i);
    if (!line) return std::move(line).error();
    lines.push_back(*std::move(line));
  }
  for (const Attached& one : nodes_) depth = std::max(depth, lines[one.to].size());
  NetworkTableBuilder builder(switch_levels(depth), std::move(accelerator_levels));
  for (const Attached& one : nodes_) {
    domain::NetworkNode node = one.node;
    for (const std::size_t i : lines[one.to]) node.path.push_back(switches_[i].name);
    node.path.resize(depth, switches_[one.to].name);
    builder.add(std::move(node), one.where);
  }
  warn_of_empty(warnings);
  return std::move(builder).take();
}

}  // namespace chipweave::codec
