// What an observer of decisions receives: placed, freed, refused; and the listing of current
// placements, part by part.
#include <gtest/gtest.h>

#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

// Records every notification.
class Diary final : public Observer {
 public:
  void on(const Observation& seen) override {
    if (const auto* placed = std::get_if<PodPlaced>(&seen))
      lines.push_back("placed " + text(placed->pod));
    if (const auto* freed = std::get_if<PodFreed>(&seen))
      lines.push_back("freed " + text(freed->pod));
    if (const auto* failure = std::get_if<BindFailed>(&seen)) {
      const Binding& binding = failure->binding;
      lines.push_back("failed " + binding.key.text() + " " + binding.uid + " on " + binding.node +
                      " " + to_string(failure->error.code));
    }
  }
  static std::string text(const PlacedPod& pod) {
    std::string chips;
    for (const int chip : pod.placement.chips) chips += std::to_string(chip) + ",";
    return pod.pod.text() + " " + pod.placement.uid + " on " + pod.placement.node + " " + chips +
           " " + pod.placement.decision;
  }
  std::vector<std::string> lines;
};

struct Placed : ::testing::Test {
  Placed() { cluster.set_listener(&scheduler.reconciler()); }
  void add_node(const std::string& name) {
    InventoryReport r;
    r.node = name;
    r.boot_id = "boot";
    r.sequence = 1;
    r.topology = profile("hgx-h100-8");
    ASSERT_EQ(scheduler.report(std::move(r)), ReportOutcome::taken);
  }
  // Already bound when the scheduler learns of it, with its chips if they are annotated.
  ClusterPod foreign(const std::string& name, int chips) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    pod.node = "n1";
    return pod;
  }
  Result<void> bind(const PodRequest& a, const std::string& node) {
    Result<void> outcome = make_error(Errc::internal, "no answer");
    scheduler.bindings().bind({a.key, a.uid, node},
                              [&](Result<void> result) { outcome = std::move(result); });
    return outcome;
  }
  PodRequest submit(const std::string& name, int chips) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    return cluster.add(pod, "{}").value()->request;
  }

  ManualClock clock;
  MemoryCluster cluster;
  Diary diary;
  Scheduler scheduler{clock, cluster, diary};
};

TEST_F(Placed, ReceivesWhatIsBoundAndWhatEnds) {
  add_node("n1");
  const auto a = submit("a", 2);
  const auto none = submit("none", 0);
  ASSERT_TRUE(scheduler.placements().reserve(a, "n1").ok());
  EXPECT_TRUE(diary.lines.empty()) << "a reservation is not a decision";
  ASSERT_TRUE(bind(a, "n1").ok());
  ASSERT_TRUE(bind(none, "n1").ok());
  ASSERT_TRUE(bind(a, "n1").ok()) << "requested again";
  EXPECT_FALSE(bind(a, "n2").ok());
  ASSERT_TRUE(cluster.end(none.key).ok());
  ASSERT_TRUE(cluster.end(a.key).ok());
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"placed ns/a uid-a on n1 0,1, d-000001",
                                                   "failed ns/a uid-a on n2 conflict",
                                                   "freed ns/a uid-a on n1 0,1, d-000001"}));
}

TEST_F(Placed, ReceivesPodsThatOthersBoundOnceTheirChipsAreKnown) {
  add_node("n1");
  const ClusterPod pod = foreign("s", 2);
  scheduler.reconciler().pod_added(pod, nullptr);
  EXPECT_TRUE(diary.lines.empty());
  const Placement claimed{"n1", pod.request.uid, pod.request.resource, {4, 5},
                          100,  "d-000007",      clock.wall()};
  scheduler.reconciler().pod_bound(pod, &claimed);
  scheduler.reconciler().pod_bound(pod, &claimed);
  scheduler.reconciler().pod_gone(pod);
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"placed ns/s uid-s on n1 4,5, d-000007",
                                                   "freed ns/s uid-s on n1 4,5, d-000007"}));
}

TEST_F(Placed, ReceivesNothingAboutPodsWithUnknownChips) {
  add_node("n1");
  const ClusterPod pod = foreign("s", 2);
  scheduler.reconciler().pod_added(pod, nullptr);
  scheduler.reconciler().pod_gone(pod);
  EXPECT_TRUE(diary.lines.empty());
}

TEST_F(Placed, AreListedPartByPart) {
  add_node("n1");
  for (const char* name : {"c", "a", "e", "b", "d"}) {
    ASSERT_TRUE(bind(submit(name, 1), "n1").ok());
  }
  std::string after;
  std::vector<std::size_t> parts;
  std::string all;
  do {
    std::size_t visited = 0;
    after = scheduler.placements()
                .placed_pods(after, 2,
                             [&](const PlacedPod& pod) {
                               ++visited;
                               all += pod.pod.name;
                             })
                .value();
    parts.push_back(visited);
    // changes between pages do not shift the listing
    if (parts.size() == 1) {
      ASSERT_TRUE(cluster.end({"ns", "a"}).ok());
      ASSERT_TRUE(bind(submit("bb", 1), "n1").ok());
    }
  } while (!after.empty());
  EXPECT_EQ(all, "abbbcde");
  EXPECT_EQ(parts, (std::vector<std::size_t>{2, 2, 2}));
  EXPECT_EQ(scheduler.placements().placed_pods("", 0, [](const PlacedPod&) { FAIL(); }).value(),
            "");
}

}  // namespace
}  // namespace chipweave::sched::test
