// Report of a simulation: what all policies made of the same arrivals, for people and programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/solver/simulate/summary.hpp"

namespace chipweave::cli {

struct PolicyReport {
  std::string name;
  std::string help;  // how it chooses
  simulate::Summary summary;
  std::vector<simulate::Sample> samples;
};

struct MachineCount {
  std::string kind;
  std::size_t nodes = 0;
  int chips = 0;
};

struct SimulationReport {
  std::string arrivals;  // how pods arrive, in words
  bool pods_end = false;
  std::vector<MachineCount> machines;
  std::size_t nodes = 0;
  int chips = 0;
  std::size_t trace_pods = 0;
  std::size_t shared = 0;  // pods of the trace that ask for a part of a chip
  std::uint64_t seed = 0;
  double tolerance = 0;
  double useful_gbps_per_peer = 0;
  std::vector<PolicyReport> policies;
  std::vector<std::string> notes;  // assumptions that a reader has to know

  // Null: not among the policies.
  const PolicyReport* find(const std::string& name) const;
};

// The two goals of chipweave's node choice, where the run can tell.
struct Goal {
  std::string text;
  bool reached = false;
};
std::vector<Goal> goals_of(const SimulationReport& report);

std::string report_text(const SimulationReport& report, bool colours);
std::string report_json(const SimulationReport& report);
// One page without external resources.
std::string report_html(const SimulationReport& report);

}  // namespace chipweave::cli
