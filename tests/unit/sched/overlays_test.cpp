// Measured constants: the scheduler predicts with them, whatever agents report.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

SchedulerOptions with_overlay(const std::string& model, domain::LinkKind kind, double gbps) {
  SchedulerOptions options;
  options.overlays = {{"a.json", "nvidia", {model}, {{kind, gbps}}, {}}};
  return options;
}

const Node& node_called(const World& w, std::string_view name) {
  return w.scheduler.nodes().node(w.scheduler.nodes().find(name));
}

TEST(SchedulerOverlays, ReplaceConstantsOfTheirModel) {
  World w(with_overlay("a100-sxm4", domain::LinkKind::nvswitch, 19));
  w.add_node("a", "hgx-a100-8");
  w.add_node("h", "hgx-h100-8");
  const Node& a100 = node_called(w, "a");
  EXPECT_DOUBLE_EQ(a100.wiring->gbps(a100.topology.all()), 12 * 19);
  const Node& h100 = node_called(w, "h");
  EXPECT_DOUBLE_EQ(h100.wiring->gbps(h100.topology.all()),
                   solver::Machine(profile("hgx-h100-8")).gbps(h100.topology.all()));
}

TEST(SchedulerOverlays, AreInThePredictionThatPodsGet) {
  World w(with_overlay("A100-SXM4", domain::LinkKind::nvswitch, 19));
  w.add_node("a", "hgx-a100-8");
  const auto pod = w.submit("p", 4);
  w.fit(pod);
  w.scores(pod);
  ASSERT_TRUE(w.bind(pod, "a").ok());
  EXPECT_DOUBLE_EQ(w.scheduler.decision(pod.uid)->gbps, 12 * 19);
  w.expect_sound();
}

// Deltas change the topology that is held, which has the measured constants.
TEST(SchedulerOverlays, StayWhenLinksChange) {
  World w(with_overlay("V100-SXM2 (DGX-1V)", domain::LinkKind::nvlink, 22));
  w.add_node("v", "hgx-v100-8");
  InventoryReport delta;
  delta.node = "v";
  delta.boot_id = "boot";
  delta.sequence = ++w.sequence;
  delta.links = {{domain::ChipIndex{0}, domain::ChipIndex{3}, 1}};
  ASSERT_EQ(w.scheduler.report(std::move(delta)), ReportOutcome::taken);
  const domain::DirectLink* link = node_called(w, "v").topology.link(0, 3);
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->lanes_down, 1);
  EXPECT_DOUBLE_EQ(link->gbps_per_lane, 22);
}

}  // namespace
}  // namespace chipweave::sched::test
