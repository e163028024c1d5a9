// Arrivals — which pods come to a simulated cluster, when, and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/domain/trace.hpp"

namespace chipweave::simulate {

struct Arrival {
  std::size_t pod = 0;    // in the trace
  double time_s = 0;      // never falls along the list
  double duration_s = 0;  // from its placement; unused if pods stay
};

// The FGD paper's model: pods drawn from the trace with replacement, one after the other, until
// they have asked for `load` times the chips of the cluster, or are `most`. They stay, and have no
// times. Equal for equal seeds on every machine. Empty if no pod of the trace asks for chips.
struct Inflation {
  int cluster_chips = 0;
  double load = 1;
  std::size_t most = 0;
  std::uint64_t seed = 1;
};
std::vector<Arrival> inflated(const std::vector<domain::TracePod>& pods, const Inflation& by);

// The pods of the trace at their own times.
std::vector<Arrival> recorded(const std::vector<domain::TracePod>& pods);

struct Generator {
  double per_hour = 0;         // mean rate of arrivals
  double mean_duration_s = 0;  // exponentially distributed
  std::size_t pods = 0;
  std::uint64_t seed = 1;
};
// Pods drawn from the trace with replacement, with exponential gaps and durations.
std::vector<Arrival> generated(const std::vector<domain::TracePod>& pods, const Generator& by);

}  // namespace chipweave::simulate
