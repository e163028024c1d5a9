// Capacity — how many pods of one kind each pool and domain of a fabric can take, for one question.
//
// Domain: the most pods that can come to it so that every slice in it is whole, running pods of the
// same set counted. Running pods may leave a slice that must be made whole: then at least `base`
// pods have to come. Above the base the pods of a domain go up by steps; units are counted in
// them (`Units`).
// Cost of making it: O(pools x kinds of nodes in them + kind_with_usage nodes).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

using Units = int;

// What a question knows of a node beside the fabric.
struct NodeUsage {
  int running = 0;            // pods of the set that is asked for
  bool already_used = false;  // pods of the gang are there: it and its domains cost nothing more
  int used_chips = 0;         // by pods of the gang that were placed a moment ago
  int used_pods = 0;
  bool excluded = false;  // takes none
};
using NodeUsages = std::unordered_map<FabricNodeId, NodeUsage>;

// Pods that are alike.
struct PodKind {
  int pods = 0;             // at most
  int chips = 0;            // of each
  std::vector<int> slices;  // by level, 0 or 1 where there is none; shorter: none
};

class Capacity {
 public:
  // hosts: finest domains are asked for by themselves, so none is taken for a part of a pool.
  Capacity(const Fabric& fabric, const PodKind& kind, const NodeUsages& usages, bool hosts = false);

  // Nodes of a pool that are alike for this question. Those with usages stand alone.
  struct Kind {
    Units units = 0;         // above its base
    std::uint64_t free = 0;  // chips
    int count = 0;
    bool already_used = false;
    FabricNodeId node = kNowhere;  // the one, if it stands alone
    int base = 0;
  };
  struct Kinds {
    const Kind* first;
    const Kind* last;
    const Kind* begin() const { return first; }
    const Kind* end() const { return last; }
  };
  // Largest units first, of equal ones the least free chips.
  Kinds kinds(DomainId pool) const {
    const OfDomain& of = domains_[pool];
    return {kinds_.data() + of.first_kind, kinds_.data() + of.last_kind};
  }
  // Of a node, as kinds() counts it.
  Kind of_node(FabricNodeId node) const;

  bool is_pool(DomainId domain) const { return domains_[domain].pool; }
  int most(DomainId domain) const { return domains_[domain].most; }  // pods
  int base(DomainId domain) const { return domains_[domain].base; }
  Units units(DomainId domain) const {
    return (domains_[domain].most - domains_[domain].base) / step(domain);
  }
  bool already_used(DomainId domain) const { return domains_[domain].already_used; }
  // A slice with running pods cannot be made whole in it.
  bool broken(DomainId domain) const { return domains_[domain].broken; }
  std::uint64_t free(DomainId domain) const { return domains_[domain].free; }
  // Domains in which the same can happen at the same cost have the same number.
  std::uint64_t symmetry_hash(DomainId domain) const { return domains_[domain].symmetry_hash; }

  int step(DomainId domain) const { return step_at(fabric_.level(domain)); }
  // Of what a domain consists of: children, or the nodes of a pool.
  int inner_step(DomainId domain) const;
  // So much of the domain, in steps of what it consists of and above their bases.
  Units inner(DomainId domain, Units units) const {
    return (base(domain) - domains_[domain].base_inside + units * step(domain)) /
           inner_step(domain);
  }
  // And back: the most of the domain that so much of what it consists of holds.
  Units outer(DomainId domain, Units inside) const {
    return (inside * inner_step(domain) - base(domain) + domains_[domain].base_inside) /
           step(domain);
  }
  int pods(DomainId domain, Units units) const { return base(domain) + units * step(domain); }
  // The most of the numbers of pods that may come to a domain that is not more; the base, if that
  // is more.
  int at_most(DomainId domain, int pods) const;

  // No way to place so many pods in the domain uses fewer nodes; 0: not known.
  int fewest_nodes(DomainId domain, int pods) const;
  // Whether every finest domain is one node.
  bool one_node_each() const { return one_node_each_; }
  // Whether the number of nodes follows from that of the pods wherever they go.
  bool nodes_follow() const { return nodes_follow_; }

 private:
  static constexpr std::size_t kMaxTracked = 64;
  using Histogram = std::array<std::uint32_t, kMaxTracked + 1>;  // of what its nodes take
  struct OfDomain {
    int most = 0;
    int base = 0;
    int base_inside = 0;  // the sum of those inside
    int running = 0;
    std::uint64_t free = 0;
    std::uint64_t symmetry_hash = 0;
    std::uint32_t first_kind = 0;
    std::uint32_t last_kind = 0;
    std::uint32_t histogram = 0;
    bool already_used = false;
    bool broken = false;
    bool pool = false;
  };

  int step_at(int level) const { return steps_[static_cast<std::size_t>(level) + 1]; }
  int node_level(DomainId pool) const;
  DomainId pool_of(FabricNodeId node) const {
    return hosts_ ? fabric_.node(node).domain : fabric_.pool_of(node);
  }
  bool counts_as_pool(DomainId domain) const {
    return hosts_ ? fabric_.level(domain) + 1 == static_cast<int>(fabric_.levels())
                  : fabric_.is_pool(domain);
  }
  int pods_on(int free, int max_pods) const;
  Kind kind_with_usage(FabricNodeId node, DomainId pool, bool* broken) const;
  void count(DomainId domain);
  void count_pool(DomainId pool);
  void count_kind(OfDomain& of, const Kind& kind, int step);
  void add_histogram(DomainId from, Histogram& to) const;
  void close(DomainId domain, std::int64_t most, std::int64_t base);

  const Fabric& fabric_;
  const PodKind& kind_;
  const NodeUsages& usages_;
  bool hosts_;
  std::vector<int> steps_;  // by level + 1; the last one: nodes that are no domain
  std::unordered_map<DomainId, std::vector<FabricNodeId>> with_usage_;  // by pool
  std::vector<OfDomain> domains_;
  std::vector<Kind> kinds_;
  std::vector<Histogram> histograms_;  // of domains that are no pools
  std::size_t largest_node_ = 0;       // of a node
  bool one_node_each_ = true;
  bool nodes_follow_ = true;
  int first_capacity_ = 0;  // of the first node that takes any
  std::uint64_t first_free_ = 0;
};

}  // namespace chipweave::solver
