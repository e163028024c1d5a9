#include "common/http/loop.hpp"

#include <csignal>
#include <ctime>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/http/loop_impl.hpp"
#include "common/obs/log.hpp"

namespace chipweave::http {
namespace {

namespace asio = boost::asio;

// A repeating timer owns itself: it lives in its own pending wait and dies with the io_context.
struct Ticker : std::enable_shared_from_this<Ticker> {
  Ticker(Loop::Impl& l, std::chrono::milliseconds p, std::function<void()> t)
      : loop(l),
        timer(l.context),
        period(p),
        due(asio::steady_timer::clock_type::now() + p),
        task(std::move(t)) {}

  void wait() {
    timer.expires_at(due);
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
      if (ec) return;
      self->loop.begin_task(LoopTask::timer);
      self->loop.guarded(self->task);
      // after a pause of the whole process the missed ticks are skipped, not caught up
      self->due = std::max(self->due + self->period, asio::steady_timer::clock_type::now());
      self->wait();
    });
  }

  Loop::Impl& loop;
  asio::steady_timer timer;
  std::chrono::milliseconds period;
  asio::steady_timer::time_point due;
  std::function<void()> task;
};

std::chrono::nanoseconds thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::string_view to_string(LoopTask task) {
  switch (task) {
    case LoopTask::request:
      return "request";
    case LoopTask::tls_handshake:
      return "tls_handshake";
    case LoopTask::reply:
      return "reply";
    case LoopTask::timer:
      return "timer";
    case LoopTask::posted:
      return "posted";
    case LoopTask::other:
      return "other";
  }
  return "other";
}

std::string exception_text() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown exception";
  }
}

void Loop::Impl::guarded(const std::function<void()>& task) {
  try {
    task();
  } catch (...) {
    on_escape(exception_text());
  }
}

// After a wait the begin of a task is known only from begin_task(); the few handlers of Asio's own
// that do not call it are measured by their CPU time, which a wait does not use.
void Loop::Impl::run_measured() {
  Steady last = std::chrono::steady_clock::now();
  while (!context.stopped()) {
    current = LoopTask::other;
    began = last;
    std::chrono::nanoseconds used{0};
    if (context.poll_one() == 0) {
      began = {};
      used = thread_cpu_time();
      if (context.run_one() == 0) return;
      if (began == Steady{}) used = thread_cpu_time() - used;
    }
    last = std::chrono::steady_clock::now();
    on_held(current, began == Steady{} ? used : last - began);
  }
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  on_escape([](const std::string& what) {
    obs::log(obs::Level::error, "exception escaped a loop task", {{"what", what}});
  });
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's sockets raise it when the peer is gone
}
Loop::~Loop() = default;

void Loop::run() {
  impl_->runner = std::this_thread::get_id();
  // io_context::run() returns normally only after stop(); anything else is an exception of a
  // completion handler
  while (!impl_->context.stopped()) {
    impl_->guarded([this] {
      if (impl_->on_held) return impl_->run_measured();
      impl_->context.run();
    });
  }
  impl_->runner = std::thread::id();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> task) {
  asio::post(impl_->context, [impl = impl_.get(), task = std::move(task)] {
    impl->begin_task(LoopTask::posted);
    impl->guarded(task);
  });
}

void Loop::every(std::chrono::milliseconds period, std::function<void()> task) {
  std::make_shared<Ticker>(*impl_, period, std::move(task))->wait();
}

void Loop::after(std::chrono::milliseconds delay, std::function<void()> task) {
  const auto timer = std::make_shared<asio::steady_timer>(impl_->context, delay);
  timer->async_wait(
      [impl = impl_.get(), timer, task = std::move(task)](const boost::system::error_code& ec) {
        if (ec) return;
        impl->begin_task(LoopTask::timer);
        impl->guarded(task);
      });
}

// Signals after the first stay caught and do nothing: the drain that the first one began is bounded
// in time.
void Loop::on_terminate(std::function<void()> task) {
  impl_->signals.emplace(impl_->context, SIGTERM, SIGINT);
  impl_->signals->async_wait(
      [impl = impl_.get(), task = std::move(task)](const boost::system::error_code& ec, int) {
        if (!ec) impl->guarded(task);
      });
}

void Loop::on_escape(std::function<void(const std::string&)> act) {
  impl_->on_escape = std::move(act);
}

void Loop::on_held(std::function<void(LoopTask, std::chrono::nanoseconds)> act) {
  impl_->on_held = std::move(act);
}

bool Loop::in_loop_thread() const { return impl_->runner.load() == std::this_thread::get_id(); }

}  // namespace chipweave::http
