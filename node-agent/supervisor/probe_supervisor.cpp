#include "node-agent/supervisor/probe_supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "common/codec/agent/probe_line.hpp"
#include "node-agent/supervisor/supervised_process.hpp"

namespace chipweave::agent {
namespace {

using domain::Observation;
using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kDieWithin{2'000};
constexpr std::size_t kMostLost = 3;  // helpers that hang in the kernel
constexpr std::size_t kMostEvents = 4096;

std::string seconds_text(milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

// Events happen once: those that nobody has taken yet go with the newer observation.
void keep_events(Observation& from, Observation& to) {
  std::vector<Signal> events;
  for (Signal& signal : from.signals) {
    if (signal.kind == SignalKind::event) events.push_back(std::move(signal));
  }
  if (events.size() > kMostEvents) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(kMostEvents));
  }
  to.signals.insert(to.signals.begin(), std::make_move_iterator(events.begin()),
                    std::make_move_iterator(events.end()));
}

}  // namespace

struct ProbeSupervisor::Impl {
  SupervisorOptions options;
  std::function<void()> news;
  io::Descriptor wake{::eventfd(0, EFD_CLOEXEC)};

  mutable std::mutex mutex;          // of what stands here, up to the blank line
  std::optional<Observation> fresh;  // not taken yet
  std::optional<Error> failure;      // of the newest line, if it was one
  bool answered = false;             // there is something to take
  std::optional<ProbeTrouble> trouble;
  std::optional<Steady::time_point> heard;  // the newest line, whatever it said
  SupervisorCounts counts;

  std::vector<std::unique_ptr<SupervisedProcess>>
      lost;  // the thread's own: not even SIGKILL ends them
  std::thread thread;

  void set_trouble(std::string code, std::string text) {
    {
      const std::lock_guard lock(mutex);
      trouble = ProbeTrouble{std::move(code), std::move(text)};
      if (trouble->code == "probe.stuck" && lost.size() < kMostLost) ++counts.stuck;
      if (trouble->code == "probe.crashed") ++counts.crashed;
      if (trouble->code == "probe.garbage") ++counts.garbage;
    }
    news();
  }

  // Returns whether somebody should be told.
  bool take(codec::ProbeLine line) {
    const std::lock_guard lock(mutex);
    const bool recovered = std::exchange(trouble, std::nullopt).has_value();
    heard = Steady::now();
    if (auto* seen = std::get_if<Observation>(&line)) {
      if (fresh) keep_events(*fresh, *seen);
      fresh = std::move(*seen);
      failure.reset();
      answered = true;
    } else if (auto* error = std::get_if<Error>(&line)) {
      failure = std::move(*error);
      answered = true;
    } else {
      return recovered;
    }
    return true;
  }

  bool stopping() const {
    pollfd fd{wake.get(), POLLIN, 0};
    return ::poll(&fd, 1, 0) != 0;
  }

  // False when it is time to stop.
  bool sleep(milliseconds time) const {
    pollfd fd{wake.get(), POLLIN, 0};
    return ::poll(&fd, 1, static_cast<int>(time.count())) == 0;
  }

  // One run of the helper, from its start to its end. False when it is time to stop.
  bool run_once() {
    auto started = SupervisedProcess::start(options.words, wake.get(), codec::kMaxProbeLineBytes);
    if (!started) {
      set_trouble("probe.absent", started.error().text());
      return !stopping();
    }
    {
      const std::lock_guard lock(mutex);
      ++counts.starts;
    }
    std::unique_ptr<SupervisedProcess> helper = std::move(*started);
    const bool go_on = follow(*helper);
    if (!helper->kill(kDieWithin)) lost.push_back(std::move(helper));
    return go_on;
  }

  bool follow(SupervisedProcess& helper) {
    codec::ProbeLineReader reader;
    milliseconds patience = options.first_line_within;
    for (;;) {
      std::string_view text;
      switch (helper.read_line(patience, text)) {
        case SupervisedProcess::Got::woken:
          return false;
        case SupervisedProcess::Got::silence:
          set_trouble("probe.stuck", "the driver or its library has not answered for " +
                                         seconds_text(patience) + "; the helper is started anew");
          return true;
        case SupervisedProcess::Got::too_long:
          set_trouble("probe.garbage", "the helper said too much at once");
          return true;
        case SupervisedProcess::Got::end:
          helper.gone(kDieWithin);
          set_trouble("probe.crashed",
                      "the helper that asks the driver ended by itself: " +
                          (helper.ending().empty() ? "it closed its output" : helper.ending()));
          return true;
        case SupervisedProcess::Got::line:
          break;
      }
      auto line = reader.read(text);
      if (!line) {
        set_trouble("probe.garbage", "what the helper said makes no sense: " + line.error().text());
        return true;
      }
      if (take(std::move(*line))) news();
      patience = options.line_within;
    }
  }

  void run() {
    milliseconds pause = options.restart_least;
    for (;;) {
      std::erase_if(lost, [](const auto& one) { return one->gone(milliseconds(0)); });
      const Steady::time_point began = Steady::now();
      if (lost.size() >= kMostLost) {
        pause = options.restart_most;
        set_trouble("probe.stuck",
                    std::to_string(lost.size()) +
                        " helpers hang in the kernel and cannot be ended: reboot the node");
      } else if (!run_once()) {
        return;
      }
      if (Steady::now() - began >= options.good_after) pause = options.restart_least;
      if (!sleep(pause)) return;
      pause = std::min(pause * 2, options.restart_most);
    }
  }
};

ProbeSupervisor::ProbeSupervisor(SupervisorOptions options, std::function<void()> news)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->news = std::move(news);
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

ProbeSupervisor::~ProbeSupervisor() {
  const std::uint64_t one = 1;
  // An eventfd with an empty counter always takes one.
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake.get(), &one, sizeof(one));
  impl_->thread.join();
}

Result<Observation> ProbeSupervisor::discover() {
  const std::lock_guard lock(impl_->mutex);
  impl_->answered = false;
  if (impl_->failure) return *impl_->failure;
  if (!impl_->fresh) {
    return make_error(Errc::unavailable, "the hardware has not answered yet");
  }
  return *std::exchange(impl_->fresh, std::nullopt);
}

bool ProbeSupervisor::changes() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->answered;
}

std::optional<ProbeTrouble> ProbeSupervisor::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->trouble;
}

std::optional<Steady::time_point> ProbeSupervisor::heard() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->heard;
}

bool ProbeSupervisor::ready() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->answered;
}

SupervisorCounts ProbeSupervisor::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

}  // namespace chipweave::agent
