// Room — how many pods of one kind each node and each domain can take, for one question.
//
// Domain: the most pods that can be placed in it so that every slice in it is whole, existing pods
// of the gang counted. Existing pods may leave a slice that must be made whole: then at least
// `base` pods have to come.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// Existing pods of the gang, by node.
using Existing = std::unordered_map<FabricNodeId, int>;

class Room {
 public:
  // slice: by level, 0 or 1 where there is none. node_room: the pods that a node takes.
  Room(const Fabric& fabric, std::vector<int> slice, const Existing& existing,
       const std::function<int(FabricNodeId)>& node_room);

  int of_node(FabricNodeId node) const { return nodes_[node]; }
  int of(DomainId domain) const { return domains_[domain].most; }
  int base(DomainId domain) const { return domains_[domain].base; }
  // A slice with existing pods cannot be made whole in it.
  bool broken(DomainId domain) const { return domains_[domain].broken; }
  int existing(DomainId domain) const { return domains_[domain].existing; }
  int existing_on(FabricNodeId node) const {
    const auto it = existing_.find(node);
    return it == existing_.end() ? 0 : it->second;
  }
  // Free chips of its healthy nodes.
  std::uint64_t free(DomainId domain) const { return domains_[domain].free; }
  // By how many the pods of a domain of this level (levels(): of a node) may differ.
  int step(int level) const;
  // The pods that may come to a domain go up by steps from its base; the most that are not more.
  int at_most(DomainId domain, int pods) const;
  // No way to place so many pods in the domain uses fewer nodes; 0: not known.
  int fewest_nodes(DomainId domain, int pods) const;
  // Whether every finest domain is one node.
  bool one_node_each() const { return one_node_each_; }
  // Whether all nodes that take pods take as many, have as much free, and none has any already.
  bool uniform() const { return uniform_; }
  int uniform_room() const { return uniform_room_; }

 private:
  static constexpr std::size_t kMostRoom = 64;
  using Histogram = std::array<std::uint32_t, kMostRoom + 1>;  // of what its nodes take
  struct OfDomain {
    int most = 0;
    int base = 0;
    int existing = 0;
    std::uint64_t free = 0;
    bool broken = false;
    std::int32_t histogram = -1;  // none: a finest domain
  };
  void count(const Fabric& fabric, DomainId domain,
             const std::function<int(FabricNodeId)>& node_room);

  void add_histogram(const Fabric& fabric, DomainId from, Histogram& to);

  std::vector<int> slice_;
  const Existing& existing_;
  std::vector<int> nodes_;
  std::vector<OfDomain> domains_;
  std::vector<int> level_;
  std::vector<Histogram> histograms_;
  bool histograms_whole_ = true;  // no node takes more than they can say
  bool one_node_each_ = true;
  bool uniform_ = true;
  int uniform_room_ = 0;
  int uniform_free_ = 0;
};

}  // namespace chipweave::solver
