// The answer of `route plan`: the new rank of every pod, the master, and why pods keep their order
// if they do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/solver/ranks/route_plan.hpp"

namespace chipweave::cli {

enum class RouteOutcome {
  planned,
  one_host,
  no_topology,
  cabinet_off,  // the job does not request topology
  waiting,      // pods are missing or not scheduled yet
};

struct RouteAnswer {
  RouteOutcome outcome = RouteOutcome::waiting;
  std::string ns, job, task;  // empty: not known
  std::vector<std::string> levels;
  std::vector<std::string> names;  // the names of pods, or hosts
  std::vector<std::size_t> indexes;
  std::vector<solver::RoutePod> pods;
  solver::RoutePlan plan;  // the given order unless planned; empty while waiting
  std::vector<std::string> warnings;

  // "j-worker-2.j"; with hosts alone, the host. "" while waiting.
  std::string master_address() const;
};

// For a job that requests topology and is complete.
RouteOutcome outcome_of(solver::RouteState state);
// Why planning failed or waits; "" if there is a plan.
std::string why_no_plan(RouteOutcome outcome);

std::string route_text(const RouteAnswer& answer, bool colours);
std::string route_json(const RouteAnswer& answer);

}  // namespace chipweave::cli
