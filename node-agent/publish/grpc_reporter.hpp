// GrpcReporter — keeps one Inventory.Report stream to the scheduler: connects, sends what
// ReportPlan says, reconnects with jittered back-off, beats every few seconds.
//
// Owned by the loop: every member on the loop thread, gRPC's threads only post. The loop must
// outlive it; call stop() and wait for its callback before the loop ends, else a call under way is
// abandoned (and cleans up after itself).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"
#include "common/http/loop.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/report_plan.hpp"

namespace chipweave::agent {

struct ReporterOptions {
  std::string scheduler;  // HOST:PORT, checked before
  std::string node;
  std::string boot_id;
  std::chrono::milliseconds heartbeat{5000};
  std::chrono::milliseconds backoff_least{100};
  std::chrono::milliseconds backoff_most{5000};
  std::uint64_t seed = 0;  // of the jitter
  // What TLS needs, asked for at each attempt, so that files may change; null: in the clear.
  std::function<Result<ClientPem>()> tls;
};

// What happens on the stream, for metrics and tests.
struct ReporterEvents {
  std::function<void(bool)> connected;   // true with the first ack, false when the stream is gone
  std::function<void(ReportKind)> sent;  // handed to the connection
  std::function<void(Answer)> answered;
};

class GrpcReporter {
 public:
  GrpcReporter(http::Loop& loop, ReporterOptions options, ReporterEvents events);
  ~GrpcReporter();
  GrpcReporter(const GrpcReporter&) = delete;
  GrpcReporter& operator=(const GrpcReporter&) = delete;

  // The first state must be there before start().
  void want(NodeStatePtr state);
  void start();
  // Ends the stream for good and calls `done` on the loop.
  void stop(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// 128 random bits as hex: tells one run of an agent from the next.
std::string make_boot_id();

}  // namespace chipweave::agent
