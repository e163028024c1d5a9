// chipweave route init: waits for the job's tables, then writes RANK_AFTER_ACC and MASTER_INDEX for
// the container that comes after it.
#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {

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
