// Replay — pods come to a cluster one after the other, a policy places them, and they leave when
// their time is over: a discrete simulation with a virtual clock.
//
// A pod that finds no room waits. Whenever a pod ends, the waiting ones are tried on its node in
// order of arrival; small ones may pass large ones, as in kube-scheduler. Values in, values out;
// the time that a decision takes is measured by the caller's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/solver/simulate/arrivals.hpp"
#include "common/solver/simulate/policies/policy.hpp"

namespace chipweave::simulate {

struct Workload {
  const std::vector<domain::TracePod>& pods;
  const std::vector<Arrival>& arrivals;
  const std::vector<RequestClass>& mix;  // what typical pods ask for
  bool pods_end = false;                 // else they stay, and one without room is not tried again
};

struct ReplayOptions {
  solver::NodePreference preference;        // of chipweave
  bool managed_only = false;                // see PolicyContext
  std::function<std::uint64_t()> clock_ns;  // a steady clock; empty: no decision times
  // Called now and then with the number of arrivals so far. May be empty.
  std::function<void(std::size_t done)> progress;
  std::size_t samples = 240;  // points of the curves
};

// State of the cluster at some moment.
struct Sample {
  double time_s = 0;
  double asked = 0;       // chips that all pods so far asked for, as a share of the cluster's
  double allocated = 0;   // share of the cluster's chips
  double fragmented = 0;  // free chips that a typical pod cannot use, as a share of the cluster's
  std::size_t waiting = 0;
};

struct PlacedPod {
  std::size_t pod = 0;  // in the trace
  std::size_t node = 0;
  double gbps = 0;
};

// A share: after the last arrival, and its mean until then, over time, or over arrivals if pods
// stay.
struct Course {
  double at_end = 0;
  double mean = 0;
};

struct Replayed {
  std::vector<PlacedPod> placed;     // in the order of their placement
  std::vector<std::size_t> refused;  // pods of the trace that were never placed
  std::vector<Sample> samples;
  Course allocated;
  Course fragmented;
  std::vector<double> waits_s;  // of the placed pods, in the same order; empty if pods stay
  std::size_t most_waiting = 0;
  std::vector<std::uint64_t> decision_ns;
};

Replayed replay(const Workload& workload, ModelCluster cluster, const NamedPolicy& policy,
                const ReplayOptions& options);

}  // namespace chipweave::simulate
