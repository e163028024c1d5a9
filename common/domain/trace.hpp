// Trace — the nodes of a cluster and the pods or jobs that came to it, as published traces list
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"

namespace chipweave::domain {

struct TraceNode {
  std::string name;
  std::string model;  // of its chips, as the trace calls it; empty if the trace does not say
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int chips = 0;
};

struct TracePod {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int chips = 0;                     // whole chips
  std::optional<double> needs_gbps;  // declared; the pod gains nothing from bandwidth above it
  double arrival_s = 0;              // since the first pod
  double duration_s = 0;             // that it runs once it is placed
};

struct PodTrace {
  std::vector<TracePod> pods;
  bool timed = false;      // the trace has arrival and duration; pods in order of arrival
  std::size_t shared = 0;  // pods that asked for a part of a chip and are counted as one chip
};

// A job whose pods are placed together or not at all. Levels are positions in the list of levels of
// the network that it is replayed on.
struct TraceGang {
  std::string name;
  int pods = 1;
  int chips = 0;     // of each pod, at least one
  int priority = 0;  // the highest goes first
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  double arrival_s = 0;   // since the first gang
  double duration_s = 0;  // that it runs once it is placed

  std::int64_t all_chips() const { return std::int64_t{pods} * chips; }
};

struct GangTrace {
  std::vector<TraceGang> gangs;
  bool timed = false;             // the trace has arrival and duration; gangs in order of arrival
  std::size_t without_chips = 0;  // rows without chips, which are left out
};

}  // namespace chipweave::domain
