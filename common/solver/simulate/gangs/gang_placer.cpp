#include "common/solver/simulate/gangs/gang_placer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "common/solver/gang/planner.hpp"
#include "common/solver/simulate/gangs/gang_spread.hpp"

namespace chipweave::simulate {
namespace {

using domain::TraceGang;
using solver::Fabric;
using solver::FabricNodeId;

// chipweave's planner, with its ranks.
class PlannedGangs : public GangPlacer {
 public:
  explicit PlannedGangs(std::vector<std::string> level_names)
      : level_names_(std::move(level_names)) {}

  Result<std::optional<GangSeats>> place(const Fabric& fabric, const TraceGang& gang) override {
    const domain::Plan plan = solver::plan_gang(fabric, level_names_, as_planned(gang));
    if (!plan.fits) return std::optional<GangSeats>();
    GangSeats seats;
    seats.reserve(plan.pods.size());
    for (const domain::PlannedPod& pod : plan.pods) seats.push_back(pod.node);
    return std::optional(std::move(seats));
  }

 private:
  std::vector<std::string> level_names_;
};

// Which domain of the required level is taken, of those with room.
enum class DomainChoice { first, fullest };

// Pod by pod on the node with the fewest free chips that has room for it, the first of equal ones.
// Knows no network but for a required level.
class BestFitGangs : public GangPlacer {
 public:
  explicit BestFitGangs(DomainChoice choice) : choice_(choice) {}

  Result<std::optional<GangSeats>> place(const Fabric& fabric, const TraceGang& gang) override {
    std::vector<solver::DomainId> domains =
        fabric.domains_of_level(solver::kRootDomain, gang.required_level);
    if (choice_ == DomainChoice::fullest) sort_by_free(fabric, domains);
    for (const solver::DomainId domain : domains) {
      if (auto seats = place_in(fabric, domain, gang)) return seats;
    }
    return std::optional<GangSeats>();
  }

 private:
  static void sort_by_free(const Fabric& fabric, std::vector<solver::DomainId>& domains) {
    std::map<solver::DomainId, std::int64_t> free;
    for (const solver::DomainId domain : domains) {
      std::int64_t& here = free[domain];
      fabric.each_node_below(domain, [&](FabricNodeId node) { here += fabric.node(node).free; });
    }
    std::stable_sort(domains.begin(), domains.end(),
                     [&free](solver::DomainId a, solver::DomainId b) { return free[a] < free[b]; });
  }

  static std::optional<GangSeats> place_in(const Fabric& fabric, solver::DomainId domain,
                                           const TraceGang& gang) {
    std::vector<FabricNodeId> nodes;
    fabric.each_node_below(domain, [&](FabricNodeId node) {
      if (room_on(fabric.node(node), gang.chips) > 0) nodes.push_back(node);
    });
    std::sort(nodes.begin(), nodes.end(), [&fabric](FabricNodeId a, FabricNodeId b) {
      const int of_a = fabric.node(a).free;
      const int of_b = fabric.node(b).free;
      return of_a != of_b ? of_a < of_b : a < b;
    });
    // A node that has taken a pod has the fewest free chips of all from then on.
    GangSeats seats;
    const auto pods = static_cast<std::size_t>(gang.pods);
    for (const FabricNodeId node : nodes) {
      const auto room = static_cast<std::size_t>(room_on(fabric.node(node), gang.chips));
      seats.insert(seats.end(), std::min(room, pods - seats.size()), node);
      if (seats.size() == pods) return seats;
    }
    return std::nullopt;
  }

  DomainChoice choice_;
};

}  // namespace

domain::Gang as_planned(const TraceGang& gang) {
  domain::Gang out;
  out.pods = out.min_member = gang.pods;
  out.chips_per_pod = gang.chips;
  out.required_level = gang.required_level;
  out.preferred_level = gang.preferred_level;
  return out;
}

const std::vector<NamedGangPlacer>& gang_placers() {
  static const std::vector<NamedGangPlacer> placers = {
      {"best-fit", "node by node, the fullest that has room; without the network",
       [](const std::vector<std::string>&) -> std::unique_ptr<GangPlacer> {
         return std::make_unique<BestFitGangs>(DomainChoice::first);
       }},
      {"fullest-domain", "the same inside the fullest domain of the required level",
       [](const std::vector<std::string>&) -> std::unique_ptr<GangPlacer> {
         return std::make_unique<BestFitGangs>(DomainChoice::fullest);
       }},
      {"chipweave", "the plan with the fewest domains, and its ranks",
       [](const std::vector<std::string>& level_names) -> std::unique_ptr<GangPlacer> {
         return std::make_unique<PlannedGangs>(level_names);
       }}};
  return placers;
}

}  // namespace chipweave::simulate
