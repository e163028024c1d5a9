// GangCluster — the free chips of a simulated cluster: gangs take them whole and give them back.
// Chips of a node are counted, not told apart.
#pragma once

#include <cstdint>

#include "common/base/result.hpp"
#include "common/domain/trace.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/simulate/gangs/gang_placer.hpp"

namespace chipweave::simulate {

// Free chips of the nodes that take pods.
std::int64_t free_chips(const solver::Fabric& fabric);

class GangCluster {
 public:
  explicit GangCluster(solver::Fabric fabric)
      : fabric_(std::move(fabric)), chips_(free_chips(fabric_)) {}

  const solver::Fabric& fabric() const { return fabric_; }
  std::int64_t chips() const { return chips_; }  // of the empty cluster
  std::int64_t used() const { return used_; }

  // Whether all nodes together have room for the pods. Without it no placer finds a place.
  bool has_room(const domain::TraceGang& gang) const;

  // Errors, with nothing taken: invalid_argument if the gang cannot run there: too few
  // or too many seats, a node without room, pods outside one domain of the required level.
  Result<void> take(const domain::TraceGang& gang, const GangSeats& seats);
  // What take() took for it.
  void give_back(const domain::TraceGang& gang, const GangSeats& seats);

 private:
  Result<void> check(const domain::TraceGang& gang, const GangSeats& seats) const;
  void add(solver::FabricNodeId node, int pods, int chips);

  solver::Fabric fabric_;
  std::int64_t chips_;
  std::int64_t used_ = 0;
};

}  // namespace chipweave::simulate
