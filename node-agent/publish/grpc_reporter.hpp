// GrpcReporter — keeps one Inventory.Report stream to the scheduler: connects, sends the messages
// of ReportPlan, reconnects with jittered back-off, sends a heartbeat every few seconds.
//
// Owned by the loop: every member on the loop thread, gRPC's threads only post. The loop must
// outlive it; call stop() and wait for its callback before the loop ends, else a call in flight is
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
#include "node-agent/publish/reporter.hpp"

namespace chipweave::agent {

struct GrpcReporterOptions {
  std::string scheduler;  // HOST:PORT, checked before
  std::string node;
  std::string boot_id;
  std::chrono::milliseconds heartbeat{5000};
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{5000};
  std::uint64_t seed = 0;  // for the jitter
  // Certificates, read at each attempt, so that files may change; null: no TLS.
  std::function<Result<ClientPem>()> tls;
};

class GrpcReporter final : public Reporter {
 public:
  // connected: true with the first ack, false when the stream ends. sent: handed to the connection.
  // answered, which may be empty: each answer of the scheduler.
  GrpcReporter(http::Loop& loop, GrpcReporterOptions options, ReporterEvents events,
               std::function<void(Answer)> answered = nullptr);
  ~GrpcReporter() override;

  void want(NodeStatePtr state, bool urgent) override;
  void start() override;
  void stop(std::function<void()> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
