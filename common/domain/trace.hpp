// Trace — the nodes of a cluster and the pods that came to it, as published traces list them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace chipweave::domain
