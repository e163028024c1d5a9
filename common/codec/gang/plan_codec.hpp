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
};

using PlanLine = BatchRequest<PlanRequest>;
PlanLine parse_plan_line(std::string_view line);

// "b1/r1/x1"
std::string joined_path(const std::vector<std::string>& path);

// One number of the predicted bandwidth, GB/s, or why there is none.
struct PlanTerm {
  std::string name;
  std::optional<double> gbps;
  std::string text;
};
// What is known in addition to the plan.
struct PlanDetails {
  std::vector<std::vector<int>> chips;       // by position in plan.pods; empty: not known
  std::vector<std::vector<int>> rings;       // likewise: the same along their widest ring
  std::vector<PlanTerm> bandwidth;           // the gang's, then the terms whose minimum it is
  std::vector<std::int64_t> crossing_pairs;  // by level: pairs of chips in different domains
  std::vector<domain::LeafUse> leaves;       // if planned by leaf switches: those used
};
std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const domain::Plan& plan, const PlanDetails& details = {});

}  // namespace chipweave::codec
