#include "common/solver/gang/fabric.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {
namespace {

// New members are inserted in order into lists up to this size; longer lists are sorted when read.
constexpr std::size_t kMaxSortedInsert = 1024;

template <class Id, class Before>
bool put(std::vector<Id>& list, Id id, bool sorted, const Before& before) {
  if (!sorted || list.empty() || before(list.back(), id)) {
    list.push_back(id);
    return sorted;
  }
  if (list.size() > kMaxSortedInsert) {
    list.push_back(id);
    return false;
  }
  list.insert(std::lower_bound(list.begin(), list.end(), id, before), id);
  return true;
}

}  // namespace

Fabric::Fabric(std::size_t levels) : levels_(levels), domains_(1), at_level_(levels, 0) {}

FabricNodeId Fabric::find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? kNowhere : it->second;
}

// Known names in natural order, then unknown domains by the names of their nodes.
bool Fabric::sibling_before(DomainId a, DomainId b) const {
  const Domain& x = domains_[a];
  const Domain& y = domains_[b];
  if (x.name.empty() != y.name.empty()) return y.name.empty();
  return x.name.empty() ? natural_less(x.alone, y.alone) : natural_less(x.name, y.name);
}

DomainId Fabric::child(DomainId parent, const std::string& name, const std::string& node) {
  if (!name.empty()) {
    if (const auto it = by_path_.find({parent, name}); it != by_path_.end()) return it->second;
  }
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
  ++at_level_[static_cast<std::size_t>(made.level)];
  Domain& above = domains_[parent];
  if (made.level == finest()) ++above.not_one;
  above.counted = false;
  above.sorted = put(above.children, id, above.sorted,
                     [this](DomainId a, DomainId b) { return sibling_before(a, b); });
  if (!name.empty()) by_path_.emplace(Key{parent, name}, id);
  return id;
}

Result<FabricNodeId> Fabric::add(std::string name, const std::vector<std::string>& path) {
  if (path.size() > levels_) {
    return make_error(Errc::invalid_argument, "has " + std::to_string(path.size()) +
                                                  " elements, there are " +
                                                  std::to_string(levels_) + " levels");
  }
  if (by_name_.contains(name))
    return make_error(Errc::conflict, "node '" + name + "' exists already");
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
  nodes_[id].in_use = true;
  Domain& home = domains_[in];
  home.sorted = put(home.nodes, id, home.sorted, [this](FabricNodeId a, FabricNodeId b) {
    return natural_less(nodes_[a].name, nodes_[b].name);
  });
  nodes_changed(in, home.nodes.size() - 1);
  kinds_changed(id);
  by_name_.emplace(std::move(name), id);
  return id;
}

void Fabric::remove(FabricNodeId node) {
  FabricNode& gone = nodes_[node];
  kinds_changed(node);
  std::vector<FabricNodeId>& siblings = domains_[gone.domain].nodes;
  std::erase(siblings, node);
  nodes_changed(gone.domain, siblings.size() + 1);
  drop_if_empty(gone.domain);
  by_name_.erase(gone.name);
  gone = FabricNode{};
  unused_nodes_.push_back(node);
}

void Fabric::nodes_changed(DomainId finest_domain, std::size_t before) {
  const Domain& home = domains_[finest_domain];
  if (home.parent == kNowhere) return;
  Domain& above = domains_[home.parent];
  if (before == 1) ++above.not_one;
  if (home.nodes.size() == 1) --above.not_one;
}

void Fabric::kinds_changed(FabricNodeId node) {
  const Domain& home = domains_[nodes_[node].domain];
  home.counted = false;
  if (home.parent != kNowhere) domains_[home.parent].counted = false;
}

void Fabric::set_free(FabricNodeId node, int chips) {
  nodes_[node].free = chips;
  kinds_changed(node);
}
void Fabric::set_max_pods(FabricNodeId node, int pods) {
  nodes_[node].max_pods = pods;
  kinds_changed(node);
}
void Fabric::set_healthy(FabricNodeId node, bool healthy) {
  nodes_[node].healthy = healthy;
  kinds_changed(node);
}

void Fabric::drop_if_empty(DomainId domain) {
  while (domain != kRootDomain && domains_[domain].nodes.empty() &&
         domains_[domain].children.empty()) {
    Domain& gone = domains_[domain];
    const DomainId parent = gone.parent;
    Domain& above = domains_[parent];
    if (gone.level == finest()) --above.not_one;
    --at_level_[static_cast<std::size_t>(gone.level)];
    std::erase(above.children, domain);
    above.counted = false;
    if (!gone.name.empty()) by_path_.erase({parent, gone.name});
    gone = Domain{};
    unused_domains_.push_back(domain);
    domain = parent;
  }
}

const std::vector<DomainId>& Fabric::children(DomainId domain) const {
  const Domain& d = domains_[domain];
  if (!d.sorted) {
    std::sort(d.children.begin(), d.children.end(),
              [this](DomainId a, DomainId b) { return sibling_before(a, b); });
    d.sorted = true;
  }
  return d.children;
}

const std::vector<FabricNodeId>& Fabric::nodes(DomainId domain) const {
  const Domain& d = domains_[domain];
  if (!d.sorted) {
    std::sort(d.nodes.begin(), d.nodes.end(), [this](FabricNodeId a, FabricNodeId b) {
      return natural_less(nodes_[a].name, nodes_[b].name);
    });
    d.sorted = true;
  }
  return d.nodes;
}

std::vector<DomainId> Fabric::domains_of_level(DomainId inside, int level) const {
  if (domains_[inside].level >= level) return {inside};
  std::vector<DomainId> out;
  for (const DomainId child : children(inside)) {
    const std::vector<DomainId> below = domains_of_level(child, level);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

DomainId Fabric::domain_of(FabricNodeId node, int level) const {
  DomainId at = nodes_[node].domain;
  while (domains_[at].level > level) at = domains_[at].parent;
  return at;
}

bool Fabric::before(FabricNodeId a, FabricNodeId b) const {
  DomainId x = nodes_[a].domain;
  DomainId y = nodes_[b].domain;
  if (x == y) return natural_less(nodes_[a].name, nodes_[b].name);
  while (domains_[x].parent != domains_[y].parent) {
    x = domains_[x].parent;
    y = domains_[y].parent;
  }
  return sibling_before(x, y);
}

bool Fabric::is_pool(DomainId domain) const {
  const Domain& d = domains_[domain];
  if (d.level == finest()) return d.parent == kNowhere || !is_pool(d.parent);
  return d.level + 1 == finest() && d.not_one == 0;
}

DomainId Fabric::pool_of(FabricNodeId node) const {
  const DomainId home = nodes_[node].domain;
  const DomainId above = domains_[home].parent;
  return above != kNowhere && is_pool(above) ? above : home;
}

const std::vector<NodeKind>& Fabric::kinds(DomainId pool) const {
  const Domain& d = domains_[pool];
  if (d.counted) return d.kinds;
  std::vector<NodeKind> all;
  each_node(pool, [&](FabricNodeId id) {
    const FabricNode& node = nodes_[id];
    if (node.healthy) all.push_back({node.free, node.max_pods, 1});
  });
  std::sort(all.begin(), all.end(), [](const NodeKind& a, const NodeKind& b) {
    return std::tie(a.free, a.max_pods) > std::tie(b.free, b.max_pods);
  });
  d.kinds.clear();
  for (const NodeKind& one : all) {
    if (!d.kinds.empty() && d.kinds.back().free == one.free &&
        d.kinds.back().max_pods == one.max_pods)
      ++d.kinds.back().count;
    else
      d.kinds.push_back(one);
  }
  d.counted = true;
  return d.kinds;
}

}  // namespace chipweave::solver
