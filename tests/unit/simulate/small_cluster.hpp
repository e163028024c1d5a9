// Small clusters and pods for tests of the simulation.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/solver/simulate/replay.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::simulate::test {

inline std::shared_ptr<solver::Machine> machine(const std::string& profile) {
  return std::make_shared<solver::Machine>(chipweave::test::profile(profile));
}

inline ModelNode node(std::string name, std::shared_ptr<solver::Machine> machine,
                      std::int64_t cpu_milli = 96000, std::int64_t memory_mib = 393216) {
  ModelNode out;
  out.name = std::move(name);
  out.kind = "test";
  if (machine) out.free = machine->topology().all();
  out.machine = std::move(machine);
  out.cpu_milli = cpu_milli;
  out.memory_mib = memory_mib;
  return out;
}

inline domain::TracePod pod(int chips, std::int64_t cpu_milli = 1000, double arrival_s = 0,
                            double duration_s = 0) {
  domain::TracePod out;
  out.name = "p";
  out.chips = chips;
  out.cpu_milli = cpu_milli;
  out.memory_mib = 1;
  out.arrival_s = arrival_s;
  out.duration_s = duration_s;
  return out;
}

inline const NamedPolicy& policy(std::string_view name) {
  for (const NamedPolicy& p : policies()) {
    if (p.name == name) return p;
  }
  throw std::invalid_argument("no policy " + std::string(name));
}

// All pods of the trace at their own times; they end if any has a duration.
inline Replayed replayed(const std::vector<domain::TracePod>& pods, const ModelCluster& cluster,
                         std::string_view by, bool pods_end) {
  const std::vector<Arrival> arrivals = recorded(pods);
  const std::vector<RequestClass> mix = request_mix(pods);
  return replay({pods, arrivals, mix, pods_end}, cluster, policy(by), {});
}

}  // namespace chipweave::simulate::test
