// PlanExplanation — why a plan is as it is, and what other requests or networks would have given:
// the key `explain` of an answer of `plan` (docs/reference/cli.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/gang/plan_outcome.hpp"

namespace chipweave::codec {

struct PlanExplanation {
  // Why a level has several domains: the one with the most room.
  struct Bound {
    std::string level;
    int domains = 0;
    std::string roomiest;  // path
    std::int64_t room = 0;
    std::int64_t asked = 0;
    bool in_chips = false;  // room and asked are chips, else pods
  };
  // The best plan on other nodes.
  struct RunnerUp {
    PlanOutcome outcome;
    std::vector<std::string> without;  // nodes of the plan that it does not use
    std::vector<std::string> instead;
  };
  // The plan without one constraint.
  struct Relaxed {
    std::string constraint;
    PlanOutcome outcome;
  };
  // The repair after one node has failed.
  struct Failure {
    std::string node;
    PlanOutcome outcome;
    std::vector<std::string> moves_to;
  };

  PlanOutcome outcome;  // of the plan itself
  std::vector<Bound> bounds;
  std::optional<RunnerUp> runner_up;
  std::vector<Relaxed> relaxed;
  std::vector<Failure> failures;
  std::string no_failures;    // why none was tried
  std::size_t not_tried = 0;  // nodes of the plan whose absence was not tried
};

// The members of `explain`, written as the value of that key. levels: names, coarsest first.
void write_explanation(JsonWriter& out, const std::vector<std::string>& levels,
                       const PlanExplanation& explanation);

}  // namespace chipweave::codec
