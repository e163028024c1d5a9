// PlaceEngine — answers `chipweave place` requests with the solver that the scheduler uses.
//
// Caches one solver machine per distinct wiring (topology and links that are down), so that a batch
// builds the tables of a machine once. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/place/place_codec.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/rate_overlay.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {

class PlaceEngine {
 public:
  // overlays: constants that replace those of the machines that they match.
  explicit PlaceEngine(std::vector<domain::RateOverlay> overlays = {})
      : overlays_(std::move(overlays)) {}

  // Machine of requests that name it so, in place of what load_machine() would read.
  void provide(const std::string& name, codec::ImportedTopology machine);

  // A request with its machine resolved; --timing does not include this step.
  struct Prepared {
    std::shared_ptr<solver::Machine> machine;
    solver::Request request;   // unused when `evaluate` is set
    domain::ChipSet evaluate;  // the set to evaluate; empty: choose one
    domain::ChipSet unusable;  // unhealthy, held by others
    std::vector<std::string> warnings;
    codec::HostFacts host;    // of the machine's description
    bool numa_stated = true;  // whether the description has the numbers of NUMA nodes
  };
  Result<Prepared> prepare(const codec::PlaceRequest& request);

  // The decision itself, without JSON and without building anything.
  struct Decided {
    solver::Choice choice;
    bool legal = true;  // when a set was evaluated
  };
  static Decided decide(const Prepared& prepared);

  static codec::PlaceAnswer answer(const Prepared& prepared, const Decided& decided);

 private:
  // The machine of the request, with the warnings of its import.
  Result<codec::ImportedTopology> imported(const codec::PlaceRequest& request);

  std::vector<domain::RateOverlay> overlays_;
  std::map<std::string, codec::ImportedTopology> imported_;           // by name or inline text
  std::map<std::string, std::shared_ptr<solver::Machine>> machines_;  // by topology and down links
};

}  // namespace chipweave::cli
