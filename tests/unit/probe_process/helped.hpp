// Helped — a ProbeSupervisor whose probe process is a shell script, and a way to wait for its
// effects.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node-agent/supervisor/probe_supervisor.hpp"

namespace chipweave::agent {

inline std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

class Helped {
 public:
  explicit Helped(const std::string& script, SupervisorOptions options = {})
      : probe_(with(std::move(options), script), [this] {
          const std::lock_guard lock(mutex_);
          changed_.notify_all();
        }) {}

  ProbeSupervisor& probe() { return probe_; }
  // Collects updates until the newest reading and the events so far are as wanted.
  bool collect(const std::function<bool()>& wanted) {
    return until([&] {
      MachineUpdate update = probe_.update();
      if (update.reading) reading = std::move(update.reading);
      if (update.metrics) metrics = std::move(update.metrics);
      for (const auto& event : update.events) events.push_back(event.code);
      return wanted();
    });
  }
  bool has_chips(int chips) const {
    return reading && reading->ok() && (*reading)->topology.chip_count() == chips;
  }
  std::optional<Result<domain::Observation>> reading;  // the newest
  std::optional<domain::MetricsSample> metrics;        // the newest
  std::vector<std::string> events;
  // Waits until it is true; false after a long timeout.
  bool until(const std::function<bool()>& what) {
    std::unique_lock lock(mutex_);
    for (int i = 0; i < 4000; ++i) {
      if (what()) return true;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return false;
  }
  std::string trouble_code() {
    const auto trouble = probe_.trouble();
    return trouble ? trouble->code : "";
  }

 private:
  static SupervisorOptions with(SupervisorOptions options, const std::string& script) {
    options.command = shell(script);
    options.restart_min = std::chrono::milliseconds(1);
    return options;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  ProbeSupervisor probe_;
};

// Prints an observation with that many chips.
inline std::string seen(int chips, const std::string& more = "") {
  std::string out = R"({"machine":"box","topology":{"chips":[)";
  for (int i = 0; i < chips; ++i) {
    out += (i == 0 ? "" : ",") + std::string("{\"index\":") + std::to_string(i) + "}";
  }
  return "echo '" + out + "]},\"facts\":{}" + more + "}'; ";
}

inline const std::string kStay = "exec sleep 1000";

}  // namespace chipweave::agent
