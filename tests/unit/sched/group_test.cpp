#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

PodRequest member(const std::string& name, int chips, int replicas,
                  const std::string& group = "train") {
  PodRequest a = World::request(name, chips, "aliyun.com/gpu");
  a.labels["gpu-topology"] = group;
  a.labels["gpu-topology-replica"] = std::to_string(replicas);
  a.group = GroupRef{group, replicas};
  return a;
}

TEST(Group, GetsOneJointSetDealtOutInOrderOfArrival) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  std::vector<PodRequest> pods;
  for (int i = 0; i < 4; ++i) pods.push_back(w.submit(member("w-" + std::to_string(i), 1, 4)));
  w.fit(pods[0]);
  w.scores(pods[0]);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 4U);  // all or nothing
  ChipSet all;
  for (const auto& pod : pods) {
    EXPECT_EQ(w.fit(pod), std::set<std::string>{"n1"});
    ASSERT_TRUE(w.bind(pod, "n1").ok());
    all |= w.scheduler.ledger().find(pod.uid)->chips;
    w.expect_sound();
  }
  EXPECT_EQ(all.size(), 4);
  solver::Machine machine(profile("hgx-v100-8"));
  EXPECT_DOUBLE_EQ(machine.gbps(all), machine.choose({ChipSet::first(8), {}, {}, 4, true}).gbps);
  // gpu-visible names the whole group's chips on the node
  const auto& written = w.cluster.written(pods[3].key);
  const auto& topology = w.scheduler.nodes().node(0).topology;
  std::string visible;
  for (const int i : topology.indices(all))
    visible += (visible.empty() ? "" : ",") + std::to_string(i);
  EXPECT_EQ(written.at("topology.kubernetes.io/gpu-visible"), visible);
  EXPECT_EQ(written.at("topology.kubernetes.io/gpu-group"), std::to_string(w.chips(pods[3])[0]));
}

// All sets of two are equally fast; chips that share no uplink with the other job are left.
TEST(Group, KeepsAwayFromTheChipsOfOtherJobs) {
  World w;
  w.add_node("n1", "hgx-a100-8");
  const auto filler = w.submit("filler", 1);
  ASSERT_TRUE(w.bind(filler, "n1").ok());
  const ChipSet loaded = w.scheduler.ledger().find(filler.uid)->chips;
  ChipSet taken;
  for (const char* name : {"w-0", "w-1"}) {
    const auto pod = w.submit(member(name, 1, 2));
    ASSERT_TRUE(w.bind(pod, "n1").ok());
    taken |= w.scheduler.ledger().find(pod.uid)->chips;
  }
  solver::Machine machine(profile("hgx-a100-8"));
  solver::Request request{machine.topology().all() - loaded, {}, {}, 2, true};
  EXPECT_NE(taken, machine.choose(request).chips);
  request.loaded = loaded;
  EXPECT_EQ(taken, machine.choose(request).chips);
}

TEST(Group, RejectsNodesThatCannotHoldAllOfIt) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto filler = w.submit("filler", 6);
  ASSERT_TRUE(w.bind(filler, "n1").ok());
  const auto a = w.submit(member("w-0", 1, 4));
  const auto why = w.rejections(a);
  EXPECT_EQ(why.at("n1"), "no room for all 4 pods of the group on one node");
  EXPECT_EQ(why.count("n2"), 0U);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 4U);  // one node fits: held at once
  const auto big = w.submit(member("v-0", 4, 3, "too-big"));
  EXPECT_TRUE(w.fit(big).empty());
  w.expect_sound();
}

// Each step of the group would otherwise be a new event.
TEST(Group, TheReasonDoesNotChangeAsMembersGetTheirParts) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto waiting = w.submit(member("w-9", 2, 4));
  std::set<std::string> reasons;
  for (const char* name : {"w-0", "w-1"}) {
    const auto pod = w.submit(member(name, 2, 4));
    ASSERT_TRUE(w.bind(pod, "n1").ok());
    w.clock.advance(limits::kReservationTtl + std::chrono::seconds(1));
    w.scheduler.tick();
    w.scheduler.heartbeat("n1", "boot");
    const auto filler = w.submit(std::string("filler-") + name, 4);
    ASSERT_TRUE(w.bind(filler, "n1").ok());
    reasons.insert(w.rejections(waiting).at("n1"));
    ASSERT_TRUE(w.cluster.end(filler.key).ok());
  }
  EXPECT_EQ(reasons, std::set<std::string>{"no room for the rest of the group's pods on one node"});
  w.expect_sound();
}

TEST(Group, ExpiresAsOne) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 2, 4));
  const auto b = w.submit(member("w-1", 2, 4));
  w.fit(a);
  w.fit(b);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 4U);
  w.clock.advance(limits::kReservationTtl + std::chrono::seconds(1));
  w.scheduler.tick();
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.scheduler.heartbeat("n1", "boot");
  EXPECT_EQ(w.fit(World::request("other", 8)).size(), 1U);
  w.expect_sound();
}

TEST(Group, RestIsPlannedAroundMembersThatRun) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 2, 2));
  const auto b = w.submit(member("w-1", 2, 2));
  w.fit(a);
  ASSERT_TRUE(w.bind(a, "n2").ok());
  w.clock.advance(limits::kReservationTtl + std::chrono::seconds(1));
  w.scheduler.tick();
  w.scheduler.heartbeat("n1", "boot");
  w.scheduler.heartbeat("n2", "boot");
  EXPECT_EQ(w.fit(b), std::set<std::string>{"n2"});
  EXPECT_EQ(w.rejections(b).at("n1"), "the other pods of the group are on another node");
  ASSERT_TRUE(w.bind(b, "n2").ok());
  w.expect_sound();
}

TEST(Group, MemberThatIsDeletedLeavesItsPartToTheNext) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 2, 2));
  const auto b = w.submit(member("w-1", 2, 2));
  w.fit(a);
  w.fit(b);
  const auto part = w.chips(b);
  ASSERT_TRUE(w.cluster.end(b.key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  const auto c = w.submit(member("w-2", 2, 2));
  w.fit(c);
  EXPECT_EQ(w.chips(c), part);
  ASSERT_TRUE(w.cluster.end(a.key).ok());
  ASSERT_TRUE(w.cluster.end(c.key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

TEST(Group, IsPlannedAnewWhenItsNodeIsNotOffered) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 2, 2));
  w.scores(a);
  ASSERT_EQ(w.node_of(a), "n1");
  const std::vector<std::string_view> only{"n2"};
  ASSERT_EQ(fitting(w.scheduler, a, only).size(), 1U);
  EXPECT_EQ(w.node_of(a), "n2");
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  w.expect_sound();
}

TEST(Group, MembersThatAreMadeAnewOneAfterAnotherComeBack) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  std::vector<PodRequest> pods;
  for (int i = 0; i < 4; ++i) {
    pods.push_back(w.submit(member("w-" + std::to_string(i), 2, 4)));
    w.fit(pods.back());
    ASSERT_TRUE(w.bind(pods.back(), "n1").ok());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(w.cluster.end(pods[i].key).ok());
    PodRequest again = member("w-" + std::to_string(i), 2, 4);
    again.uid += "-anew";
    again = w.submit(again);
    EXPECT_EQ(w.fit(again), std::set<std::string>{"n1"}) << i;
    EXPECT_TRUE(w.bind(again, "n1").ok()) << i;
    EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
    w.expect_sound();
  }
}

TEST(Group, NothingIsHeldOnceItsLastMemberIsGone) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 2, 3));
  w.fit(a);
  ASSERT_TRUE(w.bind(a, "n1").ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 2U);
  ASSERT_TRUE(w.cluster.end(a.key).ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  w.expect_sound();
}

TEST(Group, MembersOfDifferentSizesShareTheNode) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  w.add_node("n2", "hgx-v100-8");
  const auto master = w.submit(member("master", 1, 2));
  w.fit(master);
  w.scores(master);
  ASSERT_TRUE(w.bind(master, "n1").ok());
  const auto worker = w.submit(member("worker", 2, 2));
  EXPECT_EQ(w.fit(worker), std::set<std::string>{"n1"});
  ASSERT_TRUE(w.bind(worker, "n1").ok());
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
  const ChipSet all =
      w.scheduler.ledger().find(master.uid)->chips | w.scheduler.ledger().find(worker.uid)->chips;
  EXPECT_EQ(all.size(), 3);
  EXPECT_DOUBLE_EQ(w.scheduler.decision(worker.uid)->gbps,
                   solver::Machine(profile("hgx-v100-8")).gbps(all));
  std::string visible;
  for (const int i : w.scheduler.nodes().node(0).topology.indices(all))
    visible += (visible.empty() ? "" : ",") + std::to_string(i);
  EXPECT_EQ(w.cluster.written(worker.key).at("topology.kubernetes.io/gpu-visible"), visible);
  w.expect_sound();
}

TEST(Group, OneMoreMemberThanItSaysStaysOnItsNodeOrWaits) {
  World w;
  w.add_node("big", "dgx2-v100-16");
  w.add_node("small", "hgx-v100-8");
  const auto filler = w.submit("filler", 8);
  ASSERT_TRUE(w.bind(filler, "big").ok());
  for (const char* name : {"a", "b"}) {
    const auto pod = w.submit(member(name, 4, 2));
    ASSERT_TRUE(w.bind(pod, "big").ok());
  }
  const auto third = w.submit(member("c", 1, 2));
  EXPECT_TRUE(w.fit(third).empty());
  EXPECT_FALSE(w.bind(third, "small").ok());
  w.expect_sound();
}

TEST(Group, NumbersThatOverflowAreNoFit) {
  World w;
  w.add_node("n1", "hgx-v100-8");
  const auto a = w.submit(member("w-0", 524288, 8192));
  EXPECT_TRUE(w.fit(a).empty());
  EXPECT_EQ(Json::parse(w.scheduler.placements().explain(a.key).value().json)["fits_now"], false);
}

}  // namespace
}  // namespace chipweave::sched::test
