// MetricsHandler — /metrics, /healthz (the program lives) and /readyz (it reports hardware that
// responds) of the agent over HTTP. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/http/tls_context.hpp"
#include "node-agent/app/agent.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// Events of the Node: accepted by the API server, refused by it, or dropped before.
struct EventCounts {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
};

// Rank tables that are kept as files, by what they are.
struct RankTableCounts {
  std::size_t initializing = 0;
  std::size_t completed = 0;
  std::size_t failed = 0;
};

// Read at each scrape.
struct ProbeFacts {
  std::uint64_t errors = 0;
  double age_seconds = 0;
  // The probe process: how often it was started, and why it was restarted.
  std::uint64_t starts = 0;
  std::uint64_t stuck = 0;
  std::uint64_t crashed = 0;
  std::uint64_t garbage = 0;
  std::optional<EventCounts> events = {};           // in a cluster only
  std::optional<RankTableCounts> rank_tables = {};  // absent: none are kept
  std::string blind = {};                           // Agent::blind()
  bool measuring = false;                           // the chips, by the probe process
};

class MetricsHandler {
 public:
  explicit MetricsHandler(http::Loop& loop);
  ~MetricsHandler();
  MetricsHandler(const MetricsHandler&) = delete;
  MetricsHandler& operator=(const MetricsHandler&) = delete;

  // Returns the port (port 0: any free one). tls: null for plain HTTP.
  Result<std::uint16_t> start(const std::string& host, std::uint16_t port,
                              std::shared_ptr<http::TlsContext> tls = nullptr);
  void drain(std::chrono::milliseconds grace, std::function<void()> done);

  // Where a scrape reads the figures of the probe; zeros before this call.
  void set_source(std::function<ProbeFacts()> probe);
  // Further metrics, as text of the format: called at each scrape.
  void set_page(std::function<std::string()> page);
  void state(const NodeState& state);
  void fault(const FaultChange& change);
  void connected(bool yes);
  void sent(const std::string& kind);  // "full", "delta", "heartbeat"
  // Only where the kubelet is to be asked; without a call there are no such series.
  void kubelet_supported(bool yes);
  void kubelet_connected(bool yes);
  void in_use(std::size_t chips);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
