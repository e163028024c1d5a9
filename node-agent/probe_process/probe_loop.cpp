#include "node-agent/probe_process/probe_loop.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/backoff.hpp"
#include "common/codec/agent/probe_line.hpp"

namespace chipweave::agent {
namespace {

class ProbeLoop {
 public:
  ProbeLoop(VendorProbe& probe, const Clock& clock, const ProbeLoopOptions& options,
            const std::function<bool(const std::string&)>& write)
      : probe_(probe),
        clock_(clock),
        options_(options),
        write_(write),
        retries_({options.retry_min, options.retry_max, 0}) {}

  void run() {
    const auto first = probe_.before_driver();
    if (first && !write_line(lines_.observation(*first))) return;
    while (write_events() && !probe_.outdated() && step() && sample()) {
      probe_.wait(std::min(options_.poll_every, options_.heartbeat_every));
    }
  }

 private:
  // False once the reader is gone.
  bool step() {
    if (!is_due()) return write_heartbeat();
    read_ = clock_.now();
    auto observation = probe_.discover();
    if (!write_events()) return false;  // those that it noticed by reading
    if (!observation) return failed(observation.error());
    seen_ = true;
    failing_ = false;
    problem_.clear();
    retries_.reset();
    return write_line(lines_.observation(*observation));
  }

  // After the hardware was read, so that a call which hangs delays no observation. A line before
  // and one after it: the reader knows what hangs.
  bool sample() {
    const bool wanted = options_.sample_every.count() > 0 && seen_ && !failing_;
    const Clock::Steady now = clock_.now();
    if (!wanted || (sampled_ && now - *sampled_ < options_.sample_every)) return true;
    sampled_ = now;
    if (!write_line(codec::ProbeLineWriter::measuring())) return false;
    domain::MetricsSample out;
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
    out.taken_ms = taken.count();
    out.chips = probe_.sample();
    return write_line(out.chips.empty() ? codec::ProbeLineWriter::alive()
                                        : codec::ProbeLineWriter::metrics(out));
  }

  bool is_due() {
    if (failing_) return clock_.now() >= retry_at_;
    return !seen_ || probe_.changes() || clock_.now() - read_ >= options_.reread_every;
  }

  bool failed(const Error& error) {
    failing_ = true;
    retry_at_ = clock_.now() + retries_.next();
    std::string line = codec::ProbeLineWriter::failure(error);
    if (line == problem_) return write_heartbeat();
    problem_ = std::move(line);
    return write_line(problem_);
  }

  bool write_events() {
    const std::vector<domain::Signal> events = probe_.take_events();
    return events.empty() || write_line(codec::ProbeLineWriter::events(events));
  }

  bool write_heartbeat() {
    if (clock_.now() - written_ < options_.heartbeat_every) return true;
    return write_line(codec::ProbeLineWriter::alive());
  }

  bool write_line(const std::string& line) {
    written_ = clock_.now();
    return write_(line);
  }

  VendorProbe& probe_;
  const Clock& clock_;
  const ProbeLoopOptions& options_;
  const std::function<bool(const std::string&)>& write_;
  codec::ProbeLineWriter lines_;
  bool seen_ = false;  // at least once
  Clock::Steady read_{};
  bool failing_ = false;
  std::string problem_;  // the line about it
  Backoff retries_;
  Clock::Steady retry_at_{};
  Clock::Steady written_{};
  std::optional<Clock::Steady> sampled_;
};

}  // namespace

void run_probe_loop(VendorProbe& probe, const Clock& clock, const ProbeLoopOptions& options,
                    const std::function<bool(const std::string&)>& write) {
  ProbeLoop(probe, clock, options, write).run();
}

}  // namespace chipweave::agent
