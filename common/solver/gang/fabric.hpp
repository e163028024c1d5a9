// Fabric — the network above the nodes as the planner needs it, kept up to date in place: a forest
// of domains, the nodes in the finest of them, and what each node has free.
//
// A domain is its whole path. An element that is not known is a domain of that node alone, so such
// nodes share nothing from there on. Domain 0 is a root above all, of no level. Children and nodes
// are given in natural order of their names.
//
// A *pool* is where counting ends: a finest domain, or one above whose children are one node each
// (racks, where the last level is the host). It knows how many of its nodes are alike, so that a
// question looks at kinds instead of nodes.
//
// Cost of a change: O(levels); what a pool knows of its nodes is made again when it is next asked
// for, O(nodes of that pool), and the order of siblings after many came. Owner: one thread, readers
// included (they make it again).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::solver {

using DomainId = std::uint32_t;
using FabricNodeId = std::uint32_t;
inline constexpr DomainId kRootDomain = 0;
inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
inline constexpr int kUnlimitedPods = std::numeric_limits<int>::max();

struct FabricNode {
  std::string name;
  DomainId domain = kRootDomain;  // the finest one
  int free = 0;                   // chips
  int max_pods = kUnlimitedPods;  // further pods that it takes
  bool healthy = true;
  bool there = false;  // false: its number waits for another node
};

// Healthy nodes of a pool that are alike; most free chips first.
struct NodeKind {
  int free = 0;
  int max_pods = kUnlimitedPods;
  int count = 0;
};

class Fabric {
 public:
  explicit Fabric(std::size_t levels);

  // path: an element a level at most; those that are missing are not known. Errors: conflict (a
  // node of this name is there), invalid_argument (the path is too long).
  Result<FabricNodeId> add(std::string name, const std::vector<std::string>& path);
  // Its number may be another node's afterwards.
  void remove(FabricNodeId node);
  void set_free(FabricNodeId node, int chips);
  void set_max_pods(FabricNodeId node, int pods);
  void set_healthy(FabricNodeId node, bool healthy);

  std::size_t levels() const { return levels_; }
  const FabricNode& node(FabricNodeId node) const { return nodes_[node]; }
  // Numbers below it are nodes or free.
  std::size_t node_numbers() const { return nodes_.size(); }
  std::size_t size() const { return by_name_.size(); }
  FabricNodeId find(std::string_view name) const;  // kNowhere: no such node

  std::size_t domain_numbers() const { return domains_.size(); }
  // How many there are of that level.
  std::size_t domains_at(int level) const { return at_level_[static_cast<std::size_t>(level)]; }
  const std::string& name(DomainId domain) const { return domains_[domain].name; }
  int level(DomainId domain) const { return domains_[domain].level; }  // the root: -1
  DomainId parent(DomainId domain) const { return domains_[domain].parent; }
  const std::vector<DomainId>& children(DomainId domain) const;
  const std::vector<FabricNodeId>& nodes(DomainId domain) const;  // of a finest one
  // The domain of that level that the node is in.
  DomainId domain_of(FabricNodeId node, int level) const;

  // Whether it comes first depth-first over the tree.
  bool before(FabricNodeId a, FabricNodeId b) const;

  // Only one of a chain of domains is a pool, the one highest up.
  bool is_pool(DomainId domain) const;
  // Whether each node of the pool is a domain of the finest level.
  bool is_rack(DomainId pool) const { return domains_[pool].level != finest(); }
  DomainId pool_of(FabricNodeId node) const;
  const std::vector<NodeKind>& kinds(DomainId pool) const;
  template <class Visit>
  void each_node(DomainId pool, const Visit& visit) const {
    if (!is_rack(pool)) {
      for (const FabricNodeId node : nodes(pool)) visit(node);
      return;
    }
    for (const DomainId host : children(pool)) visit(nodes(host).front());
  }

 private:
  struct Domain {
    std::string name;   // empty: not known, of one node alone
    std::string alone;  // that node
    int level = -1;
    DomainId parent = kNowhere;
    std::size_t not_one = 0;  // finest children that do not hold exactly one node
    mutable std::vector<DomainId> children;
    mutable std::vector<FabricNodeId> nodes;
    mutable std::vector<NodeKind> kinds;
    mutable bool sorted = true;
    mutable bool counted = false;
  };
  struct Key {
    DomainId parent;
    std::string name;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string>()(key.name) * 31 + key.parent;
    }
  };

  int finest() const { return static_cast<int>(levels_) - 1; }
  DomainId child(DomainId parent, const std::string& name, const std::string& node);
  void nodes_changed(DomainId finest_domain, std::size_t before);
  void kinds_changed(FabricNodeId node);
  void drop_if_empty(DomainId domain);
  bool sibling_before(DomainId a, DomainId b) const;

  std::size_t levels_;
  std::vector<Domain> domains_;
  std::vector<std::size_t> at_level_;
  std::vector<DomainId> unused_domains_;
  std::vector<FabricNode> nodes_;
  std::vector<FabricNodeId> unused_nodes_;
  std::unordered_map<std::string, FabricNodeId> by_name_;
  std::unordered_map<Key, DomainId, KeyHash> by_path_;
};

}  // namespace chipweave::solver
