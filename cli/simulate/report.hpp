// Report of a simulation: what all policies made of the same arrivals, for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/solver/nodes/node_score.hpp"
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
  std::size_t nodes = 0;
  int chips = 0;
  std::vector<MachineCount> machines;  // by kind
  std::size_t trace_pods = 0;
  std::string arrivals;   // how pods arrive, in words
  bool pods_end = false;  // else they stay
  std::uint64_t seed = 0;
  solver::NodePreference preference;
  std::vector<std::string> notes;  // assumptions that a reader has to know
  std::vector<PolicyReport> policies;

  // Null: not among the policies.
  const PolicyReport* find(std::string_view name) const;
};

// A goal of chipweave's node choice, by this run.
struct Goal {
  std::string text;
  bool reached = false;
};
// GB/s against the oracle; fragmentation against FGD, if both policies ran.
std::vector<Goal> goals_of(const SimulationReport& report);

inline constexpr double kNanosPerMicro = 1000;
// Writes the member `name`, an object with the figures of `d`, divided by `unit`.
void write_distribution(JsonWriter& json, const char* name, const simulate::Distribution& d,
                        double unit);

std::string report_text(const SimulationReport& report, bool colours);
std::string report_json(const SimulationReport& report);

}  // namespace chipweave::cli
