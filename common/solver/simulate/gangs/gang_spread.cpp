#include "common/solver/simulate/gangs/gang_spread.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "common/domain/gang.hpp"
#include "common/solver/gang/plan_numbers.hpp"

namespace chipweave::simulate {
namespace {

using solver::DomainId;
using solver::Fabric;
using solver::FabricNodeId;

// Room for pods by domain.
std::vector<std::int64_t> room_in(const Fabric& fabric, int chips) {
  std::vector<std::int64_t> room(fabric.domain_numbers(), 0);
  for (FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const int here = room_on(fabric.node(id), chips);
    if (here == 0) continue;
    for (DomainId at = fabric.node(id).domain;; at = fabric.parent(at)) {
      room[at] += here;
      if (at == solver::kRootDomain) break;
    }
  }
  return room;
}

// How many of the largest hold so many pods.
int fewest(std::vector<std::int64_t> rooms, std::int64_t pods) {
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  int used = 0;
  for (std::size_t i = 0; i < rooms.size() && pods > 0; ++i, ++used) pods -= rooms[i];
  return used;
}

}  // namespace

int room_on(const solver::FabricNode& node, int chips) {
  if (!node.in_use || !node.healthy) return 0;
  return std::min(node.free / chips, node.max_pods);
}

std::vector<int> ring_crossings(const Fabric& fabric, const GangSeats& seats) {
  std::vector<int> out(fabric.levels(), 0);
  for (std::size_t i = 0; i < seats.size(); ++i) {
    DomainId a = fabric.node(seats[i]).domain;
    DomainId b = fabric.node(seats[(i + 1) % seats.size()]).domain;
    for (std::size_t level = out.size(); level-- > 0 && a != b;) {
      ++out[level];
      a = fabric.parent(a);
      b = fabric.parent(b);
    }
  }
  return out;
}

std::vector<int> domains_used(const Fabric& fabric, const GangSeats& seats) {
  std::vector<domain::PlannedPod> pods;
  pods.reserve(seats.size());
  for (const FabricNodeId node : seats) pods.push_back({0, node});
  return solver::count_domains(fabric, {}, pods);
}

std::vector<int> fewest_domains(const Fabric& fabric, const domain::TraceGang& gang) {
  const std::vector<std::int64_t> room = room_in(fabric, gang.chips);
  std::vector<int> out;
  for (int level = 0; level < static_cast<int>(fabric.levels()); ++level) {
    int least = 0;
    for (const DomainId inside :
         fabric.domains_of_level(solver::kRootDomain, gang.required_level)) {
      if (room[inside] < gang.pods) continue;
      std::vector<std::int64_t> rooms;
      for (const DomainId domain : fabric.domains_of_level(inside, level))
        rooms.push_back(room[domain]);
      const int here = fewest(std::move(rooms), gang.pods);
      if (least == 0 || here < least) least = here;
    }
    out.push_back(least);
  }
  return out;
}

}  // namespace chipweave::simulate
