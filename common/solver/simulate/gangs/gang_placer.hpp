// GangPlacer — where the pods of a gang of a simulated cluster go: chipweave's own plan, and what
// others do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/trace.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::simulate {

using GangSeats = std::vector<solver::FabricNodeId>;  // nodes of the pods, by rank

class GangPlacer {
 public:
  virtual ~GangPlacer() = default;
  // fabric: with what is free now. nullopt: the gang does not fit, and does not with less free
  // either. An error ends the replay: of a placer that is another program.
  virtual Result<std::optional<GangSeats>> place(const solver::Fabric& fabric,
                                                 const domain::TraceGang& gang) = 0;
};

struct NamedGangPlacer {
  std::string_view name;
  std::string_view help;  // how it chooses
  // level_names: of the fabric.
  std::unique_ptr<GangPlacer> (*make)(const std::vector<std::string>& level_names);
};
// In the order of reports; "chipweave" is last.
const std::vector<NamedGangPlacer>& gang_placers();

// As the planner takes it: all pods, or none.
domain::Gang as_planned(const domain::TraceGang& gang);

}  // namespace chipweave::simulate
