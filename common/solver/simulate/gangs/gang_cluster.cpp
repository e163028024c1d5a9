#include "common/solver/simulate/gangs/gang_cluster.hpp"

#include <map>
#include <string>

#include "common/base/foreign_text.hpp"
#include "common/solver/simulate/gangs/gang_spread.hpp"

namespace chipweave::simulate {
namespace {

using domain::TraceGang;
using solver::FabricNodeId;

std::map<FabricNodeId, int> pods_by_node(const GangSeats& seats) {
  std::map<FabricNodeId, int> out;
  for (const FabricNodeId node : seats) ++out[node];
  return out;
}

}  // namespace

std::int64_t free_chips(const solver::Fabric& fabric) {
  std::int64_t sum = 0;
  for (FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const solver::FabricNode& node = fabric.node(id);
    if (node.in_use && node.healthy) sum += node.free;
  }
  return sum;
}

bool GangCluster::has_room(const TraceGang& gang) const {
  std::int64_t missing = gang.pods;
  for (FabricNodeId id = 0; id < fabric_.node_numbers() && missing > 0; ++id)
    missing -= room_on(fabric_.node(id), gang.chips);
  return missing <= 0;
}

Result<void> GangCluster::check(const TraceGang& gang, const GangSeats& seats) const {
  const auto wrong = [&gang](const std::string& what) {
    return make_error(Errc::invalid_argument, "the place of " + in_quotes(gang.name) + " " + what);
  };
  if (seats.size() != static_cast<std::size_t>(gang.pods))
    return wrong("has " + std::to_string(seats.size()) + " of " + std::to_string(gang.pods) +
                 " pods");
  for (const auto& [node, pods] : pods_by_node(seats)) {
    if (node >= fabric_.node_numbers()) return wrong("is on no node");
    if (pods > room_on(fabric_.node(node), gang.chips))
      return wrong("has " + std::to_string(pods) + " pods of " + std::to_string(gang.chips) +
                   " chips on " + fabric_.node(node).name + ", which has no room for them");
  }
  if (gang.required_level == domain::kNoLevel) return {};
  const auto level = gang.required_level;
  for (const FabricNodeId node : seats) {
    if (fabric_.domain_of(node, level) != fabric_.domain_of(seats.front(), level))
      return wrong("is not inside one domain of its required level");
  }
  return {};
}

void GangCluster::add(FabricNodeId id, int pods, int chips) {
  const solver::FabricNode& node = fabric_.node(id);
  if (node.max_pods != solver::kUnlimitedPods) fabric_.set_max_pods(id, node.max_pods + pods);
  fabric_.set_free(id, node.free + pods * chips);
  used_ -= std::int64_t{pods} * chips;
}

Result<void> GangCluster::take(const TraceGang& gang, const GangSeats& seats) {
  if (auto good = check(gang, seats); !good) return good;
  for (const auto& [node, pods] : pods_by_node(seats)) add(node, -pods, gang.chips);
  return {};
}

void GangCluster::give_back(const TraceGang& gang, const GangSeats& seats) {
  for (const auto& [node, pods] : pods_by_node(seats)) add(node, pods, gang.chips);
}

}  // namespace chipweave::simulate
