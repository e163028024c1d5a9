// PodPlaces — the places of pods as far as they matter to an order of ranks: pods with equal paths
// are one class, and an arrangement assigns a class to each position.
//
// Classes and domains are numbered depth-first, as depth_first() lists them. Levels that divide
// nothing, or at which every pod is alone in any arrangement, are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

using PodClass = std::uint32_t;
using Arrangement = std::vector<PodClass>;  // by position

// The weight of crossing a border at this level (0: the coarsest): 1 at the finest, doubled at each
// level above. At most limits::kMaxNetworkLevels levels.
constexpr std::int64_t level_weight(std::size_t levels, std::size_t level) {
  return std::int64_t{1} << (levels - 1 - level);
}

inline constexpr std::uint32_t kNoDomain = UINT32_MAX;

struct PlaceDomain {
  std::uint32_t parent = kNoDomain;
  std::uint32_t shape = 0;                // equal for domains that can be exchanged pod by pod
  std::uint32_t twin_before = kNoDomain;  // the previous sibling of the same shape
  std::size_t pods = 0;
  PodClass first = 0;  // classes inside: first .. end - 1
  PodClass end = 0;
  std::vector<std::uint32_t> children;  // empty: the domain is one class
};

class PodPlaces {
 public:
  // Precondition: at least one pod.
  PodPlaces(std::size_t levels, const std::vector<RankPath>& pods);

  std::size_t pods() const { return pods_; }
  std::size_t classes() const { return members_.size(); }
  // As depth_first() lists them.
  const std::vector<std::size_t>& members(PodClass c) const { return members_[c]; }
  const std::vector<PlaceDomain>& domains() const { return domains_; }  // the first has all pods
  std::uint32_t domain_of(PodClass c) const { return domain_of_[c]; }

  // Sum of the weights of the kept levels that separate the two.
  std::int64_t price(PodClass a, PodClass b) const {
    const std::uint32_t* x = paths_.data() + a * prices_.size();
    const std::uint32_t* y = paths_.data() + b * prices_.size();
    for (std::size_t i = 0; i < prices_.size(); ++i) {
      if (x[i] != y[i]) return prices_[i];
    }
    return 0;
  }

  Arrangement depth_first_arrangement() const;
  // The equivalent arrangement, for any traffic, in which domains of one shape appear in their own
  // order: the first pod's domain at the first position, if possible.
  Arrangement canonical(const Arrangement& at) const;
  // The pod at each position; depth_first() for depth_first_arrangement().
  std::vector<std::size_t> order(const Arrangement& at) const;

 private:
  void find_classes(std::size_t levels, const std::vector<RankPath>& pods);
  void build_domains();
  std::uint32_t add_domain(std::uint32_t parent, std::size_t depth, PodClass first, PodClass end);
  void give_shapes();

  std::size_t pods_;
  std::vector<std::vector<std::size_t>> members_;  // by class
  std::vector<std::int64_t> prices_;  // by kept level: of being separated from there on
  std::vector<std::uint32_t> paths_;  // by class and kept level: domain numbers
  std::vector<PlaceDomain> domains_;
  std::vector<std::uint32_t> domain_of_;
};

}  // namespace chipweave::solver
