// GET requests change nothing, not even what is due to expire.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "scheduler-plugin/server/http_front.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

void write(std::string& out, const Holding& held) {
  out += "  " + held.uid + " " + std::to_string(held.chips.bits()) + " " +
         std::to_string(held.bound) + " " +
         std::to_string(held.expires.time_since_epoch().count()) + "\n";
}

// Everything that decisions depend on, as text.
std::string dump(const Scheduler& scheduler) {
  std::string out;
  const NodeTable& nodes = scheduler.nodes();
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes.node(id);
    out += node.name + " " + std::to_string(node.taken.bits()) + " " + std::to_string(node.stale) +
           " " + std::to_string(nodes.state_of(id)) + "\n";
    for (const Holding* held : scheduler.ledger().on(id)) write(out, *held);
  }
  scheduler.records().each_after({}, [&](const PodRecord& record) {
    const LastEvaluation* last = record.evaluation.get();
    out += record.uid + " " + std::string(to_string(record.state)) + " " +
           (last == nullptr ? "not evaluated" : std::to_string(last->node)) + "\n";
    return true;
  });
  out += std::to_string(nodes.last_serial()) + " " + std::to_string(scheduler.gains()) + " " +
         std::to_string(scheduler.freed()) + " " + std::to_string(scheduler.stored()) + "\n";
  return out + scheduler.check_invariants();
}

struct ReadOnly : ::testing::Test {
  // A bound pod, one whose reservation has expired, one that waits, and a node that stopped
  // reporting. The scheduler's next tick would change all but the first.
  void SetUp() override {
    world.add_node("n1", "hgx-v100-8");
    world.add_node("n2", "hgx-v100-8");
    ASSERT_TRUE(world.bind(world.submit("bound", 2), "n1").ok());
    world.scores(world.submit("reserved", 4));
    world.fit(world.submit("waits", 16));
    world.clock.advance(std::chrono::hours(1));
  }
  http::Response get(std::string_view path, std::string_view query = {}) {
    std::string body;
    http::Answer answer = front.handle({{"GET", path, query}, body});
    return std::get<http::Response>(answer);
  }

  World world;
  http::Loop loop;
  Metrics metrics{"test"};
  ResourceTable resources;
  HttpFront front{loop,    {},        world.scheduler, {&world.cluster, nullptr},
                  metrics, resources, "test",          {}};
};

TEST_F(ReadOnly, NoGetRequestChangesTheState) {
  const std::string before = dump(world.scheduler);
  const std::array<std::string_view, 14> paths{"/healthz",
                                               "/readyz",
                                               "/readyz/standby",
                                               "/version",
                                               "/metrics",
                                               "/api/v1/nodes",
                                               "/api/v1/nodes/n1",
                                               "/api/v1/pods",
                                               "/api/v1/network",
                                               "/api/v1/explain/ns/bound",
                                               "/api/v1/explain/ns/reserved",
                                               "/api/v1/explain/ns/waits",
                                               "/standalone/pods",
                                               "/standalone/pods/ns/bound"};
  for (const std::string_view path : paths) {
    const int status = get(path).status;
    EXPECT_TRUE(status == 200 || path.starts_with("/readyz")) << path << " " << status;
    EXPECT_EQ(dump(world.scheduler), before) << path;
  }
  get("/api/v1/pods", "limit=1");
  EXPECT_EQ(dump(world.scheduler), before);
  world.scheduler.tick();
  EXPECT_NE(dump(world.scheduler), before) << "nothing was due, so this test shows nothing";
}

}  // namespace
}  // namespace chipweave::sched::test
