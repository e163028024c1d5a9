// The batch lines of `chipweave plan`: a network with the free chips of its nodes, and a gang
// (docs/reference/cli.md).
//
// Strict: an unknown or repeated key, a wrong type, a level or a path that the network does not
// have is an error that names the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_explanation.hpp"
#include "common/domain/gang.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::codec {

struct PlanNode {
  std::string name;
  std::vector<std::string> path;   // by switch level
  std::vector<std::string> place;  // by level of the request: with the accelerators' domains
  int free = 0;                    // chips
  std::string machine;             // profile or topology file; empty: not known
  std::optional<std::vector<int>> free_chips;  // free chips of the machine; absent: all
  // Chips of jobs that communicate over the network; absent: all that are healthy and not free.
  std::optional<std::vector<int>> loaded_chips;
  std::vector<std::string> down_nics;  // names
  int max_pods = -1;                   // further pods; -1: any number
  bool healthy = true;
};

struct PlanRequest {
  std::vector<std::string> levels;  // coarsest first, accelerators' among them
  std::size_t switch_levels = 0;    // as many as the network itself has
  std::size_t accelerator_levels = 0;
  bool nested = true;  // the two hierarchies are one tree
  std::vector<PlanNode> nodes;
  std::vector<std::optional<double>> level_gbps;  // GB/s that a node gets across each level
  domain::Gang gang;                              // GangNodeId: position in nodes
  std::optional<domain::VendorJob> vendor;
  bool explain = false;
  std::vector<std::string> if_fails;  // explain: names of nodes; empty: all of the plan
};

using PlanLine = BatchRequest<PlanRequest>;
PlanLine parse_plan_line(std::string_view line);

// A gang of a line that has several. All of them have the same nodes, and some have more: nodes
// that left the network.
struct NamedGang {
  std::string name;
  int priority = 0;
  PlanRequest request;
};
struct PlanGangs {
  bool several = false;          // `gangs`, in the order in which they are planned; else one `gang`
  std::vector<NamedGang> gangs;  // highest priority first, equal ones as given
};
using PlanGangsLine = BatchRequest<PlanGangs>;
PlanGangsLine parse_plan_gangs(std::string_view line);

inline constexpr std::size_t kMaxGangsOfLine = 256;
inline constexpr std::size_t kMaxGangsTimesNodes = 1'000'000;

// "b1/r1/x1"
std::string joined_path(const std::vector<std::string>& path);

// One number of the predicted bandwidth, GB/s, or why there is none.
struct PlanTerm {
  std::string name;
  std::optional<double> gbps;
  std::string text;
};
// What the order of ranks costs for the gang's communicators.
struct PlanRanks {
  std::string refused;              // why there is no such order; the rest is then empty
  std::vector<std::string> levels;  // of the network, and "node" where a finest domain has several
  std::vector<std::size_t> ring;    // by level: borders that one ring of pods crosses
  std::int64_t weighted = 0;
  std::int64_t depth_first_weighted = 0;
  bool optimal = false;
  std::vector<std::string> names;                    // of the communicators
  std::vector<std::vector<std::int64_t>> crossings;  // by name and level: pairs of ranks
};
// What is known in addition to the plan.
struct PlanDetails {
  std::vector<std::vector<int>> chips;       // by position in plan.pods; empty: not known
  std::vector<std::vector<int>> rings;       // likewise: the same along their widest ring
  std::vector<std::vector<int>> rank_chips;  // likewise: the same by rank, where pods have one each
  std::optional<PlanRanks> ranks;            // with communicators
  std::vector<PlanTerm> bandwidth;           // the gang's, then the terms whose minimum it is
  std::vector<std::int64_t> crossing_pairs;  // by level: pairs of chips in different domains
  std::vector<domain::LeafUse> leaves;       // if planned by leaf switches: those used
  std::optional<PlanExplanation> explanation;
};
std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const domain::Plan& plan, const PlanDetails& details = {});

// The answer for several gangs; each answer: as write_plan_answer() gives it, in the order of
// `gangs`.
std::string write_gangs_answer(const std::string& id, const std::vector<NamedGang>& gangs,
                               const std::vector<std::string>& answers);

}  // namespace chipweave::codec
