// Fabric — the network above the nodes as the planner needs it, updated in place: a forest of
// domains, the nodes in the finest of them, and what each node has free.
//
// A domain is identified by its whole path. Where a node's path has an unknown element, the node is
// alone in its domains from that level on. Domain 0 is a root above all, without a level. Children
// and nodes are listed in natural order of their names.
//
// A *pool* is the smallest domain whose nodes are counted by kind instead of one by one: a finest
// domain, or one above it whose children have one node each (racks, where the last level is the
// host).
//
// Cost of a change: O(levels). The kinds of a pool are recounted when they are next read, O(nodes
// of the pool), and siblings are sorted again after many were added. Owner: one thread, readers
// included, since reading may recount.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/solver/gang/chip_fit.hpp"

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
  int max_pods = kUnlimitedPods;  // that it takes in addition
  bool healthy = true;
  bool in_use = false;  // false: removed, its number will be reused
};

// Interchangeable healthy nodes of a pool; most free chips first.
struct NodeKind {
  int free = 0;
  int max_pods = kUnlimitedPods;
  int count = 0;
};

class Fabric {
 public:
  explicit Fabric(std::size_t levels);

  // path: at most one element per level; missing and empty ones are unknown. Errors: conflict (the
  // name exists), invalid_argument (the path is too long).
  Result<FabricNodeId> add(std::string name, const std::vector<std::string>& path);
  // The number may be given to another node afterwards.
  void remove(FabricNodeId node);
  void set_free(FabricNodeId node, int chips);
  void set_max_pods(FabricNodeId node, int pods);
  void set_healthy(FabricNodeId node, bool healthy);
  // What restricts pods of several sizes on one node beyond its free chips; null: nothing. Copies
  // of the fabric share it.
  void set_chip_fit(std::shared_ptr<ChipFit> fit) { chip_fit_ = std::move(fit); }
  ChipFit* chip_fit() const { return chip_fit_.get(); }

  std::size_t levels() const { return levels_; }
  const FabricNode& node(FabricNodeId node) const { return nodes_[node]; }
  // Upper bound of the numbers in use.
  std::size_t node_numbers() const { return nodes_.size(); }
  std::size_t size() const { return by_name_.size(); }
  FabricNodeId find(std::string_view name) const;  // kNowhere: no such node

  std::size_t domain_numbers() const { return domains_.size(); }
  // The number of domains of that level.
  std::size_t domains_at(int level) const { return at_level_[static_cast<std::size_t>(level)]; }
  const std::string& name(DomainId domain) const { return domains_[domain].name; }
  int level(DomainId domain) const { return domains_[domain].level; }  // the root: -1
  DomainId parent(DomainId domain) const { return domains_[domain].parent; }
  const std::vector<DomainId>& children(DomainId domain) const;
  const std::vector<FabricNodeId>& nodes(DomainId domain) const;  // of a finest domain
  // The domain of that level that the node is in.
  DomainId domain_of(FabricNodeId node, int level) const;

  // Whether a comes before b in depth-first order.
  bool before(FabricNodeId a, FabricNodeId b) const;

  // On the path from a node to the root exactly one domain is a pool.
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
  // All nodes below a domain, depth-first.
  template <class Visit>
  void each_node_below(DomainId domain, const Visit& visit) const {
    for (const FabricNodeId node : nodes(domain)) visit(node);
    for (const DomainId child : children(domain)) each_node_below(child, visit);
  }
  // The domains of that level inside a domain, depth-first; the domain itself if it is not above
  // the level, or for domain::kNoLevel.
  std::vector<DomainId> domains_of_level(DomainId inside, int level) const;

 private:
  struct Domain {
    std::string name;   // empty: unknown, for one node alone
    std::string alone;  // that node
    int level = -1;
    DomainId parent = kNowhere;
    std::size_t not_one = 0;  // finest children without exactly one node
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
  std::shared_ptr<ChipFit> chip_fit_;
  std::vector<Domain> domains_;
  std::vector<std::size_t> at_level_;
  std::vector<DomainId> unused_domains_;
  std::vector<FabricNode> nodes_;
  std::vector<FabricNodeId> unused_nodes_;
  std::unordered_map<std::string, FabricNodeId> by_name_;
  std::unordered_map<Key, DomainId, KeyHash> by_path_;
};

}  // namespace chipweave::solver
