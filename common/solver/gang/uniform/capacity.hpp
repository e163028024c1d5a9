// Capacity — how many pods of one kind each pool and domain of a fabric can take. Made for one
// request.
//
// The capacity of a domain keeps every slice in it whole, counting running pods of the same set.
// Where running pods leave an incomplete slice, at least `base` pods must go to the domain to
// complete it. Above the base pods come in steps of one slice; a number of steps is called units
// (`Units`). Cost of making it: O(pools x kinds of nodes in them + nodes with a usage).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

using Units = int;

// What a request knows about a node that the fabric does not.
struct NodeUsage {
  int running = 0;            // running pods of the set that is placed
  bool already_used = false;  // has pods of the gang: using it and its domains costs nothing more
  int used_chips = 0;         // by pods of this request that are placed already
  int used_pods = 0;
  bool excluded = false;      // takes no pods
  int most = kUnlimitedPods;  // pods of this size that fit in addition by the machine's rules
};
using NodeUsages = std::unordered_map<FabricNodeId, NodeUsage>;

// Interchangeable pods.
struct PodKind {
  int pods = 0;             // to be placed, at most
  int chips = 0;            // of each
  std::vector<int> slices;  // pods per slice by level; 0, 1 or missing: no slices
};

class Capacity {
 public:
  // hosts: candidates are finest domains, so that each of them is a pool of its own.
  Capacity(const Fabric& fabric, const PodKind& kind, const NodeUsages& usages, bool hosts = false);

  // Interchangeable nodes of a pool. A node with a usage is a kind of its own.
  struct Kind {
    Units units = 0;         // above its base
    std::uint64_t free = 0;  // chips
    int count = 0;
    bool already_used = false;
    FabricNodeId node = kNowhere;  // of a node with a usage
    int base = 0;
  };
  struct Kinds {
    const Kind* first;
    const Kind* last;
    const Kind* begin() const { return first; }
    const Kind* end() const { return last; }
  };
  // Most units first, of equal ones the fewest free chips.
  Kinds kinds(DomainId pool) const {
    const OfDomain& of = domains_[pool];
    return {kinds_.data() + of.first_kind, kinds_.data() + of.last_kind};
  }
  // The kind of one node.
  Kind of_node(FabricNodeId node) const;

  bool is_pool(DomainId domain) const { return domains_[domain].pool; }
  int most(DomainId domain) const { return domains_[domain].most; }  // pods it can take
  int base(DomainId domain) const { return domains_[domain].base; }
  Units units(DomainId domain) const {
    return (domains_[domain].most - domains_[domain].base) / step(domain);
  }
  bool already_used(DomainId domain) const { return domains_[domain].already_used; }
  // A slice with running pods cannot be made whole in it.
  bool broken(DomainId domain) const { return domains_[domain].broken; }
  std::uint64_t free(DomainId domain) const { return domains_[domain].free; }
  // Equal for domains that are interchangeable: the same placements at the same cost.
  std::uint64_t symmetry_hash(DomainId domain) const { return domains_[domain].symmetry_hash; }

  int step(DomainId domain) const { return step_at(fabric_.level(domain)); }
  // The step of a domain's parts: its children, or the nodes of a pool.
  int inner_step(DomainId domain) const;
  // Converts units of the domain to units of its parts, above their bases.
  Units inner(DomainId domain, Units units) const {
    return (base(domain) - domains_[domain].base_inside + units * step(domain)) /
           inner_step(domain);
  }
  // The inverse: the most units of the domain that so many inner units hold.
  Units outer(DomainId domain, Units inside) const {
    return (inside * inner_step(domain) - base(domain) + domains_[domain].base_inside) /
           step(domain);
  }
  int pods(DomainId domain, Units units) const { return base(domain) + units * step(domain); }
  // The largest number of pods up to `pods` that may go to the domain; the base if that is larger.
  int at_most(DomainId domain, int pods) const;

  // Lower bound of the nodes that so many pods in the domain use; 0: not known.
  int fewest_nodes(DomainId domain, int pods) const;
  // Whether every finest domain has exactly one node.
  bool one_node_each() const { return one_node_each_; }
  // Whether the number of pods alone determines the number of nodes they use.
  bool nodes_follow() const { return nodes_follow_; }

 private:
  static constexpr std::size_t kMaxTracked = 64;
  using Histogram = std::array<std::uint32_t, kMaxTracked + 1>;  // of its nodes' capacities
  struct OfDomain {
    int most = 0;
    int base = 0;
    int base_inside = 0;  // sum of the bases inside
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
  std::vector<int> steps_;  // by level + 1; last: nodes that are not domains
  std::unordered_map<DomainId, std::vector<FabricNodeId>> with_usage_;  // by pool
  std::vector<OfDomain> domains_;
  std::vector<Kind> kinds_;
  std::vector<Histogram> histograms_;  // of domains that are not pools
  std::size_t largest_node_ = 0;       // pods
  bool one_node_each_ = true;
  bool nodes_follow_ = true;
  int first_capacity_ = 0;  // of the first node with capacity
  std::uint64_t first_free_ = 0;
};

}  // namespace chipweave::solver
