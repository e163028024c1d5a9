#include "common/http/loop.hpp"

#include <csignal>
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

}  // namespace

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
    impl_->guarded([this] { impl_->context.run(); });
  }
  impl_->runner = std::thread::id();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> task) {
  asio::post(impl_->context, [impl = impl_.get(), task = std::move(task)] { impl->guarded(task); });
}

void Loop::every(std::chrono::milliseconds period, std::function<void()> task) {
  std::make_shared<Ticker>(*impl_, period, std::move(task))->wait();
}

void Loop::after(std::chrono::milliseconds delay, std::function<void()> task) {
  const auto timer = std::make_shared<asio::steady_timer>(impl_->context, delay);
  timer->async_wait(
      [impl = impl_.get(), timer, task = std::move(task)](const boost::system::error_code& ec) {
        if (!ec) impl->guarded(task);
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

bool Loop::in_loop_thread() const { return impl_->runner.load() == std::this_thread::get_id(); }

}  // namespace chipweave::http
