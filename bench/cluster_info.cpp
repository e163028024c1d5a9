// cluster_info — the cost of maintaining MindCluster's cluster-info ConfigMaps for the scheduler's
// loop: the longest time that it blocks the loop, and its allocations, in a cluster of many Ascend
// nodes.
//
// Runs the publisher with an API server in memory that answers each request with the whole object,
// like a real one. A turn is one call on the loop: a tick, the answer to a request, or a wait that
// ends. Ends with 1 if a turn is longer than its target.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/targets.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/cluster_info/publisher.hpp"
#include "tests/support/manual_clock.hpp"

namespace {

std::size_t allocations = 0;  // one thread
std::size_t allocated = 0;    // bytes

}  // namespace

// Not inlined, because the compiler would then warn about mismatched pairs.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  allocated += size;
  if (void* out = std::malloc(size)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* what) noexcept { std::free(what); }
[[gnu::noinline]] void operator delete(void* what, std::size_t /*size*/) noexcept {
  std::free(what);
}

namespace {

using namespace chipweave;
using namespace chipweave::sched;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

// The cost of one step of the cluster, until nothing is left to do.
struct Cost {
  double worst_ms = 0;  // turn
  double all_ms = 0;
  std::size_t allocations = 0;
  std::size_t bytes = 0;
  std::size_t writes = 0;
};

class Api final : public kube::Transport {
 public:
  explicit Api(ManualClock& clock) : clock_(clock) {}

  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    asked_.push_back({std::move(call), std::move(done), std::make_shared<bool>(true)});
    return std::make_unique<Handle>(asked_.back().live);
  }
  // No NodeInventory has faults.
  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest, kube::StreamSink sink) override {
    return after(milliseconds(0), [bytes = std::move(sink.bytes)] {
      bytes(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1",)"
            R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
            "\n");
    });
  }
  std::unique_ptr<kube::Ticket> after(milliseconds delay, std::function<void()> task) override {
    const auto live = std::make_shared<bool>(true);
    waits_.emplace(now() + delay, Wait{std::move(task), live});
    return std::make_unique<Handle>(live);
  }
  Clock::Steady now() const override { return clock_.now(); }

  // Everything that is due, one turn each.
  void run(Cost& cost) {
    for (;;) {
      if (!asked_.empty()) {
        Asked next = std::move(asked_.back());
        asked_.pop_back();
        if (!*next.live) continue;
        kube::Reply reply = answer(next.call, cost);
        measure(cost, [&] { next.done(std::move(reply)); });
      } else if (!waits_.empty() && waits_.begin()->first <= now()) {
        auto due = waits_.extract(waits_.begin());
        if (*due.mapped().live) measure(cost, due.mapped().task);
      } else {
        return;
      }
    }
  }

  template <class Turn>
  static void measure(Cost& cost, Turn turn) {
    const std::size_t count = allocations;
    const std::size_t bytes = allocated;
    const auto began = Steady::now();
    turn();
    const double ms = std::chrono::duration<double, std::milli>(Steady::now() - began).count();
    cost.worst_ms = std::max(cost.worst_ms, ms);
    cost.all_ms += ms;
    cost.allocations += allocations - count;
    cost.bytes += allocated - bytes;
  }

 private:
  struct Asked {
    kube::Call call;
    std::function<void(Result<kube::Reply>)> done;
    std::shared_ptr<bool> live;
  };
  struct Wait {
    std::function<void()> task;
    std::shared_ptr<bool> live;
  };
  class Handle final : public kube::Ticket {
   public:
    explicit Handle(std::shared_ptr<bool> live) : live_(std::move(live)) {}
    ~Handle() override { *live_ = false; }

   private:
    std::shared_ptr<bool> live_;
  };

  // `data` is the last member of a write.
  kube::Reply answer(const kube::Call& call, Cost& cost) {
    if (call.method != "GET") {
      ++cost.writes;
      const std::size_t data = call.body.find("\"data\":");
      stored_[path_of(call)] = call.body.substr(data);
    }
    const auto found = stored_.find(path_of(call));
    if (found == stored_.end()) return {kube::kNotFound, "{}", {}};
    std::string object = R"({"metadata":{"uid":"u","resourceVersion":"1","labels":{)";
    object += R"("mx-consumer-volcano":"true","app.kubernetes.io/managed-by":)";
    object += R"("chipweave-scheduler"}},)";
    return {kube::kOk, object + found->second, {}};
  }
  // A POST names its object in the body.
  static std::string path_of(const kube::Call& call) {
    if (call.method != "POST") return call.target.substr(0, call.target.find('?'));
    constexpr std::string_view kName = R"("name":")";
    const std::size_t from = call.body.find(kName) + kName.size();
    return call.target + "/" + call.body.substr(from, call.body.find('"', from) - from);
  }

  ManualClock& clock_;
  std::vector<Asked> asked_;
  std::multimap<Clock::Steady, Wait> waits_;
  std::map<std::string, std::string> stored_;
};

class Npus {
 public:
  explicit Npus(const std::string& machine) {
    const auto* profile = profiles::find(machine);
    if (profile == nullptr) throw std::runtime_error("no profile " + machine);
    topology_ = codec::import_topology_json(profile->json, {})->topology;
  }
  void join(const std::string& name) {
    InventoryReport report;
    report.node = name;
    report.boot_id = "00000000-0000-4000-8000-000000000000";
    report.sequence = ++sequence_;
    report.topology = topology_;
    nodes_.report(std::move(report), clock_.now());
  }
  void change(const std::string& name) {
    InventoryReport report;
    report.node = name;
    report.boot_id = "00000000-0000-4000-8000-000000000000";
    report.sequence = ++sequence_;
    healthy_ = !healthy_;
    const auto health = healthy_ ? domain::Health::healthy : domain::Health::unhealthy;
    report.chips = {{domain::ChipIndex{3}, health}};
    nodes_.report(std::move(report), clock_.now());
  }
  // Runs the loop's work for that long.
  Cost pass(milliseconds time) {
    Cost out;
    for (milliseconds t{0}; t < time; t += kTick) {
      clock_.advance(kTick);
      Api::measure(out, [&] { publisher_.tick(nodes_, ledger_, true); });
      api_.run(out);
    }
    return out;
  }

 private:
  static constexpr milliseconds kTick{250};
  ManualClock clock_;
  NodeTable nodes_;
  Ledger ledger_{nodes_};
  Api api_{clock_};
  ClusterInfoPublisher publisher_{api_, clock_, {}};
  domain::NodeTopology topology_;
  std::uint64_t sequence_ = 0;
  bool healthy_ = true;
};

void print(const char* what, const Cost& cost) {
  std::printf("%-44s worst turn %8.2f ms  all %8.1f ms  %8zu allocations  %8.2f MB  %3zu writes\n",
              what, cost.worst_ms, cost.all_ms, cost.allocations,
              static_cast<double>(cost.bytes) / 1e6, cost.writes);
}

// As for every task of the loop (bench/loop_hold.cpp).
constexpr double kLongestTurnMs = 50;
constexpr double kLongestTurnOfAChangeMs = 5;
constexpr const char* kOneChanges = "one node changes";

// The median of several by their worst turn.
template <class Step>
Cost print_median(const char* what, int rounds, Step step) {
  std::vector<Cost> costs;
  costs.reserve(static_cast<std::size_t>(rounds));
  for (int i = 0; i < rounds; ++i) costs.push_back(step(i));
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.worst_ms < b.worst_ms; });
  print(what, costs[costs.size() / 2]);
  return costs[costs.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What cluster-info ConfigMaps cost the scheduler's loop");
  int count = 10'000;
  int rounds = 21;
  std::string machine = "ascend-910b-8";
  app.add_option("--nodes", count, "Ascend nodes")->capture_default_str();
  app.add_option("--rounds", rounds, "of which the median is shown")->capture_default_str();
  app.add_option("--machine", machine, "profile of every node")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto name = [](int i) { return "npu-" + std::to_string(i); };
  Npus cluster(machine);
  for (int i = 0; i < count; ++i) cluster.join(name(2 * i));
  std::vector<std::pair<const char*, Cost>> costs;
  costs.emplace_back("this replica begins to lead", cluster.pass(seconds(20)));
  print(costs.back().first, costs.back().second);
  constexpr seconds kRound{10};  // two looks
  const auto keep = [&](const char* what, int times, auto step) {
    costs.emplace_back(what, print_median(what, times, step));
  };
  keep("nothing changes, 10 s", rounds, [&](int) { return cluster.pass(kRound); });
  keep(kOneChanges, rounds, [&](int i) {
    cluster.change(name(2 * (i * 479 % count)));
    return cluster.pass(kRound);
  });
  keep("a node in the middle is new", rounds, [&](int i) {
    cluster.join(name(count + 2 * i + 1));
    return cluster.pass(kRound);
  });
  costs.emplace_back("times are renewed, 4 min", cluster.pass(std::chrono::minutes(4)));
  print(costs.back().first, costs.back().second);
  bench::Targets targets;
  for (const auto& [what, cost] : costs)
    targets.at_most(
        std::string("worst turn: ") + what, cost.worst_ms,
        std::string_view(what) == kOneChanges ? kLongestTurnOfAChangeMs : kLongestTurnMs, "ms");
  return targets.all_met() ? 0 : 1;
}
