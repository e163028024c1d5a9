// Fabric — the network above the nodes as the planner needs it, kept up to date in place: a forest
// of domains, the nodes in the finest of them, and what each node has free.
//
// A domain is its whole path. An element that is not known is a domain of that node alone, so such
// nodes share nothing from there on. Domain 0 is a root above all, of no level. Children and nodes
// stand in natural order of their names. Cost of a change: the depth, and a search among siblings.
// Owner: one thread.
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
inline constexpr int kAnyPods = std::numeric_limits<int>::max();

struct FabricNode {
  std::string name;
  DomainId domain = kRootDomain;  // the finest one
  int free = 0;                   // chips
  int max_pods = kAnyPods;        // further pods that it takes
  bool healthy = true;
  bool there = false;  // false: its number waits for another node
};

struct Domain {
  std::string name;  // empty: not known, of one node alone
  int level = -1;
  DomainId parent = kNowhere;
  std::vector<DomainId> children;
  std::vector<FabricNodeId> nodes;  // of the finest level
  std::string alone;                // the node whose element is not known
};

class Fabric {
 public:
  explicit Fabric(std::size_t levels);

  // path: an element a level at most; those that are missing are not known. Errors: conflict (a
  // node of this name is there), invalid_argument (the path is too long).
  Result<FabricNodeId> add(std::string name, const std::vector<std::string>& path);
  // Its number may be another node's afterwards.
  void remove(FabricNodeId node);
  void set_free(FabricNodeId node, int chips) { nodes_[node].free = chips; }
  void set_max_pods(FabricNodeId node, int pods) { nodes_[node].max_pods = pods; }
  void set_healthy(FabricNodeId node, bool healthy) { nodes_[node].healthy = healthy; }

  std::size_t levels() const { return levels_; }
  const FabricNode& node(FabricNodeId node) const { return nodes_[node]; }
  // Numbers below it are nodes or free.
  std::size_t node_numbers() const { return nodes_.size(); }
  std::size_t size() const { return by_name_.size(); }
  FabricNodeId find(std::string_view name) const;  // kNowhere: no such node
  const Domain& domain(DomainId domain) const { return domains_[domain]; }
  std::size_t domain_numbers() const { return domains_.size(); }
  // The one of that level that the node is in.
  DomainId domain_of(FabricNodeId node, int level) const;

 private:
  DomainId child(DomainId parent, const std::string& name, const std::string& node);
  void drop_if_empty(DomainId domain);

  std::size_t levels_;
  std::vector<Domain> domains_;
  std::vector<DomainId> unused_domains_;
  std::vector<FabricNode> nodes_;
  std::vector<FabricNodeId> unused_nodes_;
  std::unordered_map<std::string, FabricNodeId> by_name_;
};

}  // namespace chipweave::solver
