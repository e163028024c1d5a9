// Single pods of a job go near each other in the network, where nodes are equally fast.
#include "scheduler-plugin/app/nearness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;

// Two nodes in a rack, two racks in a block. n3 is in the rack of n2, in the block of n0.
struct Racks : World {
  void racks(int nodes, const std::string& machine = "hgx-h100-8") {
    for (int i = 0; i < nodes; ++i) rack_node(i, machine);
    scheduler.tick();
  }
  void rack_node(int i, const std::string& machine) {
    const std::string name = "n" + std::to_string(i);
    scheduler.network().set_labels(
        name, {{"cloud.provider.com/topology-block", "b" + std::to_string(i / 4)},
               {"cloud.provider.com/topology-rack", "r" + std::to_string(i / 2)}});
    add_node(name, machine);
  }
  PodRequest of_job(const std::string& name, int chips, const std::string& job = "train") {
    PodRequest pod = request(name, chips);
    pod.labels["volcano.sh/job-name"] = job;
    return submit(pod);
  }
  // The pod is gone afterwards, with what was reserved for it.
  std::string best(const PodRequest& pod) {
    std::string node;
    for (const auto& [name, score] : scores(pod)) {
      if (score == Evaluation::kBestScore) node = name;
    }
    EXPECT_TRUE(cluster.end(pod.key).ok());
    return node;
  }
  void take(const std::string& node) { ASSERT_TRUE(bind(submit("other-" + node, 8), node).ok()); }
};

TEST(Nearness, TheRackThenTheBlockOfOthersOfTheJob) {
  Racks w;
  w.racks(8);
  ASSERT_TRUE(w.bind(w.of_job("a", 8), "n6").ok());
  EXPECT_EQ(w.best(w.of_job("b", 8)), "n7");
  w.take("n7");
  EXPECT_EQ(w.best(w.of_job("c", 8)), "n4") << "the other rack of the block";
  w.take("n4");
  EXPECT_EQ(w.best(w.of_job("d", 8)), "n5");
  w.take("n5");
  EXPECT_EQ(w.best(w.of_job("e", 8)), "n0") << "then it does not matter";
  w.expect_sound();
}

TEST(Nearness, IsPartOfTheScore) {
  Racks w;
  w.racks(8);
  ASSERT_TRUE(w.bind(w.of_job("a", 8), "n0").ok());
  const auto scores = w.scores(w.of_job("b", 8));
  EXPECT_EQ(scores.at("n1"), Evaluation::kBestScore);
  EXPECT_GT(scores.at("n2"), scores.at("n4"));
  EXPECT_EQ(scores.at("n2"), scores.at("n3"));
  EXPECT_EQ(scores.at("n4"), scores.at("n7"));
}

TEST(Nearness, DoesNotCountForPodsOfOtherJobsOrOfNone) {
  Racks w;
  w.racks(8);
  ASSERT_TRUE(w.bind(w.of_job("a", 8), "n6").ok());
  // into the rack that is not free as a whole any more
  EXPECT_EQ(w.best(w.of_job("b", 8, "another")), "n7");
  EXPECT_EQ(w.best(w.submit("single", 8)), "n7");
}

TEST(Nearness, RacksAndBlocksThatAreFreeAsAWholeStaySo) {
  Racks w;
  w.racks(12);
  w.take("n4");
  EXPECT_EQ(w.best(w.submit("a", 8)), "n5") << "its rack";
  w.take("n5");
  EXPECT_EQ(w.best(w.submit("b", 8)), "n6") << "its block";
  w.take("n6");
  w.take("n7");
  EXPECT_EQ(w.best(w.submit("c", 8)), "n0") << "none is better than another";
  w.take("n11");
  EXPECT_EQ(w.best(w.submit("d", 8)), "n10");
  // free again as a whole
  ASSERT_TRUE(w.cluster.end({"ns", "other-n11"}).ok());
  EXPECT_EQ(w.best(w.submit("e", 8)), "n0");
  w.expect_sound();
}

TEST(Nearness, ANodeThatIsPartlyUsedComesFirst) {
  Racks w;
  w.racks(4);
  w.take("n2");
  const auto half = w.submit("half", 4);
  ASSERT_TRUE(w.bind(half, "n0").ok());
  EXPECT_EQ(w.best(w.submit("quarter", 4)), "n0") << "the other half of a node";
}

TEST(Nearness, ANodeWithoutAPlaceBreaksNothing) {
  Racks w;
  w.racks(4);
  w.add_node("a", "hgx-h100-8");
  w.scheduler.tick();
  EXPECT_EQ(w.best(w.submit("single", 8)), "a");
}

struct OneRack : Racks {
  OneRack() {
    for (int i = 0; i < 4; ++i) {
      const std::string name = "n" + std::to_string(i);
      scheduler.network().set_labels(name, {{"cloud.provider.com/topology-block", "b"},
                                            {"cloud.provider.com/topology-rack", "r"}});
      add_node(name, "hgx-h100-8");
    }
  }
};

// Leaf switches of its NICs, as an agent reports them.
void on_leaves(Racks& w, const std::string& node, const std::vector<std::string>& leaves) {
  domain::NodeNetwork network;
  network.rails = leaves;
  w.scheduler.network().set_inventory(node, network);
}

TEST(Nearness, TheLeavesOfOthersOfTheJobAmongEquallyNear) {
  OneRack w;
  for (const char* node : {"n0", "n1"}) on_leaves(w, node, {"l0", "l1"});
  for (const char* node : {"n2", "n3"}) on_leaves(w, node, {"l2", "l3"});
  w.scheduler.tick();
  ASSERT_TRUE(w.bind(w.of_job("a", 8), "n3").ok());
  EXPECT_EQ(w.best(w.of_job("b", 8)), "n2");
  on_leaves(w, "n1", {"l2", "l3"});
  on_leaves(w, "n2", {"l0", "l1"});
  EXPECT_EQ(w.best(w.of_job("b", 8)), "n1") << "as they are now";
  EXPECT_EQ(w.best(w.submit("single", 8)), "n0") << "without a job it does not matter";
}

TEST(Nearness, PlansOfGangsKeepToFewLeavesToo) {
  OneRack w;
  for (const char* node : {"n0", "n2"}) on_leaves(w, node, {"l0", "l1"});
  for (const char* node : {"n1", "n3"}) on_leaves(w, node, {"l2", "l3"});
  w.scheduler.tick();
  std::vector<PodRequest> pods;
  for (int i = 0; i < 2; ++i) {
    PodRequest pod = World::request("g-" + std::to_string(i), 8);
    GangMark mark;
    mark.framework = "chipweave";
    mark.name = "g";
    mark.size = 2;
    mark.index = i;
    pod.mark = std::make_shared<const GangMark>(std::move(mark));
    pods.push_back(w.submit(pod));
  }
  EXPECT_THAT(w.fit(pods[0]), ElementsAre("n0"));
  EXPECT_THAT(w.fit(pods[1]), ElementsAre("n2"));
}

TEST(Nearness, APodsOwnReservationIsNoSibling) {
  Racks w;
  w.racks(4);
  const auto pod = w.of_job("a", 8);
  EXPECT_EQ(w.scores(pod).at("n0"), Evaluation::kBestScore);
  const auto again = w.scores(pod);
  EXPECT_EQ(again.at("n1"), again.at("n3"));
}

TEST(Nearness, AFasterMachineIsWorthTheWay) {
  Racks w;
  w.rack_node(0, "pcie-8");
  w.rack_node(1, "pcie-8");
  w.rack_node(4, "hgx-h100-8");
  w.scheduler.tick();
  ASSERT_TRUE(w.bind(w.of_job("a", 8), "n0").ok());
  EXPECT_EQ(w.best(w.of_job("b", 8)), "n4");
}

TEST(Nearness, WithoutANetworkNothingChanges) {
  World w;
  w.add_node("n0", "hgx-h100-8");
  w.add_node("n1", "hgx-h100-8");
  w.add_node("n2", "hgx-h100-8");
  PodRequest first = World::request("a", 8);
  first.labels["volcano.sh/job-name"] = "train";
  ASSERT_TRUE(w.bind(w.submit(first), "n2").ok());
  PodRequest second = World::request("b", 8);
  second.labels["volcano.sh/job-name"] = "train";
  second = w.submit(second);
  EXPECT_EQ(w.scores(second).at("n0"), Evaluation::kBestScore);
}

TEST(Nearness, CountsTheLevelsOnWhichNoneIs) {
  Racks w;
  w.racks(8);
  Ledger::ByNode of_job;
  of_job[w.scheduler.nodes().find("n2")] = ChipSet::first(1);
  Nearness near(&w.scheduler.network());
  ASSERT_TRUE(near.begin("nvidia.com/gpu", &of_job, nullptr));
  std::vector<int> far;
  far.reserve(8);
  for (int i = 0; i < 8; ++i)
    far.push_back(near.far(w.scheduler.nodes().find("n" + std::to_string(i))));
  EXPECT_THAT(far, ElementsAre(1, 1, 0, 0, 2, 2, 2, 2));
  of_job.clear();
  for (const Ledger::ByNode* none :
       {static_cast<const Ledger::ByNode*>(nullptr), static_cast<const Ledger::ByNode*>(&of_job)}) {
    ASSERT_TRUE(near.begin("nvidia.com/gpu", none, nullptr));
    EXPECT_EQ(near.far(w.scheduler.nodes().find("n7")), 0);
  }
  World flat;
  flat.add_node("n0", "hgx-h100-8");
  EXPECT_FALSE(Nearness(&flat.scheduler.network()).begin("nvidia.com/gpu", nullptr, nullptr));
}

}  // namespace
}  // namespace chipweave::sched::test
