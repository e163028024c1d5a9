// chipweave route plan: reads, plans, prints, writes.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "cli/ranktable/route/inputs.hpp"
#include "cli/terminal.hpp"

namespace chipweave::cli {

struct RoutePlanFlags {
  RouteInputFlags inputs;
  bool cabinet = false;
  bool hyperjob = false;
  bool compress = false;
  std::string manifest = "yaml";
  std::string out;
  OutputForm form = OutputForm::text;
};

Exit run_route_plan(const RoutePlanFlags& flags);

}  // namespace chipweave::cli
