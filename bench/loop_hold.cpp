// loop_hold — how long tasks hold the scheduler's loop in a large cluster: the parts of main.cpp
// but the gRPC side, an API server in a process of its own, and one load after the other. Prints
// quantiles of the holds by load, the delay of a timer that fires every 100 ms, the memory, and the
// longest time between two renewals of the Lease. Ends with 1 if a target is missed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/hold_times.hpp"
#include "bench/http_socket.hpp"
#include "bench/loop_hold_api.hpp"
#include "bench/targets.hpp"
#include "common/codec/topology/import.hpp"
#include "common/http/loop.hpp"
#include "common/http/tls_context.hpp"
#include "common/obs/log.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/server/http_front.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/component/kube_api/certificates.hpp"
#include "tests/unit/http/tls_socket.hpp"

namespace chipweave::bench {
namespace {

using http::LoopTask;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kBeat{100};
constexpr milliseconds kTick{1000};
constexpr milliseconds kSettle{300};

double cpu_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double resident_mib(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) return std::stod(line.substr(std::strlen(key) + 1)) / 1024;
  }
  return 0;
}

// What the loop did under one load. Written on the loop, read when the load is over.
struct Load {
  std::string name;
  HoldTimes wall;
  HoldTimes cpu;
  LoopTask longest = LoopTask::other;
  double late_ms = 0;  // of the beat, at most

  void add(const Load& other) {
    if (other.wall.longest() >= wall.longest()) longest = other.longest;
    wall.add(other.wall);
    cpu.add(other.cpu);
    late_ms = std::max(late_ms, other.late_ms);
  }
};

void print(const Load& load) {
  std::printf("%-22s %8zu %8.3f %8.2f %8.2f %8.2f | %8.2f %8.2f | %7.1f  %s\n", load.name.c_str(),
              load.wall.count(), load.wall.quantile(0.5), load.wall.quantile(0.99),
              load.wall.quantile(0.999), load.wall.longest(), load.cpu.quantile(0.999),
              load.cpu.longest(), load.late_ms, std::string(to_string(load.longest)).c_str());
  std::fflush(stdout);
}

// The scheduler as main.cpp wires it, in this process.
class Program {
 public:
  explicit Program(std::uint16_t api_port) {
    loop_.on_held([this](LoopTask task, std::chrono::nanoseconds took) { held(task, took); });
    kube::ApiAccess access;
    access.origin = {"127.0.0.1", std::to_string(api_port), false, false, {}};
    access.ns = "bench";
    sched::KubernetesOptions options;
    options.version = "bench";
    options.lease_namespace = "bench";
    sched::LeaderElection::Options election;
    election.lease.ns = "bench";
    election.lease.name = "scheduler";
    election.lease.identity = "bench";
    options.election = election;
    auto made = sched::Kubernetes::make(loop_, clock_, access, std::move(options), resources_);
    if (!made) throw std::runtime_error(made.error().text());
    kubernetes_ = std::move(*made);
    observers_.add(metrics_);
    observers_.add(kubernetes_->events());
    sched::SchedulerOptions scheduling;
    scheduling.reservation_ttl = std::chrono::seconds(10);
    scheduler_ =
        std::make_unique<sched::Scheduler>(clock_, kubernetes_->cluster(), observers_, scheduling);
    http::ServerOptions server;
    server.host = "127.0.0.1";
    const sched::HttpFront::Options callers;
    front_ = std::make_unique<sched::HttpFront>(
        loop_, server, *scheduler_, sched::HttpFront::Backend{nullptr, kubernetes_.get()}, metrics_,
        resources_, "bench", callers);
    port_ = front_->start().value();
    listen_with_tls();
    front_->set_ready(true);
    loop_.every(kTick, [this] {
      scheduler_->tick();
      front_->tick();
    });
    kubernetes_->start(*scheduler_);
    loop_.every(kBeat, [this] { kubernetes_->tick(); });
    due_ = SteadyClock::now() + kBeat;
    loop_.every(kBeat, [this] { beat(); });
    runner_ = std::thread([this] { loop_.run(); });
  }
  ~Program() {
    loop_.post([this] { loop_.stop(); });
    runner_.join();
  }

  std::uint16_t port() const { return port_; }
  std::uint16_t tls_port() const { return tls_port_; }
  // What the loop does from now on counts for this load; returns the one before.
  Load begin(std::string name) {
    const std::lock_guard lock(mutex_);
    Load fresh;
    fresh.name = std::move(name);
    return std::exchange(load_, std::move(fresh));
  }

 private:
  void listen_with_tls() {
    const test::Pem ca = test::make_authority("bench CA");
    const test::Pem own = test::make_certificate(ca, "IP:127.0.0.1");
    http::ServerOptions server;
    server.host = "127.0.0.1";
    server.tls = http::TlsContext::make({own.certificate, own.key, {}}).value();
    secure_ = std::make_unique<http::Server>(loop_, server,
                                             [](const http::Request&) { return http::Response{}; });
    tls_port_ = secure_->start().value();
  }
  void held(LoopTask task, std::chrono::nanoseconds took) {
    metrics_.loop_held(task, took);
    const double cpu = cpu_of_thread();
    const double used = cpu - std::exchange(cpu_, cpu);
    const double wall = std::chrono::duration<double, std::milli>(took).count();
    const std::lock_guard lock(mutex_);
    if (wall >= load_.wall.longest()) load_.longest = task;
    load_.wall.add(wall);
    load_.cpu.add(used);
  }
  void beat() {
    const auto now = SteadyClock::now();
    const double late = std::chrono::duration<double, std::milli>(now - due_).count();
    due_ = std::max(due_ + kBeat, now);
    const std::lock_guard lock(mutex_);
    load_.late_ms = std::max(load_.late_ms, late);
  }

  const SystemClock clock_;
  sched::ResourceTable resources_;
  http::Loop loop_;
  sched::Metrics metrics_{"bench"};
  sched::Observers observers_;
  std::unique_ptr<sched::Kubernetes> kubernetes_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::unique_ptr<sched::HttpFront> front_;
  std::unique_ptr<http::Server> secure_;
  std::uint16_t port_ = 0;
  std::uint16_t tls_port_ = 0;
  double cpu_ = 0;
  SteadyClock::time_point due_;
  std::mutex mutex_;
  Load load_;
  std::thread runner_;
};

class Driver {
 public:
  Driver(FakeApi& api, Program& program, FakeCluster cluster)
      : api_(api), program_(program), cluster_(std::move(cluster)) {
    for (int i = 0; i < cluster_.nodes; ++i) names_ += (i > 0 ? ",\"" : "\"") + node_name(i) + "\"";
  }

  // False: a target was missed.
  bool run(int filtered, int events) {
    measure("start", [&] { wait_until_ready(); });
    loaded_mib_ = resident_mib("VmRSS:");
    http_.emplace(program_.port());
    measure("filter, prioritize", [&] { place(filtered); });
    measure("explain", [&] { explain(50); });
    for (const char* storm :
         {"pods/modify", "pods/churn", "inventories/modify", "leases/modify", "nodes/modify"})
      measure(storm, [&] { api_.storm(storm, events); });
    measure("preempt", [&] { preempt(30); });
    measure("/api/v1/nodes", [&] { get("/api/v1/nodes", 10); });
    measure("/api/v1/pods", [&] { get("/api/v1/pods", 10); });
    measure("/metrics", [&] { get("/metrics", 10); });
    measure("TLS handshakes", [&] { shake_hands(200); });
    measure("nothing, 12 s", [] { std::this_thread::sleep_for(std::chrono::seconds(12)); });
    for (const char* storm : {"inventories/gone", "pods/gone", "pods/gone-paged"}) {
      measure(storm, [&] {
        api_.storm(storm, 1);
        std::this_thread::sleep_for(std::chrono::seconds(8));
      });
    }
    measure("Lease lost and taken", [&] {
      api_.storm("leader/steal", 1);
      std::this_thread::sleep_for(std::chrono::seconds(5));
    });
    measure("all at once", [&] { mix(events); });
    const double most_mib = resident_mib("VmHWM:");
    measure("filter, whole nodes", [&] { place_on_whole_nodes(5); });
    all_.name = "overall";
    print(all_);
    std::printf(
        "resident: %.0f MiB before the first request, %.0f MiB at the end, %.0f MiB at most\n",
        loaded_mib_, resident_mib("VmRSS:"), most_mib);
    Targets targets;
    targets.at_most("holds of the loop, p99.9", all_.wall.quantile(0.999), 20, "ms");
    targets.at_most("holds of the loop, longest", all_.wall.longest(), 50, "ms");
    targets.at_most("resident memory, with this program's clients", most_mib, 350, "MiB");
    // the elector waits a fifth longer at most, and for one task that holds the loop
    const double gap = retry_period_.count() * 1.2 + 50;
    targets.at_most("between renewals of the Lease, as the API server saw them",
                    api_.longest_lease_gap_ms(), gap, "ms");
    return targets.all_met();
  }

 private:
  void measure(const std::string& name, const std::function<void()>& act) {
    program_.begin(name);
    act();
    std::this_thread::sleep_for(kSettle);
    const Load load = program_.begin("");
    print(load);
    all_.add(load);
  }

  void wait_until_ready() {
    for (int tries = 0; tries < 1200; ++tries) {
      HttpSocket socket(program_.port());
      if (socket.ask("GET", "/readyz").status == 200) return;
      std::this_thread::sleep_for(milliseconds(50));
    }
    throw std::runtime_error("the scheduler does not become ready");
  }

  std::string args(int pod) const {
    return R"({"Pod":)" + pod_object(cluster_, pod, "1") + R"(,"Nodes":null,"NodeNames":[)" +
           names_ + "]}";
  }

  void expect_ok(const HttpSocket::Reply& reply, const char* what) {
    if (reply.status != 200)
      throw std::runtime_error(std::string(what) + ": HTTP " + std::to_string(reply.status) + " " +
                               reply.begin);
  }

  void place(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string body = args(cluster_.bound + i % cluster_.pending);
      expect_ok(http_->ask("POST", "/kube/filter", body), "filter");
      expect_ok(http_->ask("POST", "/kube/prioritize", body), "prioritize");
    }
  }

  // As a kube-scheduler that is not nodeCacheCapable: Node objects of 4.8 KB.
  void place_on_whole_nodes(int count) {
    std::string nodes;
    for (int i = 0; i < cluster_.nodes; ++i) {
      nodes += (i > 0 ? ",{" : "{") + (R"("metadata":{"name":")" + node_name(i)) +
               R"(","annotations":{"a":")" + std::string(2400, 'a') + R"("}},"status":{"images":[)";
      for (int image = 0; image < 20; ++image)
        nodes += (image > 0 ? "," : "") + (R"({"names":[")" + std::string(80, 'n')) +
                 R"("],"sizeBytes":1234567890})";
      nodes += "]}}";
    }
    for (int i = 0; i < count; ++i) {
      const std::string body =
          R"({"Pod":)" + pod_object(cluster_, cluster_.bound + i % cluster_.pending, "1") +
          R"(,"Nodes":{"metadata":{},"items":[)" + nodes + R"(]},"NodeNames":null})";
      expect_ok(http_->ask("POST", "/kube/filter", body), "filter");
      expect_ok(http_->ask("POST", "/kube/prioritize", body), "prioritize");
    }
  }

  void explain(int count) {
    for (int i = 0; i < count; ++i) {
      const int pod = cluster_.bound + i;
      const std::string path = "/api/v1/explain/team-" + std::to_string(pod % 50) +
                               "/training-job-worker-" + std::to_string(pod);
      HttpSocket::Reply reply = http_->ask("GET", path);
      // Explanations get a share of the scheduler's time, and are refused beyond it.
      for (int tries = 0; reply.status == 503 && tries < 50; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        reply = http_->ask("GET", path);
      }
      expect_ok(reply, path.c_str());
    }
  }

  void get(const std::string& path, int count) {
    for (int i = 0; i < count; ++i) expect_ok(http_->ask("GET", path), path.c_str());
  }

  void preempt(int count) {
    std::string victims;
    for (int node = 0; node < cluster_.wide; ++node) {
      victims += (node > 0 ? ",\"" : "\"") + node_name(node) + R"(":{"Pods":[)";
      for (int i = 0; i < 8; ++i)
        victims += (i > 0 ? R"(,{"UID":")" : R"({"UID":")") + pod_uid(node * 16 + i) + "\"}";
      victims += R"(],"NumPDBViolations":0})";
    }
    for (int i = 0; i < count; ++i) {
      const std::string body = R"({"Pod":)" + pod_object(cluster_, cluster_.bound + 2 * i, "1") +
                               R"(,"NodeNameToMetaVictims":{)" + victims + "}}";
      expect_ok(http_->ask("POST", "/kube/preempt", body), "preempt");
    }
  }

  void shake_hands(int count) const {
    for (int i = 0; i < count; ++i) http::TlsSocket socket(program_.tls_port());
  }

  void mix(int events) {
    std::vector<std::thread> threads;
    std::exception_ptr failed;
    std::mutex mutex;
    const auto start = [&](const std::function<void(HttpSocket&)>& act) {
      threads.emplace_back([&, act] {
        try {
          HttpSocket socket(program_.port());
          act(socket);
        } catch (...) {
          const std::lock_guard lock(mutex);
          failed = std::current_exception();
        }
      });
    };
    start([&](HttpSocket&) { api_.storm("pods/churn", events / 2); });
    start([&](HttpSocket& s) {
      for (int i = 0; i < 5; ++i) s.ask("GET", "/metrics");
    });
    start([&](HttpSocket& s) {
      for (int i = 0; i < 3; ++i) s.ask("GET", "/api/v1/pods");
    });
    start([&](HttpSocket& s) {
      for (int i = 0; i < 50; ++i) s.ask("POST", "/kube/filter", args(cluster_.bound + i));
    });
    for (std::thread& thread : threads) thread.join();
    if (failed) std::rethrow_exception(failed);
  }

  FakeApi& api_;
  Program& program_;
  FakeCluster cluster_;
  std::string names_;
  std::optional<HttpSocket> http_;
  Load all_;
  double loaded_mib_ = 0;
  const std::chrono::duration<double, std::milli> retry_period_ =
      kube::LeaderElector::Options().retry_period;
};

std::string topology_of(const char* profile) {
  const auto* known = profiles::find(profile);
  if (known == nullptr) throw std::runtime_error(std::string("no profile ") + profile);
  const auto imported = codec::import_topology_json(known->json, {});
  if (!imported) throw std::runtime_error(imported.error().text());
  std::string json = codec::export_topology_json(imported->topology);
  std::erase(json, '\n');
  return json;
}

bool run(FakeCluster cluster, int filtered, int events) {
  cluster.wide_topology = topology_of("dgx2-v100-16");
  cluster.topology = topology_of("hgx-h100-8");
  obs::set_level("error");
  FakeApi api(cluster);
  Program program(api.port());
  Driver driver(api, program, cluster);
  std::printf("%-22s %8s %8s %8s %8s %8s | %8s %8s | %7s  %s\n", "load (ms)", "tasks", "p50", "p99",
              "p99.9", "max", "cpu99.9", "cpu max", "timer", "longest");
  return driver.run(filtered, events);
}

}  // namespace
}  // namespace chipweave::bench

int main(int argc, char** argv) {
  CLI::App app("How long tasks hold the scheduler's loop");
  chipweave::bench::FakeCluster cluster{10'000, 1'000, 80'000, 10'000, {}, {}};
  int filtered = 1000;
  int events = 20'000;
  app.add_option("--nodes", cluster.nodes)->capture_default_str();
  app.add_option("--wide", cluster.wide, "nodes of 16 chips")->capture_default_str();
  app.add_option("--bound", cluster.bound, "bound pods of one chip")->capture_default_str();
  app.add_option("--pending", cluster.pending)->capture_default_str();
  app.add_option("--filtered", filtered, "pods of them that are filtered")->capture_default_str();
  app.add_option("--events", events, "of each storm")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!chipweave::bench::run(cluster, filtered, events)) return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_loop_hold: %s\n", e.what());
    return 1;
  }
  return 0;
}
