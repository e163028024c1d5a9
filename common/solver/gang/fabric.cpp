#include "common/solver/gang/fabric.hpp"

#include <algorithm>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {

Fabric::Fabric(std::size_t levels) : levels_(levels), domains_(1) {}

FabricNodeId Fabric::find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? kNowhere : it->second;
}

// Known names in natural order, then those that are not known by their nodes'.
DomainId Fabric::child(DomainId parent, const std::string& name, const std::string& node) {
  const auto before = [this](DomainId a, const std::pair<std::string_view, std::string_view>& b) {
    const Domain& d = domains_[a];
    if (d.name.empty() != b.first.empty()) return b.first.empty();
    return d.name.empty() ? natural_less(d.alone, b.second) : natural_less(d.name, b.first);
  };
  const std::pair<std::string_view, std::string_view> wanted(name, name.empty() ? node : name);
  const std::vector<DomainId>& siblings = domains_[parent].children;
  const auto at = std::lower_bound(siblings.begin(), siblings.end(), wanted, before);
  if (!name.empty() && at != siblings.end() && domains_[*at].name == name) return *at;
  const auto position = at - siblings.begin();
  DomainId id = 0;
  if (unused_domains_.empty()) {
    id = static_cast<DomainId>(domains_.size());
    domains_.emplace_back();
  } else {
    id = unused_domains_.back();
    unused_domains_.pop_back();
  }
  Domain& made = domains_[id];
  made = Domain{};
  made.name = name;
  made.level = domains_[parent].level + 1;
  made.parent = parent;
  if (name.empty()) made.alone = node;
  std::vector<DomainId>& into = domains_[parent].children;
  into.insert(into.begin() + position, id);
  return id;
}

Result<FabricNodeId> Fabric::add(std::string name, const std::vector<std::string>& path) {
  if (path.size() > levels_) {
    return make_error(Errc::invalid_argument, "has " + std::to_string(path.size()) +
                                                  " elements, there are " +
                                                  std::to_string(levels_) + " levels");
  }
  if (by_name_.contains(name))
    return make_error(Errc::conflict, "node '" + name + "' is there already");
  DomainId in = kRootDomain;
  for (std::size_t level = 0; level < levels_; ++level)
    in = child(in, level < path.size() ? path[level] : std::string(), name);
  FabricNodeId id = 0;
  if (unused_nodes_.empty()) {
    id = static_cast<FabricNodeId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = unused_nodes_.back();
    unused_nodes_.pop_back();
  }
  nodes_[id] = FabricNode{};
  nodes_[id].name = name;
  nodes_[id].domain = in;
  nodes_[id].there = true;
  std::vector<FabricNodeId>& beside = domains_[in].nodes;
  const auto at = std::lower_bound(
      beside.begin(), beside.end(), name,
      [this](FabricNodeId a, const std::string& b) { return natural_less(nodes_[a].name, b); });
  beside.insert(at, id);
  by_name_.emplace(std::move(name), id);
  return id;
}

void Fabric::remove(FabricNodeId node) {
  FabricNode& gone = nodes_[node];
  std::erase(domains_[gone.domain].nodes, node);
  drop_if_empty(gone.domain);
  by_name_.erase(gone.name);
  gone = FabricNode{};
  unused_nodes_.push_back(node);
}

void Fabric::drop_if_empty(DomainId domain) {
  while (domain != kRootDomain && domains_[domain].nodes.empty() &&
         domains_[domain].children.empty()) {
    const DomainId parent = domains_[domain].parent;
    std::erase(domains_[parent].children, domain);
    domains_[domain] = Domain{};
    unused_domains_.push_back(domain);
    domain = parent;
  }
}

DomainId Fabric::domain_of(FabricNodeId node, int level) const {
  DomainId at = nodes_[node].domain;
  while (domains_[at].level > level) at = domains_[at].parent;
  return at;
}

}  // namespace chipweave::solver
