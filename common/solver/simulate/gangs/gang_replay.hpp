// Gang replay — jobs come to a cluster, wait in a queue, start whole where a placer puts them, and
// leave when their time is over: a discrete simulation with a virtual clock.
//
// Queue: the highest priority first, then by arrival. Whenever a gang comes or ends, the waiting
// ones are tried in this order. One that does not fit lets later ones go first until it has waited
// for patience_s; from then on all behind it wait until it runs. 0: strictly first come, first
// served; domain::kGangPatienceSeconds: as chipweave-scheduler does; infinite: everything is
// back-filled.
//
// Values in, values out; the time that a decision takes is measured by the caller's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/solver/simulate/gangs/gang_cluster.hpp"
#include "common/solver/simulate/gangs/gang_placer.hpp"

namespace chipweave::simulate {

// What a gang needs on the empty cluster.
struct AloneGang {
  bool fits = false;         // otherwise it never starts, with any placer
  std::vector<int> domains;  // by level, those of chipweave's plan
};
// One of each gang.
std::vector<AloneGang> alone_gangs(const std::vector<domain::TraceGang>& gangs,
                                   const solver::Fabric& empty,
                                   const std::vector<std::string>& level_names);

struct GangWorkload {
  const std::vector<domain::TraceGang>& gangs;  // by arrival
  const std::vector<AloneGang>& alone;          // of the same gangs
  const solver::Fabric& cluster;                // with what is free before the first gang
};

struct GangReplayOptions {
  double patience_s = 0;
  std::function<std::uint64_t()> clock_ns;  // a steady clock; empty: no decision times
  // Called now and then with the number of gangs that have left the queue. May be empty.
  std::function<void(std::size_t done)> progress;
  std::size_t samples = 240;  // points of the curve
};

struct GangSample {
  double time_s = 0;
  double used = 0;  // share of the chips
  std::size_t waiting = 0;
};

struct GangRun {
  std::size_t gang = 0;
  double start_s = 0;
};

// Sums over the gangs that ran.
struct LevelSpread {
  std::int64_t crossings = 0;  // ring_crossings()
  std::int64_t domains = 0;    // domains_used()
  std::int64_t fewest = 0;     // fewest_domains() when they started
  std::int64_t alone = 0;      // AloneGang::domains
};

struct GangReplayed {
  std::vector<GangRun> runs;           // in the order of their start
  std::vector<std::size_t> never_fit;  // gangs that do not fit on the empty cluster
  std::vector<std::size_t> refused;    // that the placer put nowhere on the empty cluster
  std::vector<GangSample> samples;
  double used_until_last_arrival = 0;  // chip-seconds, as a share of those that the cluster had
  double used_until_end = 0;
  double end_s = 0;  // of the last gang
  std::size_t most_waiting = 0;
  std::vector<LevelSpread> levels;
  std::vector<std::uint64_t> decision_ns;  // also of decisions that a gang does not fit
};

// Errors: those of the placer, and of GangCluster::take for its answers.
Result<GangReplayed> replay_gangs(const GangWorkload& workload, GangPlacer& placer,
                                  const GangReplayOptions& options);

}  // namespace chipweave::simulate
