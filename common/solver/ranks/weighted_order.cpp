#include "common/solver/ranks/weighted_order.hpp"

#include <algorithm>
#include <utility>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/exact_order.hpp"
#include "common/solver/ranks/search/order_cost.hpp"
#include "common/solver/ranks/search/order_improver.hpp"
#include "common/solver/ranks/search/order_layouts.hpp"
#include "common/solver/ranks/search/pod_places.hpp"

namespace chipweave::solver {
namespace {

// A step evaluates one pair of neighbours, some nanoseconds: a few milliseconds in total for up to
// a thousand pods, a tenth of a second for the most pods that are accepted.
constexpr Steps kCandidateSteps = 20'000'000;
constexpr Steps kImproveSteps = 600'000;
constexpr std::size_t kStarts = 3;  // candidates that are improved

struct Candidate {
  CostedArrangement arrangement;
  std::size_t layout = 0;
};

// The kStarts cheapest distinct arrangements, cheapest first; among equals depth-first comes first.
using Candidates = std::vector<Candidate>;

void add(Candidate candidate, Candidates& list) {
  const auto same = [&](const Candidate& c) {
    return c.arrangement.cost == candidate.arrangement.cost &&
           c.arrangement.at == candidate.arrangement.at;
  };
  if (std::any_of(list.begin(), list.end(), same)) return;
  const auto costlier = std::find_if(list.begin(), list.end(), [&](const Candidate& c) {
    return c.arrangement.cost > candidate.arrangement.cost;
  });
  list.insert(costlier, std::move(candidate));
  if (list.size() > kStarts) list.pop_back();
}

Candidates candidates_of(const OrderCost& order_cost, const CostedArrangement& depth_first,
                         const std::vector<Layout>& layouts) {
  Candidates out = {{depth_first, 0}};
  Steps left = kCandidateSteps;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    std::vector<std::size_t> units = {1};
    units.insert(units.end(), layouts[i].units.begin(), layouts[i].units.end());
    for (const std::size_t unit : units) {
      const Steps steps = order_cost.cost_steps() + order_cost.positions();
      if (left < steps) return out;
      left -= steps;
      Candidate candidate;
      candidate.layout = i;
      candidate.arrangement.at = arranged(layouts[i], laid_in_blocks(order_cost.places(), unit));
      candidate.arrangement.cost = order_cost.cost(candidate.arrangement.at);
      add(std::move(candidate), out);
    }
  }
  return out;
}

// Half of the steps are for the descents from the starts, half for perturbing the best one.
CostedArrangement improved(const OrderCost& order_cost, Candidates candidates,
                           const std::vector<Layout>& layouts) {
  Candidate best = candidates.front();
  for (Candidate& start : candidates) {
    OrderImprover improver(order_cost, kImproveSteps / 2 / kStarts);
    improver.descend(start.arrangement, layouts[start.layout]);
    if (start.arrangement.cost < best.arrangement.cost) best = std::move(start);
  }
  OrderImprover perturber(order_cost, kImproveSteps / 2);
  perturber.perturb(best.arrangement, layouts[best.layout]);
  return std::move(best.arrangement);
}

// One ring through all positions, equally strong everywhere: no order crosses less than
// depth_first(), whatever the levels weigh.
bool is_one_ring(const PodTraffic& traffic) {
  const std::vector<PodEdge>& edges = traffic.edges;
  if (edges.size() != traffic.pods) return edges.size() == 1 && traffic.pods == 2;
  return std::all_of(edges.begin(), edges.end(), [&](const PodEdge& edge) {
    const bool next = edge.b == edge.a + 1 || (edge.a == 0 && edge.b + 1 == traffic.pods);
    return next && edge.weight == edges.front().weight;
  });
}

// How many levels the pod at position 0 shares with the first pod, from which classes are numbered.
std::size_t shared_with_first(const PodPlaces& places, const Arrangement& at) {
  std::size_t shared = 0;
  for (std::uint32_t d = places.domain_of(0); d != kNoDomain; d = places.domains()[d].parent) {
    const PlaceDomain& domain = places.domains()[d];
    if (at.front() >= domain.first && at.front() < domain.end) ++shared;
  }
  return shared;
}

// Both directions of an order cost the same, unless some group is a tree.
Arrangement settled(const OrderCost& order_cost, const CostedArrangement& best) {
  const PodPlaces& places = order_cost.places();
  Arrangement forward = places.canonical(best.at);
  Arrangement at = best.at;
  std::reverse(at.begin(), at.end());
  if (order_cost.cost(at) > best.cost) return forward;
  Arrangement backward = places.canonical(at);
  return shared_with_first(places, backward) > shared_with_first(places, forward) ? backward
                                                                                  : forward;
}

}  // namespace

WeightedOrder weighted_order(std::size_t levels, const std::vector<RankPath>& pods,
                             const PodTraffic& traffic) {
  if (pods.empty()) return {{}, true};
  const PodPlaces places(levels, pods);
  const OrderCost order_cost(places, traffic);
  CostedArrangement depth_first;
  depth_first.at = places.depth_first_arrangement();
  depth_first.cost = order_cost.cost(depth_first.at);
  if (depth_first.cost == 0 || is_one_ring(traffic)) return {places.order(depth_first.at), true};

  const std::vector<Layout> layouts = order_layouts(traffic.axes);
  Candidates candidates = candidates_of(order_cost, depth_first, layouts);
  CostedArrangement best = candidates.front().arrangement;
  bool optimal = few_arrangements(places) && lower_to_least(order_cost, best);
  if (!optimal) {
    CostedArrangement other = improved(order_cost, std::move(candidates), layouts);
    if (other.cost < best.cost) best = std::move(other);
    optimal = best.cost == 0;
  }
  if (best.cost == depth_first.cost) return {places.order(depth_first.at), optimal};
  return {places.order(settled(order_cost, best)), optimal};
}

std::vector<std::vector<std::int64_t>> communicator_crossings(
    std::size_t levels, const std::vector<RankPath>& pods, const PodTraffic& traffic,
    const std::vector<std::size_t>& order) {
  const RankDomains domains = rank_domains(levels, pods);
  std::vector<std::vector<std::int64_t>> out;
  for (const std::vector<PodEdge>& pairs : traffic.rank_pairs) {
    std::vector<std::int64_t>& crossings = out.emplace_back(levels, 0);
    for (const PodEdge& pair : pairs) {
      const auto& a = domains.of_pod[order[pair.a]];
      const auto& b = domains.of_pod[order[pair.b]];
      for (std::size_t level = 0; level < levels; ++level) {
        if (a[level] != b[level]) crossings[level] += pair.weight;
      }
    }
  }
  return out;
}

std::int64_t weighted_cost(const PodTraffic& traffic,
                           const std::vector<std::vector<std::int64_t>>& crossings) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    for (std::size_t level = 0; level < crossings[i].size(); ++level)
      sum += traffic.communicators[i].weight * level_weight(crossings[i].size(), level) *
             crossings[i][level];
  }
  return sum;
}

}  // namespace chipweave::solver
