// Series of nodes: what a scrape contains as nodes come, change and are replaced.
#include "scheduler-plugin/server/metrics.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched {
namespace {

using test::World;

std::string line_of(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(Metrics, PlaceableSizesFollowTheNodesState) {
  World w;
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "ascend-910a-8");
  Metrics metrics("test");
  std::string text = metrics.scrape(w.scheduler, {});
  EXPECT_EQ(line_of(text, "chipweave_largest_placeable_chips{node=\"n1\"}"),
            "chipweave_largest_placeable_chips{node=\"n1\"} 8");
  EXPECT_EQ(line_of(text, "chipweave_placeable_sizes{node=\"n1\"}"),
            "chipweave_placeable_sizes{node=\"n1\"} 8");
  EXPECT_EQ(line_of(text, "chipweave_placeable_sizes{node=\"n2\"}"),  // 1, 2, 4, 8
            "chipweave_placeable_sizes{node=\"n2\"} 4");
  w.set_health("n1", 3, domain::Health::unhealthy);
  text = metrics.scrape(w.scheduler, {});
  EXPECT_EQ(line_of(text, "chipweave_largest_placeable_chips{node=\"n1\"}"),
            "chipweave_largest_placeable_chips{node=\"n1\"} 7");
  EXPECT_EQ(line_of(text, "chipweave_chips{node=\"n1\",state=\"unhealthy\"}"),
            "chipweave_chips{node=\"n1\",state=\"unhealthy\"} 1");
}

TEST(Metrics, ANodeThatGaveWayLeavesNoSeries) {
  World w;
  w.fill_table("hgx-v100-8");
  Metrics metrics("test");
  EXPECT_NE(metrics.scrape(w.scheduler, {}).find("node=\"n8\""), std::string::npos);
  w.scheduler.agent_gone("n8", "boot");
  w.add_node("new", "hgx-a100-4");
  const std::string text = metrics.scrape(w.scheduler, {});
  EXPECT_EQ(text.find("node=\"n8\""), std::string::npos);
  EXPECT_EQ(line_of(text, "chipweave_largest_placeable_chips{node=\"new\"}"),
            "chipweave_largest_placeable_chips{node=\"new\"} 4");
}

TEST(Metrics, NothingFitsOnANodeWhoseAgentIsSilent) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.scheduler.agent_gone("n1", "boot");
  Metrics metrics("test");
  const std::string text = metrics.scrape(w.scheduler, {});
  EXPECT_EQ(line_of(text, "chipweave_largest_placeable_chips{node=\"n1\"}"),
            "chipweave_largest_placeable_chips{node=\"n1\"} 0");
  EXPECT_EQ(line_of(text, "chipweave_placeable_sizes{node=\"n1\"}"),
            "chipweave_placeable_sizes{node=\"n1\"} 0");
}

TEST(Metrics, GangsThatMakeRoomAreCounted) {
  World w;
  Metrics metrics("test");
  metrics.on(GangPreempting{GangRef{"ns", "chipweave", "train", {}, {}}, 3, 1});
  for (int i = 0; i < 3; ++i) metrics.on(PodPreempted{{"ns", "a"}, "u", "ns/train"});
  metrics.on(GangNotPreempting{GangRef{"ns", "chipweave", "train", {}, {}}, "why"});
  metrics.on(GangNotPreempting{GangRef{"ns", "chipweave", "train", {}, {}}, "another"});
  const std::string text = metrics.scrape(w.scheduler, {});
  const auto count = [&](const std::string& event) {
    const std::string line = line_of(text, "chipweave_gang_events_total{event=\"" + event + "\"}");
    return line.substr(line.rfind(' ') + 1);
  };
  EXPECT_EQ(count("preempting"), "1");
  EXPECT_EQ(count("preempted"), "3");
  EXPECT_EQ(count("not_preempting"), "2");
  EXPECT_EQ(count("not_stored"), "0");
  metrics.on(GangPodEnded{{"ns", "a"}, "u", "ns/train", "node n1 is not ready", ""});
  metrics.on(GangPodEnded{{"ns", "a"}, "u", "ns/train", "node n1 is not ready", "a budget"});
  const std::string later = metrics.scrape(w.scheduler, {});
  for (const char* event : {"fault_ended", "fault_not_ended"})
    EXPECT_TRUE(later.find("{event=\"" + std::string(event) + "\"} 1") != std::string::npos);
  EXPECT_EQ(count("released"), "0");
}

TEST(Metrics, HoldsOfTheLoopAreCountedByKindOfTask) {
  using std::chrono::milliseconds;
  World w;
  Metrics metrics("test");
  metrics.loop_held(http::LoopTask::request, milliseconds(1));
  metrics.loop_held(http::LoopTask::request, milliseconds(19));
  metrics.loop_held(http::LoopTask::timer, milliseconds(30));
  const std::string text = metrics.scrape(w.scheduler, {});
  const auto count = [&](const std::string& labels) {
    const std::string line = line_of(text, "chipweave_loop_hold_seconds_" + labels);
    return line.substr(line.rfind(' ') + 1);
  };
  EXPECT_EQ(count("bucket{task=\"request\",le=\"0.01\"}"), "1");
  EXPECT_EQ(count("bucket{task=\"request\",le=\"0.02\"}"), "2");
  EXPECT_EQ(count("bucket{task=\"timer\",le=\"0.02\"}"), "0");
  EXPECT_EQ(count("bucket{task=\"timer\",le=\"0.05\"}"), "1");
  for (const http::LoopTask task : http::kLoopTasks)
    EXPECT_NE(count("count{task=\"" + std::string(to_string(task)) + "\"}"), "");
}

TEST(Metrics, CallsOfTheGrpcSideAndTokenReviewsAreCounted) {
  World w;
  Metrics metrics("test");
  metrics.grpc_call("Place", "OK");
  metrics.grpc_call("Place", "OK");
  metrics.grpc_call("Release", "NOT_FOUND");
  Kubernetes::Stats kubernetes;
  kubernetes.token_reviews = {3, 2, 1};
  metrics.scrape(w.scheduler, {}, &kubernetes);
  kubernetes.token_reviews.refused = 4;
  const std::string text = metrics.scrape(w.scheduler, {}, &kubernetes);
  for (const std::string series :
       {"chipweave_grpc_requests_total{code=\"OK\",method=\"Place\"} 2",
        "chipweave_grpc_requests_total{code=\"NOT_FOUND\",method=\"Release\"} 1",
        "chipweave_token_reviews_total{result=\"accepted\"} 3",
        "chipweave_token_reviews_total{result=\"refused\"} 4",
        "chipweave_token_reviews_total{result=\"failed\"} 1"}) {
    EXPECT_NE(text.find("\n" + series + "\n"), std::string::npos) << series;
  }
}

}  // namespace
}  // namespace chipweave::sched
