// The batch lines of `chipweave plan`: a network with what its nodes have free, and a gang
// (docs/cli.md).
//
// Strict: an unknown or repeated key, a wrong type, a level or a path that the network does not
// have is an error that names the key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"

namespace chipweave::codec {

struct PlanNode {
  std::string name;
  std::vector<std::string> path;
  int free = 0;       // chips
  int max_pods = -1;  // further pods; -1: any number
  bool healthy = true;
};

struct PlanRequest {
  std::vector<std::string> levels;  // coarsest first
  std::vector<PlanNode> nodes;
  domain::Gang gang;  // GangNode: position in nodes
};

struct PlanLine {
  std::string id;
  Result<PlanRequest> request;
};
PlanLine parse_plan_line(std::string_view line);

// "b1/r1/x1"
std::string joined_path(const std::vector<std::string>& path);

std::string write_plan_answer(const std::string& id, const PlanRequest& request,
                              const domain::Plan& plan);

}  // namespace chipweave::codec
