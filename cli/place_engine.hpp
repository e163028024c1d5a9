// PlaceEngine — answers `chipweave place` requests with the same solver that answers the scheduler.
//
// Keeps one solver machine per distinct wiring (machine and its links that are down), so a batch
// over one machine pays for its tables once. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/place/place_codec.hpp"
#include "common/codec/topology/import.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {

class PlaceEngine {
 public:
  // A request with its machine resolved: what a timed decision starts from.
  struct Prepared {
    std::shared_ptr<solver::Machine> machine;
    solver::Request request;   // domain request (unused when `evaluate` is set)
    domain::ChipSet evaluate;  // the set to evaluate; empty: choose one
    domain::ChipSet unusable;  // unhealthy, held by others
    std::vector<std::string> warnings;
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
  // Of a machine that is named: with what its import assumed or left out.
  Result<codec::ImportedTopology> imported(const codec::PlaceRequest& request);

  std::map<std::string, codec::ImportedTopology> imported_;           // by name or inline text
  std::map<std::string, std::shared_ptr<solver::Machine>> machines_;  // by topology and down links
};

}  // namespace chipweave::cli
