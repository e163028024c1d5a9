#include "node-agent/probe_process/probe_loop.hpp"

#include <algorithm>
#include <utility>

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
        retry_(options.retry_least) {}

  void run() {
    while (look()) probe_.wait(std::min(options_.look_every, options_.alive_every));
  }

 private:
  // False when nobody listens.
  bool look() {
    if (!is_due()) return say_alive();
    looked_ = clock_.now();
    auto observation = probe_.discover();
    if (!observation) return failed(observation.error());
    seen_ = true;
    failing_ = false;
    problem_.clear();
    retry_ = options_.retry_least;
    return say(lines_.observation(*observation));
  }

  bool is_due() {
    if (failing_) return clock_.now() >= retry_at_;
    return !seen_ || probe_.changes() || clock_.now() - looked_ >= options_.look_again_every;
  }

  bool failed(const Error& error) {
    failing_ = true;
    retry_at_ = clock_.now() + retry_;
    retry_ = std::min(retry_ * 2, options_.retry_most);
    std::string line = codec::ProbeLineWriter::failure(error);
    if (line == problem_) return say_alive();
    problem_ = std::move(line);
    return say(problem_);
  }

  bool say_alive() {
    if (clock_.now() - said_ < options_.alive_every) return true;
    return say(codec::ProbeLineWriter::alive());
  }

  bool say(const std::string& line) {
    said_ = clock_.now();
    return write_(line);
  }

  VendorProbe& probe_;
  const Clock& clock_;
  const ProbeLoopOptions& options_;
  const std::function<bool(const std::string&)>& write_;
  codec::ProbeLineWriter lines_;
  bool seen_ = false;  // at least once
  Clock::Steady looked_{};
  bool failing_ = false;
  std::string problem_;  // the line about it
  std::chrono::milliseconds retry_;
  Clock::Steady retry_at_{};
  Clock::Steady said_{};
};

}  // namespace

void run_probe_loop(VendorProbe& probe, const Clock& clock, const ProbeLoopOptions& options,
                    const std::function<bool(const std::string&)>& write) {
  ProbeLoop(probe, clock, options, write).run();
}

}  // namespace chipweave::agent
