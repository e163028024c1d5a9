// Reporting — the reporter that the flags ask for, and the client it needs.
//
// Owner: the program; used and destroyed on the loop thread, or when the loop does not run.
#pragma once

#include <memory>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/kube/api_client.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/publish/reporter.hpp"

namespace chipweave::agent {

class Reporting {
 public:
  // Errors: credentials of the cluster that cannot be read or used.
  static Result<std::unique_ptr<Reporting>> make(const Flags& flags, http::Loop& loop,
                                                 const Clock& clock, ReporterEvents events);
  Reporter& reporter() { return *reporter_; }

 private:
  Result<void> use_cluster(const Flags& flags, http::Loop& loop, const Clock& clock,
                           ReporterEvents events);

  std::unique_ptr<kube::ApiClient> api_;  // null: no cluster
  std::unique_ptr<Reporter> reporter_;
};

}  // namespace chipweave::agent
