// PodPlaces — where pods lie, as far as it makes a difference to an order of ranks: pods with equal
// paths are one class, and an arrangement says which class each position takes.
//
// Classes and domains are numbered depth-first, as depth_first() lists them. Levels that divide
// nothing, or where every pod is alone whatever its position, are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

using PodClass = std::uint32_t;
using Arrangement = std::vector<PodClass>;  // by position

// What a crossing of a border at this level (0: the coarsest) counts: one at the finest, twice as
// much at each level above. At most limits::kMaxNetworkLevels levels.
constexpr std::int64_t level_weight(std::size_t levels, std::size_t level) {
  return std::int64_t{1} << (levels - 1 - level);
}

inline constexpr std::uint32_t kNoDomain = UINT32_MAX;

struct PlaceDomain {
  std::uint32_t parent = kNoDomain;
  std::uint32_t shape = 0;                // equal: the two domains could change places, pod by pod
  std::uint32_t twin_before = kNoDomain;  // the last sibling of the same shape before it
  std::size_t pods = 0;
  PodClass first = 0;  // classes inside: first .. end - 1
  PodClass end = 0;
  std::vector<std::uint32_t> children;  // none: the domain is one class
};

class PodPlaces {
 public:
  // At least one pod.
  PodPlaces(std::size_t levels, const std::vector<RankPath>& pods);

  std::size_t pods() const { return pods_; }
  std::size_t classes() const { return members_.size(); }
  // As depth_first() lists them.
  const std::vector<std::size_t>& members(PodClass c) const { return members_[c]; }
  const std::vector<PlaceDomain>& domains() const { return domains_; }  // the first: all pods
  std::uint32_t domain_of(PodClass c) const { return domain_of_[c]; }

  // Sum of the weights of the levels that lie between the two, without those that are left out.
  std::int64_t price(PodClass a, PodClass b) const {
    const std::uint32_t* x = paths_.data() + a * prices_.size();
    const std::uint32_t* y = paths_.data() + b * prices_.size();
    for (std::size_t i = 0; i < prices_.size(); ++i) {
      if (x[i] != y[i]) return prices_[i];
    }
    return 0;
  }

  Arrangement depth_first_arrangement() const;
  // The one that costs the same, whatever the traffic, and gives domains of one shape away in their
  // own order: the first pod's domain, if it can be, to the position that comes first.
  Arrangement canonical(const Arrangement& at) const;
  // Positions of pods; that of depth_first_arrangement() is depth_first().
  std::vector<std::size_t> order(const Arrangement& at) const;

 private:
  void find_classes(std::size_t levels, const std::vector<RankPath>& pods);
  void build_domains();
  std::uint32_t add_domain(std::uint32_t parent, std::size_t depth, PodClass first, PodClass end);
  void give_shapes();

  std::size_t pods_;
  std::vector<std::vector<std::size_t>> members_;  // by class
  std::vector<std::int64_t> prices_;               // by kept level: of being apart from there on
  std::vector<std::uint32_t> paths_;               // by class and kept level: domain numbers
  std::vector<PlaceDomain> domains_;
  std::vector<std::uint32_t> domain_of_;
};

}  // namespace chipweave::solver
