// PeerPlacer — places gangs where another program puts them, which reads lines of `chipweave plan
// --batch` and answers like it.
//
// Ranks: as the answer's `pods` gives them. Without them they are consecutive over the nodes of
// `assignment` in its order.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/gang_replay/peer_program.hpp"
#include "common/solver/simulate/gangs/gang_placer.hpp"

namespace chipweave::bench {

class PeerPlacer : public simulate::GangPlacer {
 public:
  // Paths of nodes are unique.
  PeerPlacer(PeerProgram& peer, std::vector<std::string> level_names)
      : peer_(peer), level_names_(std::move(level_names)) {}

  Result<std::optional<simulate::GangSeats>> place(const solver::Fabric& fabric,
                                                   const domain::TraceGang& gang) override;

 private:
  void learn(const solver::Fabric& fabric);
  std::string request(const solver::Fabric& fabric, const domain::TraceGang& gang);
  Result<std::optional<simulate::GangSeats>> seats_of(std::string_view answer,
                                                      const solver::Fabric& fabric,
                                                      const domain::TraceGang& gang) const;

  PeerProgram& peer_;
  std::vector<std::string> level_names_;
  std::size_t lines_ = 0;
  std::vector<std::string> nodes_;  // by number: its members but for what is free, as JSON
  std::unordered_map<std::string, solver::FabricNodeId> by_path_;
};

}  // namespace chipweave::bench
