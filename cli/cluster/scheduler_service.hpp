// Finds the scheduler that the chart has installed in a cluster.
#pragma once

#include <string>

#include "cli/cluster/api_server.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

struct SchedulerService {
  std::string ns;
  std::string name;
  std::string scheme = "https";
  int port = 8443;

  std::string text() const { return ns + "/" + name; }
  // Where the API server passes requests on to it.
  std::string proxy_path() const;
};

// named: NAMESPACE/NAME; empty: the one Service with the label that the chart gives it, or where
// the user may not list Services, the chart's default name.
Result<SchedulerService> find_scheduler(ApiServer& server, const std::string& named);

// The secret of readers in the chart's Secret; "" if the user may not read it, or there is none.
std::string reader_secret(ApiServer& server, const SchedulerService& service);

// Whether the API server itself has answered with an error, and not what it passes requests on to.
bool is_status(const http::Reply& reply);

}  // namespace chipweave::cli
