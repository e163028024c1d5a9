// chipweave route plan and init: their flags, and what carries them out.
#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"
#include "cli/ranktable/route/inputs.hpp"
#include "cli/terminal.hpp"
#include "common/codec/network/import.hpp"

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

// Waits for the job's tables, then writes RANK_AFTER_ACC and MASTER_INDEX for the next container.
struct RouteInitFlags {
  std::size_t index = 0;
  std::size_t replicas = 0;
  std::string config = "/user/config";
  std::string wait = "30m";
  std::string network, hosts;
  codec::NetworkImportOptions import;
  std::string dir = "/tmp";
};

Exit run_route_init(const RouteInitFlags& flags);

}  // namespace chipweave::cli
