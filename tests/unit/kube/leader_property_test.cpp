// Several electors with one simulated API server, and everything that can go wrong between them:
// slow and lost requests and answers, processes that are stopped for a while, die or resign, clocks
// that run at different speeds, an API server that is down. Invariant: at most one of them leads at
// any time. In the end, when nothing fails any more, one leads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/kube/leader_elector.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::kube {
namespace {

using Json = nlohmann::json;
using Steady = std::chrono::steady_clock::time_point;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class World;

// One process: its clock, what it waits for, and whether it is currently stopped.
class Process final : public Transport {
 public:
  Process(World& world, int number, double speed);
  ~Process() override { *alive_ = false; }

  std::unique_ptr<Ticket> call(Call call, std::function<void(Result<Reply>)> done) override;
  std::unique_ptr<Ticket> stream(StreamRequest, StreamSink) override { std::abort(); }
  std::unique_ptr<Ticket> after(milliseconds delay, std::function<void()> task) override;
  Steady now() const override;

  // Runs now, or when the process resumes.
  void run(std::function<void()> task) {
    if (!stopped) return task();
    held.push_back(std::move(task));
  }

  bool stopped = false;
  std::vector<std::function<void()>> held;
  std::unique_ptr<LeaderElector> elector;

 private:
  friend class World;
  World& world_;
  double speed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class World {
 public:
  // A Lease that is deleted before every process has seen it cannot be waited out.
  static constexpr seconds kSeenByAll{30};

  World(unsigned seed, bool deletes) : random_(seed), deletes_(deletes) {
    for (int i = 0; i < 3; ++i) start();
  }

  // Runs everything that happens until then.
  void run(seconds time) {
    const microseconds end = now_ + time;
    while (!queue_.empty() && queue_.begin()->first <= end) {
      now_ = queue_.begin()->first;
      const auto task = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      task();
      look();
      if (::testing::Test::HasFailure()) return;
    }
    now_ = end;
    look();
  }
  void disturb(seconds time) {
    const microseconds end = now_ + time;
    while (now_ < end && !::testing::Test::HasFailure()) {
      run_for(microseconds(pick(400'000)));
      trouble();
    }
  }
  void heal() {
    quiet_ = true;
    away_until_ = microseconds(0);
    for (const auto& p : processes_) go_on(*p);
  }
  int leaders() const {
    return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                          [](const auto& p) { return p->elector->holds(); }));
  }
  int terms() const { return terms_; }
  int pauses() const { return pauses_; }

  // --- the network and the server
  void send(Call call, std::function<void(Result<Reply>)> answer) {
    if (!quiet_ && pick(30) == 0) return;  // lost in transit
    at(latency(), [this, call = std::move(call), answer = std::move(answer)] {
      if (now_ < away_until_) return;
      Reply reply = serve(call);
      if (!quiet_ && pick(30) == 0) return;
      at(latency(), [answer, reply] { answer(reply); });
    });
  }
  void at(microseconds in, std::function<void()> task) {
    queue_.emplace(now_ + in, std::move(task));
  }
  microseconds time() const { return now_; }
  void new_term() { ++terms_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void run_for(microseconds time) {
    bool over = false;
    at(time, [&over] { over = true; });
    while (!over && !::testing::Test::HasFailure()) {
      now_ = queue_.begin()->first;
      const auto task = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      task();
      look();
    }
  }

  microseconds latency() {
    if (quiet_) return microseconds(500 + pick(3000));
    switch (pick(40)) {
      case 0:
        return microseconds(pick(8'000'000));  // arrives after the deadline
      case 1:
      case 2:
      case 3:
        return microseconds(pick(1'200'000));
      default:
        return microseconds(200 + pick(20'000));
    }
  }

  void start() {
    const double speed = 0.97 + 0.06 * (pick(1001) / 1000.0);
    auto process = std::make_unique<Process>(*this, ++started_, speed);
    Process& p = *process;
    LeaderElector::Options options;
    options.ns = "ns";
    options.name = "lease";
    options.identity = "p" + std::to_string(started_);
    LeaderElector::Events events;
    events.may_lead = [] { return true; };
    events.began = [this](const std::string&) { new_term(); };
    events.ended = [] {};
    events.failed = [](const std::string&) {};
    p.elector = std::make_unique<LeaderElector>(p, clock_, options, std::move(events),
                                                [this] { return pick(1000) / 1000.0; });
    p.elector->start();
    processes_.push_back(std::move(process));
  }
  void go_on(Process& p) {
    p.stopped = false;
    auto held = std::exchange(p.held, {});
    std::shuffle(held.begin(), held.end(), random_);  // the kernel has no order between sockets
    const std::shared_ptr<bool> alive = p.alive_;
    for (const auto& task : held) {
      if (*alive) task();
      look();
    }
  }

  void trouble() {
    const std::size_t n = static_cast<std::size_t>(pick(static_cast<int>(processes_.size())));
    Process& p = *processes_[n];
    const int what = pick(100);
    if (what < 3) return stop(p);
    if (what < 12) return go_on(p);
    if (what < 14 && !deletes_) return replace(n);
    if (what < 16) {
      away_until_ = now_ + microseconds(pick(6'000'000));
    } else if (what < 18) {
      if (version_ > 0) version_ = ++versions_;  // another client labels it
    } else if (what < 22 && deletes_) {
      if (now_ >= made_ + kSeenByAll) version_ = 0;
    } else if (!p.stopped) {
      p.elector->check();
    }
  }
  void stop(Process& p) {
    if (!p.stopped) ++pauses_;
    p.stopped = true;
  }
  // One is killed, or resigns in order, and another starts.
  void replace(std::size_t n) {
    Process& p = *processes_[n];
    if (pick(2) == 0 && !p.stopped) {
      p.elector->stop(pick(3) != 0, [] {});
      run_for(microseconds(pick(100'000)));
    }
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(n));
    start();
  }

  Reply serve(const Call& call) {
    const auto status = [](int code) {
      return Reply{code, R"({"kind":"Status","code":)" + std::to_string(code) + "}", std::nullopt};
    };
    if (call.method == "GET") return version_ == 0 ? status(404) : lease();
    const Json body = Json::parse(call.body);
    if (call.method == "POST") {
      if (version_ != 0) return status(409);
      ++incarnation_;
      made_ = now_;
    } else {
      if (version_ == 0) return status(404);
      if (body["metadata"]["resourceVersion"] != std::to_string(version_)) return status(409);
    }
    version_ = ++versions_;
    spec_ = body["spec"];
    return lease();
  }
  Reply lease() const {
    const Json object = {{"metadata",
                          {{"name", "lease"},
                           {"namespace", "ns"},
                           {"uid", "u" + std::to_string(incarnation_)},
                           {"resourceVersion", std::to_string(version_)}}},
                         {"spec", spec_}};
    return {200, object.dump(), std::nullopt};
  }

  void look() {
    std::string who;
    int holding = 0;
    for (const auto& p : processes_) {
      if (!p->elector->holds()) continue;
      ++holding;
      who += " " + std::to_string(&p - processes_.data());
    }
    EXPECT_LE(holding, 1) << "at " << now_.count() << " us:" << who;
  }

  std::mt19937 random_;
  bool deletes_;
  bool quiet_ = false;
  ManualClock clock_;  // stands still: the electors must not depend on it
  microseconds now_{0};
  microseconds away_until_{0};
  microseconds made_{0};  // when the Lease was
  std::multimap<microseconds, std::function<void()>> queue_;
  std::vector<std::unique_ptr<Process>> processes_;
  int started_ = 0;
  int terms_ = 0;
  int pauses_ = 0;
  std::uint64_t version_ = 0;  // of the Lease; 0: there is none
  std::uint64_t versions_ = 1000;
  std::uint64_t incarnation_ = 0;
  Json spec_;
};

Process::Process(World& world, int number, double speed)
    : world_(world), speed_(number == 1 ? 1.0 : speed) {}

Steady Process::now() const {
  const double us = static_cast<double>(world_.time().count()) * speed_;
  return Steady(microseconds(static_cast<std::int64_t>(us)));
}

namespace {
class Handle final : public Ticket {
 public:
  explicit Handle(std::shared_ptr<bool> live) : live_(std::move(live)) {}
  ~Handle() override { *live_ = false; }

 private:
  std::shared_ptr<bool> live_;
};
}  // namespace

std::unique_ptr<Ticket> Process::call(Call call, std::function<void(Result<Reply>)> done) {
  auto live = std::make_shared<bool>(true);
  const auto once = [this, live, alive = alive_, done = std::move(done)](Result<Reply> reply) {
    if (!*alive) return;
    run([live, alive, done, reply = std::move(reply)] {
      if (!*alive || !*live) return;
      *live = false;
      const auto copy = done;
      copy(reply);
    });
  };
  const auto deadline = microseconds(static_cast<std::int64_t>(
      static_cast<double>(std::chrono::duration_cast<microseconds>(call.deadline).count()) /
      speed_));
  world_.send(std::move(call), once);
  world_.at(deadline, [once] { once(make_error(Errc::deadline, "no answer in time")); });
  return std::make_unique<Handle>(live);
}

std::unique_ptr<Ticket> Process::after(milliseconds delay, std::function<void()> task) {
  auto live = std::make_shared<bool>(true);
  const auto in = microseconds(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(delay.count()) * 1000 / speed_)));
  world_.at(in, [this, live, alive = alive_, task = std::move(task)] {
    if (!*alive) return;
    run([live, alive, task] {
      if (*alive && *live) task();
    });
  });
  return std::make_unique<Handle>(live);
}

#ifdef NDEBUG
constexpr seconds kTime{1200};
#else
constexpr seconds kTime{300};
#endif

class Electors : public ::testing::TestWithParam<unsigned> {};

TEST_P(Electors, NeverTwoAtOnceAndOneInTheEnd) {
  // In every third run the Lease is sometimes deleted, which a process that starts then cannot
  // know.
  World world(GetParam(), GetParam() % 3 == 2);
  world.disturb(kTime);
  EXPECT_GT(world.terms(), static_cast<int>(kTime.count()) / 60) << "no process ever led";
  EXPECT_GT(world.pauses(), static_cast<int>(kTime.count()) / 120);
  world.heal();
  world.run(seconds(10));
  EXPECT_EQ(world.leaders(), 1);
  const int terms = world.terms();
  world.run(seconds(60));
  EXPECT_EQ(world.terms(), terms) << "and stays";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Electors, ::testing::Range(0U, 30U));

}  // namespace
}  // namespace chipweave::kube
