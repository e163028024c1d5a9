// The agent's real reporter against the scheduler's real gRPC server in one process.
#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "node-agent/app/agent.hpp"
#include "node-agent/app/machine/machine_source.hpp"
#include "node-agent/publish/grpc_reporter.hpp"
#include "node-agent/sources/file_watch.hpp"
#include "node-agent/sources/health_file.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "tests/component/agent_report/fakes.hpp"
#include "tests/fakes/agent/machines.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using sched::FakeCore;
using sched::GrpcServer;
using sched::Journal;
using sched::LoopThread;
using sched::ReportOutcome;
using std::chrono::milliseconds;

domain::NodeTopology four_chips() {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 4; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    b.add_chip(std::move(chip));
    b.add_link(ChipIndex{i}, ChipIndex{(i + 1) % 4}, domain::LinkKind::nvlink, 2, 20);
  }
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::move(built).value();
}

NodeStatePtr state(const domain::DeclaredFaults& faults = {}) {
  auto topology = with_faults(four_chips(), faults);
  EXPECT_TRUE(topology.ok());
  return std::make_shared<const NodeState>(
      NodeState{"box", {"nvidia.com/gpu"}, std::move(topology).value()});
}

// A scheduler's gRPC server that keeps its port over a restart.
struct GrpcScheduler {
  LoopThread thread;
  FakeCore core;
  std::unique_ptr<GrpcServer> server;
  std::uint16_t port = 0;
  bool open() {
    server = std::make_unique<GrpcServer>(thread.loop, &core, core);
    const auto got = server->start("127.0.0.1:" + std::to_string(port));
    if (got) port = *got;
    return got.ok();
  }
  void close() {
    server->stop(milliseconds(1000));
    server.reset();
  }
  ~GrpcScheduler() {
    if (server) close();
  }
};

// The agent's side: a loop with one reporter that is used on the loop only.
struct Node {
  LoopThread thread;
  Journal<bool> connected;
  Journal<Answer> answers;
  std::unique_ptr<GrpcReporter> reporter;

  void begin(std::uint16_t port, const std::string& boot = "boot-1",
             milliseconds heartbeat = milliseconds(60000)) {
    GrpcReporterOptions options;
    options.scheduler = "127.0.0.1:" + std::to_string(port);
    options.node = "n1";
    options.boot_id = boot;
    options.heartbeat = heartbeat;
    options.backoff_min = milliseconds(5);
    options.backoff_max = milliseconds(50);
    post_and_wait(thread.loop, [&] {
      reporter = std::make_unique<GrpcReporter>(
          thread.loop, options, ReporterEvents{[this](bool yes) { connected.add(yes); }, {}},
          [this](Answer a) { answers.add(a); });
      reporter->want(state(), true);
      reporter->start();
    });
  }
  void want(NodeStatePtr s) {
    thread.loop.post([this, s = std::move(s)] { reporter->want(s, true); });
  }
  void stop() {
    Journal<int> done;
    thread.loop.post([&] { reporter->stop([&] { done.add(1); }); });
    EXPECT_TRUE(done.at(0));
    post_and_wait(thread.loop, [this] { reporter.reset(); });
  }
  ~Node() {
    if (reporter) stop();
  }
};

TEST(AgentReport, BeginsFullThenSendsWhatChanged) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  const auto full = scheduler.core.reports.at(0);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->node, "n1");
  EXPECT_EQ(full->boot_id, "boot-1");
  EXPECT_EQ(full->machine, "box");
  EXPECT_EQ(full->resources, std::vector<std::string>{"nvidia.com/gpu"});
  ASSERT_TRUE(full->topology);
  EXPECT_EQ(full->topology->chip_count(), 4);
  EXPECT_EQ(node.connected.at(0), true);
  node.want(state({{ChipIndex{3}}, {}, {{ChipIndex{0}, ChipIndex{1}, 1}}}));
  const auto delta = scheduler.core.reports.at(1);
  ASSERT_TRUE(delta);
  EXPECT_FALSE(delta->topology);
  EXPECT_GT(delta->sequence, full->sequence);
  ASSERT_EQ(delta->chips.size(), 1U);
  EXPECT_EQ(delta->chips[0].chip.value, 3);
  EXPECT_EQ(delta->chips[0].health, domain::Health::unhealthy);
  ASSERT_EQ(delta->links.size(), 1U);
  EXPECT_EQ(delta->links[0].lanes_down, 1);
  node.stop();
  const auto gone = scheduler.core.gone.at(0);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->node, "n1");
  EXPECT_EQ(gone->boot_id, "boot-1");
}

TEST(AgentReport, ReportsFaultsAndTheirEnd) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  const auto full = scheduler.core.reports.at(0);
  ASSERT_TRUE(full && full->faults);
  EXPECT_TRUE(full->faults->empty());
  NodeState faulty = *state({{ChipIndex{3}}, {}, {}});
  faulty.faults.resize(1);
  faulty.faults[0].code = "nvml.lost";
  faulty.faults[0].effect = domain::Effect::unusable;
  faulty.faults[0].chip = ChipIndex{3};
  faulty.faults[0].text = "fallen off\nthe bus \xFF";
  faulty.faults[0].since = 1795338842113;
  node.want(std::make_shared<const NodeState>(faulty));
  const auto delta = scheduler.core.reports.at(1);
  ASSERT_TRUE(delta && delta->faults);
  ASSERT_EQ(delta->faults->size(), 1U);
  const domain::Fault& reported = delta->faults->front();
  EXPECT_TRUE(domain::same_cause(reported, faulty.faults[0]));
  EXPECT_EQ(reported.effect, domain::Effect::unusable);
  EXPECT_EQ(reported.since, 1795338842113);
  EXPECT_EQ(reported.text, "fallen off?the bus \xEF\xBF\xBD") << "gRPC would drop the whole report";
  node.want(state());
  const auto over = scheduler.core.reports.at(2);
  ASSERT_TRUE(over && over->faults);
  EXPECT_TRUE(over->faults->empty());
}

TEST(AgentReport, ARestartedSchedulerGetsEverythingAgain) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  ASSERT_TRUE(scheduler.core.reports.at(0));
  ASSERT_EQ(node.connected.at(0), true);
  scheduler.close();
  ASSERT_EQ(node.connected.at(1), false);
  node.want(state({{ChipIndex{2}}, {}, {}}));  // changes while the scheduler is down
  ASSERT_TRUE(scheduler.open());
  const auto again = scheduler.core.reports.at(1);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->topology);
  EXPECT_EQ(again->boot_id, "boot-1");
  EXPECT_GT(again->sequence, 1U);
  // An attempt that had started already sends the state from its start; the change then follows as
  // a delta.
  if (again->topology->chip(2).health == domain::Health::healthy) {
    const auto delta = scheduler.core.reports.at(2);
    ASSERT_TRUE(delta && delta->chips.size() == 1);
    EXPECT_EQ(delta->chips[0].chip.value, 2);
    EXPECT_EQ(delta->chips[0].health, domain::Health::unhealthy);
  }
  EXPECT_EQ(node.connected.at(2), true);
}

TEST(AgentReport, WaitsForASchedulerThatComesLater) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  const std::uint16_t port = scheduler.port;
  scheduler.close();
  Node node;
  node.begin(port);
  ASSERT_TRUE(scheduler.open());
  EXPECT_TRUE(scheduler.core.reports.at(0));
}

TEST(AgentReport, NeedsFullIsAnsweredWithAFullReport) {
  GrpcScheduler scheduler;
  scheduler.core.outcome = [](const sched::InventoryReport& r) {
    return r.topology ? ReportOutcome::taken : ReportOutcome::needs_full;
  };
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  ASSERT_TRUE(scheduler.core.reports.at(0));
  node.want(state({{ChipIndex{1}}, {}, {}}));
  const auto delta = scheduler.core.reports.at(1);
  ASSERT_TRUE(delta);
  EXPECT_FALSE(delta->topology);
  const auto full = scheduler.core.reports.at(2);
  ASSERT_TRUE(full);
  ASSERT_TRUE(full->topology);
  EXPECT_EQ(full->topology->chip(1).health, domain::Health::unhealthy);
}

TEST(AgentReport, BeatsWhileNothingHappens) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port, "boot-1", milliseconds(20));
  EXPECT_EQ(scheduler.core.beats.at(2), "n1");
  EXPECT_EQ(scheduler.core.reports.size(), 1U);
}

TEST(AgentReport, AnAgentThatIsReplacedLeavesTheNodeToItsSuccessor) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node old;
  old.begin(scheduler.port, "boot-1", milliseconds(20));
  ASSERT_TRUE(scheduler.core.beats.at(0));
  Node successor;
  successor.begin(scheduler.port, "boot-2");
  const auto taken = scheduler.core.reports.at(1);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->boot_id, "boot-2");
  // The old agent gets an answer, and its end does not make the node stale; the successor's end
  // does.
  for (std::size_t i = 0;; ++i) {
    const auto answer = old.answers.at(i);
    ASSERT_TRUE(answer);
    if (*answer == Answer::older) break;
  }
  old.stop();
  successor.stop();
  const auto gone = scheduler.core.gone.at(0);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->boot_id, "boot-2");
}

TEST(AgentReport, StoppingWithoutASchedulerIsQuiet) {
  Node node;
  node.begin(1);
  node.stop();
  EXPECT_EQ(node.connected.size(), 0U);
}

// gRPC's threads end with the last channel of a process, which therefore must not be destroyed on
// one of them.
TEST(AgentReport, TriesInVainAgainAndAgain) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  const std::uint16_t port = scheduler.port;
  scheduler.close();
  for (int round = 0; round < 10; ++round) {
    Node node;
    node.begin(port);
    std::this_thread::sleep_for(milliseconds(40));
    node.stop();
    EXPECT_EQ(node.connected.size(), 0U);
  }
}

// A change queued in the agent's loop after the end of the stream is not written to the stream.
TEST(AgentReport, AChangeBehindTheEndOfTheStreamWaitsForTheNext) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  ASSERT_TRUE(node.answers.at(0));
  Journal<int> go;
  node.thread.loop.post([&] { go.at(0); });  // the loop is busy
  scheduler.close();
  node.want(state({{ChipIndex{2}}, {}, {}}));
  go.add(1);
  ASSERT_TRUE(scheduler.open());
  const auto again = scheduler.core.reports.at(1);
  ASSERT_TRUE(again && again->topology);
}

TEST(AgentReport, AReporterMayGoWithItsStreamOpen) {
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  Node node;
  node.begin(scheduler.port);
  ASSERT_EQ(node.connected.at(0), true);
  post_and_wait(node.thread.loop, [&] { node.reporter.reset(); });
  EXPECT_TRUE(scheduler.core.gone.at(0));
}

struct FixedProbe final : MachineSource {
  bool read = false;
  MachineUpdate update() override {
    if (std::exchange(read, true)) return {};
    return {{}, domain::Observation{"box", four_chips(), {}}};
  }
};

TEST(AgentReport, AFaultInTheHealthFileReachesTheScheduler) {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "chipweave-agent-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  const std::string path = folder + "/health.json";
  GrpcScheduler scheduler;
  ASSERT_TRUE(scheduler.open());
  {
    Node node;
    node.begin(scheduler.port);
    ASSERT_TRUE(scheduler.core.reports.at(0));
    const SystemClock clock;
    FixedProbe probe;
    HealthFile file(path);
    Agent agent({"n1", {"nvidia.com/gpu"}, {}, false}, clock, probe, &file,
                {[&](const NodeStatePtr& s, bool) { node.reporter->want(s, true); }, nullptr,
                 [](const std::string&) {}});
    post_and_wait(node.thread.loop, [&] { ASSERT_TRUE(agent.start().ok()); });
    {
      // The watch alone drives the agent here: no polling timer.
      const FileWatch watch({path}, [&] { node.thread.loop.post([&] { agent.check(); }); });
      ASSERT_TRUE(watch.complete());
      ASSERT_TRUE(scheduler.core.reports.at(1));  // the agent's names for the chips: a full report
      std::ofstream(folder + "/new") << R"({"unhealthy":[2],"down_links":[[0,1]]})";
      fs::rename(folder + "/new", path);  // as editors and ConfigMap volumes do
      const auto delta = scheduler.core.reports.at(2);
      ASSERT_TRUE(delta);
      EXPECT_FALSE(delta->topology);
      ASSERT_EQ(delta->chips.size(), 1U);
      EXPECT_EQ(delta->chips[0].chip.value, 2);
      ASSERT_EQ(delta->links.size(), 1U);
      EXPECT_EQ(delta->links[0].lanes_down, 2);
      std::ofstream(path) << "{}";  // written in place
      std::size_t n = 3;
      auto next = scheduler.core.reports.at(n);
      ASSERT_TRUE(next);
      ASSERT_EQ(next->chips.size(), 1U);
      EXPECT_EQ(next->chips[0].health, domain::Health::healthy);
    }
    node.stop();
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace chipweave::agent
