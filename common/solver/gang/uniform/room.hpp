// Room — how many pods of one kind each unit and domain of a fabric can take, for one question.
//
// Domain: the most pods that can come to it so that every slice in it is whole, running pods of the
// same set counted. Running pods may leave a slice that must be made whole: then at least `base`
// pods have to come. Above the base the pods of a domain go up by steps; amounts are counted in
// them (`Amount`).
// Cost of making it: O(units x kinds of nodes in them + noted nodes).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

using Amount = int;

// What a question knows of a node beside the fabric.
struct NodeNote {
  int running = 0;     // pods of the set that is asked for
  bool paid = false;   // pods of the gang are there: it and its domains cost nothing more
  int used_chips = 0;  // by pods of the gang that were placed a moment ago
  int used_pods = 0;
  bool closed = false;  // takes none
};
using Notes = std::unordered_map<FabricNodeId, NodeNote>;

// Pods that are alike.
struct PodKind {
  int pods = 0;             // at most
  int chips = 0;            // of each
  std::vector<int> slices;  // by level, 0 or 1 where there is none; shorter: none
};

class Room {
 public:
  // hosts: finest domains are asked for by themselves, so none is taken for a part of a unit.
  Room(const Fabric& fabric, const PodKind& kind, const Notes& notes, bool hosts = false);

  // Nodes of a unit that are alike for this question. Those with notes stand alone.
  struct Kind {
    Amount amount = 0;       // above its base
    std::uint64_t free = 0;  // chips
    int count = 0;
    bool paid = false;
    FabricNodeId node = kNowhere;  // the one, if it stands alone
    int base = 0;
  };
  struct Kinds {
    const Kind* first;
    const Kind* last;
    const Kind* begin() const { return first; }
    const Kind* end() const { return last; }
  };
  // Largest amount first, of equal ones the least free chips.
  Kinds kinds(DomainId unit) const {
    const OfDomain& of = domains_[unit];
    return {kinds_.data() + of.first_kind, kinds_.data() + of.last_kind};
  }
  // Of a node, as kinds() counts it.
  Kind of_node(FabricNodeId node) const;

  bool unit(DomainId domain) const { return domains_[domain].unit; }
  int most(DomainId domain) const { return domains_[domain].most; }  // pods
  int base(DomainId domain) const { return domains_[domain].base; }
  Amount amount(DomainId domain) const {
    return (domains_[domain].most - domains_[domain].base) / step(domain);
  }
  bool paid(DomainId domain) const { return domains_[domain].paid; }
  // A slice with running pods cannot be made whole in it.
  bool broken(DomainId domain) const { return domains_[domain].broken; }
  std::uint64_t free(DomainId domain) const { return domains_[domain].free; }
  // Domains in which the same can happen at the same cost have the same number.
  std::uint64_t likeness(DomainId domain) const { return domains_[domain].likeness; }

  int step(DomainId domain) const { return step_at(fabric_.level(domain)); }
  // Of what a domain consists of: children, or the nodes of a unit.
  int inner_step(DomainId domain) const;
  // So much of the domain, in steps of what it consists of and above their bases.
  Amount inner(DomainId domain, Amount amount) const {
    return (base(domain) - domains_[domain].base_inside + amount * step(domain)) /
           inner_step(domain);
  }
  // And back: the most of the domain that so much of what it consists of holds.
  Amount outer(DomainId domain, Amount inside) const {
    return (inside * inner_step(domain) - base(domain) + domains_[domain].base_inside) /
           step(domain);
  }
  int pods(DomainId domain, Amount amount) const { return base(domain) + amount * step(domain); }
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
    std::uint64_t likeness = 0;
    std::uint32_t first_kind = 0;
    std::uint32_t last_kind = 0;
    std::uint32_t histogram = 0;
    bool paid = false;
    bool broken = false;
    bool unit = false;
  };

  int step_at(int level) const { return steps_[static_cast<std::size_t>(level) + 1]; }
  int node_level(DomainId unit) const;
  DomainId unit_of(FabricNodeId node) const {
    return hosts_ ? fabric_.node(node).domain : fabric_.unit_of(node);
  }
  bool is_unit(DomainId domain) const {
    return hosts_ ? fabric_.level(domain) + 1 == static_cast<int>(fabric_.levels())
                  : fabric_.is_unit(domain);
  }
  int pods_on(int free, int max_pods) const;
  Kind noted(FabricNodeId node, DomainId unit, bool* broken) const;
  void count(DomainId domain);
  void count_unit(DomainId unit);
  void count_kind(OfDomain& of, const Kind& kind, int step);
  void add_histogram(DomainId from, Histogram& to) const;
  void close(DomainId domain, std::int64_t most, std::int64_t base);

  const Fabric& fabric_;
  const PodKind& kind_;
  const Notes& notes_;
  bool hosts_;
  std::vector<int> steps_;  // by level + 1; the last one: nodes that are no domain
  std::unordered_map<DomainId, std::vector<FabricNodeId>> noted_;  // by unit
  std::vector<OfDomain> domains_;
  std::vector<Kind> kinds_;
  std::vector<Histogram> histograms_;  // of domains that are no units
  std::size_t most_room_ = 0;          // of a node
  bool one_node_each_ = true;
  bool nodes_follow_ = true;
  int like_room_ = 0;  // of the first node that takes any
  std::uint64_t like_free_ = 0;
};

}  // namespace chipweave::solver
