#include "node-agent/supervisor/probe_supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
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
constexpr std::size_t kMaxUnkillable = 3;  // processes that hang in the kernel
constexpr std::size_t kMaxEvents = 4096;
constexpr milliseconds kForEver{-1};

std::string seconds_text(milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

std::string minutes_text(milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::minutes>(time).count()) + " min";
}

// The oldest go first: a newer one of the same code says the same.
void append(std::vector<Signal> events, std::vector<Signal>& to) {
  std::move(events.begin(), events.end(), std::back_inserter(to));
  if (to.size() > kMaxEvents) {
    to.erase(to.begin(), to.end() - static_cast<std::ptrdiff_t>(kMaxEvents));
  }
}

// The driver has not responded yet.
bool is_start(const codec::ProbeLine& line) {
  const auto* seen = std::get_if<Observation>(&line);
  return seen != nullptr && seen->basis == domain::Basis::starting;
}

// Events occur once; the rest of an observation is replaced by the next one.
std::vector<Signal> take_events(Observation& from) {
  const auto events =
      std::stable_partition(from.signals.begin(), from.signals.end(),
                            [](const Signal& s) { return s.kind != SignalKind::event; });
  std::vector<Signal> out(std::make_move_iterator(events),
                          std::make_move_iterator(from.signals.end()));
  from.signals.erase(events, from.signals.end());
  return out;
}

}  // namespace

struct ProbeSupervisor::Impl {
  enum class Order { run, pause, stop };

  SupervisorOptions options;
  std::function<void()> on_change;
  io::Descriptor wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // readable: look at `order`

  mutable std::mutex mutex;  // of the members up to the blank line
  MachineUpdate news;        // not taken yet
  std::optional<ProbeTrouble> trouble;
  std::optional<Steady::time_point> confirmed;  // time of the newest line
  SupervisorCounts counts;
  Order order = Order::run;
  std::optional<Steady::time_point> measuring_off_until;

  std::vector<std::unique_ptr<SupervisedProcess>>
      unkillable;  // of the thread only; SIGKILL does not end them
  std::thread thread;

  void set_trouble(std::string code, std::string text) {
    {
      const std::lock_guard lock(mutex);
      if (order != Order::run) return;
      trouble = ProbeTrouble{std::move(code), std::move(text)};
      if (trouble->code == "probe.stuck" && unkillable.size() < kMaxUnkillable) ++counts.stuck;
      if (trouble->code == "probe.crashed") ++counts.crashed;
      if (trouble->code == "probe.garbage") ++counts.garbage;
    }
    on_change();
  }

  // Returns whether the owner must be notified.
  bool take(codec::ProbeLine line) {
    const std::lock_guard lock(mutex);
    if (is_start(line)) {
      // The driver may hang or crash again, as it did; and what it reported before is better.
      if (!news.reading) news.reading.emplace(std::get<Observation>(std::move(line)));
      return true;
    }
    const bool recovered = std::exchange(trouble, std::nullopt).has_value();
    confirmed = Steady::now();
    if (auto* seen = std::get_if<Observation>(&line)) {
      append(take_events(*seen), news.events);
      news.reading.emplace(std::move(*seen));
      news.metrics.reset();  // of chips that may have other indices now
    } else if (auto* error = std::get_if<Error>(&line)) {
      news.reading.emplace(std::move(*error));
    } else if (auto* arrived = std::get_if<codec::ProbeEvents>(&line)) {
      append(std::move(arrived->events), news.events);
    } else if (auto* sample = std::get_if<domain::MetricsSample>(&line)) {
      news.metrics = std::move(*sample);
    } else {
      return recovered;
    }
    return true;
  }

  void stop_measuring(const std::string& why) {
    {
      const std::lock_guard lock(mutex);
      measuring_off_until = Steady::now() + options.measuring_off_for;
    }
    options.warning("the chips are not measured for " + minutes_text(options.measuring_off_for) +
                    ", because a measurement failed: " + why);
  }

  // Each try may leave a process that cannot be killed: there is no further one before it is gone.
  bool can_measure_again() {
    forget_ended();
    const std::lock_guard lock(mutex);
    return measuring_off_until && Steady::now() >= *measuring_off_until && unkillable.empty();
  }

  const std::vector<std::string>& next_command() {
    const bool again = can_measure_again();
    const std::lock_guard lock(mutex);
    if (again) measuring_off_until.reset();
    return measuring_off_until ? options.command_without_measuring : options.command;
  }

  void forget_ended() {
    std::erase_if(unkillable, [](const auto& one) { return one->wait_for_exit(milliseconds(0)); });
  }

  // Of any thread.
  void give(Order next) {
    {
      const std::lock_guard lock(mutex);
      if (order == Order::stop || order == next) return;
      order = next;
      trouble.reset();
      news.reading.reset();  // it is of before the order
    }
    const std::uint64_t one = 1;
    // An eventfd with a small counter always takes one.
    [[maybe_unused]] const ssize_t written = ::write(wake.get(), &one, sizeof(one));
  }

  // The newest order. What is given after it wakes again.
  Order take_order() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake.get(), &count, sizeof(count));
    const std::lock_guard lock(mutex);
    return order;
  }

  // Until an order is given.
  void sleep(milliseconds time) const {
    pollfd fd{wake.get(), POLLIN, 0};
    ::poll(&fd, 1, static_cast<int>(time.count()));
  }

  // One run of the process, from start to end.
  void run_once() {
    auto started = SupervisedProcess::start(next_command(), wake.get(), codec::kMaxProbeLineBytes);
    if (!started) return set_trouble("probe.absent", started.error().text());
    {
      const std::lock_guard lock(mutex);
      ++counts.starts;
    }
    std::unique_ptr<SupervisedProcess> process = std::move(*started);
    follow(*process);
    if (!process->kill(kDieWithin)) unkillable.push_back(std::move(process));
  }

  // Until the process fails, or another one is to replace it.
  void follow(SupervisedProcess& process) {
    codec::ProbeLineReader reader;
    milliseconds limit = options.first_line_within;
    bool in_measurement = false;
    const auto failed = [&](std::string code, std::string text) {
      if (in_measurement && !options.command_without_measuring.empty()) stop_measuring(text);
      set_trouble(std::move(code), std::move(text));
    };
    for (;;) {
      std::string_view text;
      switch (process.read_line(limit, text)) {
        case SupervisedProcess::Got::woken:
          return;
        case SupervisedProcess::Got::timeout:
          return failed("probe.stuck", "the driver or its library has not responded for " +
                                           seconds_text(limit) +
                                           "; the probe process is restarted");
        case SupervisedProcess::Got::too_long:
          return failed("probe.garbage", "the probe process wrote a line beyond the size limit");
        case SupervisedProcess::Got::end:
          process.wait_for_exit(kDieWithin);
          return failed(
              "probe.crashed",
              "the probe process ended on its own: " +
                  (process.exit_reason().empty() ? "it closed its output" : process.exit_reason()));
        case SupervisedProcess::Got::line:
          break;
      }
      auto line = reader.read(text);
      if (!line) {
        return failed("probe.garbage",
                      "the probe process wrote an invalid line: " + line.error().text());
      }
      limit = is_start(*line) ? options.first_line_within : options.line_within;
      in_measurement = std::holds_alternative<codec::ProbeMeasuring>(*line);
      if (take(std::move(*line))) on_change();
      if (can_measure_again()) return;
    }
  }

  void run() {
    milliseconds pause = options.restart_min;
    for (;;) {
      const Order now = take_order();
      if (now == Order::stop) return;
      if (now == Order::pause) {
        sleep(kForEver);
        pause = options.restart_min;
        continue;
      }
      forget_ended();
      const Steady::time_point began = Steady::now();
      if (unkillable.size() >= kMaxUnkillable) {
        pause = options.restart_max;
        set_trouble(
            "probe.stuck",
            std::to_string(unkillable.size()) +
                " probe processes hang in the kernel and cannot be killed: reboot the node");
      } else {
        run_once();
      }
      if (Steady::now() - began >= options.stable_after) pause = options.restart_min;
      sleep(pause);
      pause = std::min(pause * 2, options.restart_max);
    }
  }
};

ProbeSupervisor::ProbeSupervisor(SupervisorOptions options, std::function<void()> on_change)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->on_change = std::move(on_change);
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

ProbeSupervisor::~ProbeSupervisor() {
  impl_->give(Impl::Order::stop);
  impl_->thread.join();
}

void ProbeSupervisor::pause(bool yes) { impl_->give(yes ? Impl::Order::pause : Impl::Order::run); }

MachineUpdate ProbeSupervisor::update() {
  const std::lock_guard lock(impl_->mutex);
  return std::exchange(impl_->news, {});
}

std::optional<ProbeTrouble> ProbeSupervisor::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->trouble;
}

std::optional<Steady::time_point> ProbeSupervisor::confirmed_at() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->confirmed;
}

SupervisorCounts ProbeSupervisor::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

bool ProbeSupervisor::measuring() const {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->options.command_without_measuring.empty() && !impl_->measuring_off_until;
}

}  // namespace chipweave::agent
