// Gangs of a scheduler that works in sessions (Volcano): asked about one node at a time, with a
// cache of refusals for all pods of a role.
#include "scheduler-plugin/app/gangs/gang_sessions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const char* const kElsewhere = "the plan of the pod's gang has another node for it";

class GangInSessions : public ::testing::Test {
 protected:
  void nodes(int count) {
    for (int i = 0; i < count; ++i) w_.add_node("n" + std::to_string(i), "hgx-h100-8");
  }
  // index below 0: the framework gives none.
  PodRequest pod(const std::string& role, int index, int size, int chips, int number) {
    PodRequest out = World::request(role + "-" + std::to_string(number), chips);
    GangMark mark;
    mark.framework = "volcano";
    mark.name = "train";
    mark.role = role;
    mark.size = size;
    if (index >= 0) mark.index = index;
    out.mark = std::make_shared<const GangMark>(std::move(mark));
    return out;
  }
  std::vector<PodRequest> workers(int count, int chips = 8, bool indexed = true, int size = 0) {
    std::vector<PodRequest> out;
    out.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      out.push_back(w_.submit(pod("worker", indexed ? i : -1, size > 0 ? size : count, chips, i)));
    return out;
  }
  // "" if it fits, else why not.
  std::string predicate(const PodRequest& one, const std::string& node) {
    const std::string_view name = node;
    return w_.scheduler.extender().in_session(Verb::predicate, one, {&name, 1}).of(0).reason;
  }
  // The nodes that a session finds for it, asked one by one.
  std::set<std::string> found(const PodRequest& one, const std::set<std::string>& without = {}) {
    std::set<std::string> out;
    for (const std::string& node : w_.names) {
      if (!without.contains(node) && predicate(one, node).empty()) out.insert(node);
    }
    return out;
  }
  std::map<std::string, int> prioritize(const PodRequest& one) {
    const auto names = w_.all();
    const Evaluation& s = w_.scheduler.extender().in_session(Verb::prioritize, one, names);
    std::map<std::string, int> out;
    for (std::size_t i = 0; i < names.size(); ++i) out[std::string(names[i])] = s.score(i);
    return out;
  }
  std::string allocate(const PodRequest& one, const std::string& node) {
    const auto done = w_.scheduler.extender().allocate(one, node);
    return done ? "" : done.error().text();
  }
  void deallocate(const PodRequest& one) { w_.scheduler.extender().deallocate(one); }
  Result<Admission> admit(const PodRequest& one, const std::string& node, bool dry_run = false) {
    std::optional<Result<Admission>> out;
    w_.scheduler.admissions().admit({{one.key, one.uid, node}, "", dry_run},
                                    [&](Result<Admission> answer) { out = std::move(answer); });
    return out ? *std::move(out) : make_error(Errc::internal, "no answer");
  }
  static int rank_in(const Admission& admitted) {
    const std::string& text = admitted.annotations.at(kPlacementAnnotation);
    return nlohmann::json::parse(text).at("gang").at("rank");
  }
  std::size_t held() const { return w_.scheduler.ledger().reserved(); }
  static SchedulerOptions options() {
    SchedulerOptions out;
    out.gang_owners = {"volcano"};
    return out;
  }
  void TearDown() override { w_.expect_sound(); }

  World w_{options()};
};

// Volcano has seen the PodGroup when it asks; our watch of PodGroups may be later than that of
// pods.
TEST_F(GangInSessions, WaitsForItsOwnerObject) {
  nodes(2);
  PodRequest one = pod("worker", 0, 0, 8, 0);
  GangMark mark = *one.mark;
  mark.size.reset();
  one.mark = std::make_shared<const GangMark>(std::move(mark));
  one = w_.submit(one);
  EXPECT_EQ(predicate(one, "n0"), "waiting for the owner object of gang train");
  EXPECT_THAT(allocate(one, "n0"), HasSubstr("waiting for the owner object of gang train"));
  GangSpec spec;
  spec.minimum = 1;
  w_.scheduler.owner_says("ns/volcano/train", spec);
  EXPECT_EQ(predicate(one, "n0"), "");
  EXPECT_EQ(allocate(one, "n0"), "");
}

TEST_F(GangInSessions, IsPlannedOnAllNodesThoughOneIsAskedAbout) {
  nodes(6);
  auto pods = workers(3, 8, true, 4);
  EXPECT_EQ(predicate(pods[1], "n5"), "waiting for the other pods of gang train");
  EXPECT_EQ(allocate(pods[1], "n5"), "waiting for the other pods of gang train");
  EXPECT_EQ(held(), 0U);
  pods.push_back(w_.submit(pod("worker", 3, 4, 8, 3)));
  EXPECT_EQ(predicate(pods[1], "n5"), kElsewhere);
  EXPECT_EQ(held(), 4U);
  EXPECT_EQ(predicate(pods[1], "n1"), "");
}

TEST_F(GangInSessions, WhatIsRefusedToOnePodIsRefusedToAllOfItsRole) {
  nodes(6);
  const auto pods = workers(4);
  for (const auto& one : pods) EXPECT_THAT(found(one), ElementsAre("n0", "n1", "n2", "n3"));
  for (std::size_t i = 0; i < pods.size(); ++i) {
    for (const auto& [node, score] : prioritize(pods[i])) {
      const bool own = node == "n" + std::to_string(i);
      EXPECT_EQ(score, own ? 10 : 0) << node;
    }
  }
}

TEST_F(GangInSessions, ThePlacesOfAnotherRoleAreNotTheirs) {
  nodes(4);
  const auto master = w_.submit(pod("master", 0, 3, 8, 0));
  std::vector<PodRequest> workers;
  workers.reserve(2);
  for (int i = 0; i < 2; ++i) workers.push_back(w_.submit(pod("worker", i, 3, 8, i)));
  EXPECT_THAT(found(master), ElementsAre("n0"));
  EXPECT_THAT(found(workers[0]), ElementsAre("n1", "n2"));
  ASSERT_EQ(allocate(workers[1], "n2"), "");
  EXPECT_THAT(found(workers[0]), ElementsAre("n1", "n2")) << "as long as it may be taken back";
}

// Its outcome is not known when the other pods come.
TEST_F(GangInSessions, WhatWasAdmittedBeforeThePlanGetsItsPlaceInIt) {
  nodes(3);
  auto pods = workers(2, 8, true, 3);
  for (const int i : {0, 1}) {
    const auto early = admit(pods[static_cast<std::size_t>(i)], "n" + std::to_string(i + 1));
    ASSERT_TRUE(early.ok()) << early.error().text();
    EXPECT_THAT(early->annotations.at(kPlacementAnnotation), Not(HasSubstr("gang")));
  }
  pods.push_back(w_.submit(pod("worker", 2, 3, 8, 2)));
  EXPECT_EQ(predicate(pods[2], "n0"), "");
  for (const bool dry_run : {true, false}) {
    const auto again = admit(pods[0], "n1", dry_run);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(rank_in(*again), 0);
  }
  ASSERT_TRUE(w_.bind(pods[1], "n2").ok());
  EXPECT_EQ(rank_in({pods[1].uid, w_.cluster.written(pods[1].key)}), 1);
  EXPECT_EQ(w_.cluster.written(pods[1].key).at(kRankAnnotation), "1");
}

TEST_F(GangInSessions, APodWithAnIndexGoesToTheNodeOfItsRankOnly) {
  nodes(4);
  const auto pods = workers(4);
  EXPECT_EQ(allocate(pods[0], "n1"),
            "pod ns/worker-0 cannot be on node n1: the plan of the pod's gang has another node "
            "for it");
  for (std::size_t i = 0; i < pods.size(); ++i)
    EXPECT_EQ(allocate(pods[i], "n" + std::to_string(i)), "");
  const auto refused = admit(pods[0], "n1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_FALSE(admit(pods[0], "n1", true).ok());
  EXPECT_EQ(held(), 4U) << "a refusal costs nobody its place";
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto admitted = admit(pods[i], "n" + std::to_string(i));
    ASSERT_TRUE(admitted.ok()) << admitted.error().text();
    EXPECT_EQ(rank_in(*admitted), static_cast<int>(i));
  }
}

TEST_F(GangInSessions, PodsWithoutIndexChangePlaces) {
  nodes(4);
  const auto pods = workers(4, 8, false);
  ASSERT_EQ(predicate(pods[0], "n2"), "");
  ASSERT_EQ(allocate(pods[0], "n2"), "");
  EXPECT_EQ(w_.node_of(pods[0]), "n2");
  EXPECT_EQ(w_.node_of(pods[2]), "n0");
  EXPECT_EQ(prioritize(pods[2]).at("n0"), 10);
  ASSERT_EQ(allocate(pods[1], "n0"), "");
  ASSERT_EQ(allocate(pods[2], "n1"), "");
  ASSERT_EQ(allocate(pods[3], "n3"), "");
  EXPECT_EQ(held(), 4U);
  const std::map<std::size_t, int> ranks{{0, 2}, {1, 0}, {2, 1}, {3, 3}};
  for (const auto& [i, rank] : ranks) {
    const auto admitted = admit(pods[i], "n" + std::to_string(rank));
    ASSERT_TRUE(admitted.ok()) << admitted.error().text();
    EXPECT_EQ(rank_in(*admitted), rank) << "the rank of the node";
  }
}

TEST_F(GangInSessions, APlaceThatTheSessionHasUsedIsNotGivenAgain) {
  nodes(3);
  const auto pods = workers(4, 4, false);
  ASSERT_EQ(predicate(pods[0], "n0"), "");
  ASSERT_EQ(allocate(pods[0], "n0"), "");
  ASSERT_EQ(allocate(pods[1], "n0"), "");
  EXPECT_EQ(predicate(pods[2], "n0"), "") << "n0 is refused to no pod of the role";
  EXPECT_NE(allocate(pods[2], "n0"), "");
  EXPECT_EQ(w_.node_of(pods[2]), "n1");
  deallocate(pods[1]);
  EXPECT_EQ(allocate(pods[2], "n0"), "");
  EXPECT_EQ(w_.node_of(pods[1]), "n1");
  EXPECT_EQ(held(), 4U);
}

// A binding that no session has announced.
TEST_F(GangInSessions, ABindingToAnothersNodeChangesPlacesOrIsRefused) {
  nodes(3);
  const auto pods = workers(2, 8, false);
  ASSERT_EQ(predicate(pods[0], "n0"), "");
  const auto preview = admit(pods[0], "n1", true);
  ASSERT_TRUE(preview.ok()) << preview.error().text();
  EXPECT_EQ(w_.node_of(pods[0]), "n0") << "a dry run changes nothing";
  ASSERT_TRUE(admit(pods[0], "n1").ok());
  EXPECT_EQ(w_.node_of(pods[1]), "n0");
  EXPECT_FALSE(admit(pods[1], "n1").ok()) << "a pod is being bound there";
  EXPECT_FALSE(admit(pods[1], "n2").ok()) << "not of the plan";
  EXPECT_TRUE(admit(pods[1], "n0").ok());
}

TEST_F(GangInSessions, ANodeThatFailsIsReplacedWithinTheNextQuestion) {
  nodes(4);
  const auto pods = workers(3);
  EXPECT_THAT(found(pods[0]), ElementsAre("n0", "n1", "n2"));
  w_.set_health("n1", 0, domain::Health::unhealthy);
  // the first question of the next session
  EXPECT_EQ(predicate(pods[0], "n0"), "");
  EXPECT_EQ(w_.node_of(pods[1]), "n3");
  EXPECT_EQ(predicate(pods[0], "n3"), "") << "so no refusal of it is kept";
  EXPECT_EQ(predicate(pods[0], "n1"), kElsewhere);
}

TEST_F(GangInSessions, ANodeThatItsSchedulerNeverAsksAboutIsReplaced) {
  nodes(4);
  const auto pods = workers(3);
  for (int round = 0; round < GangSessions::kMaxMissed; ++round) {
    EXPECT_EQ(predicate(pods[0], "n0"), "");
    EXPECT_EQ(predicate(pods[0], "n2"), "");
    EXPECT_EQ(predicate(pods[0], "n3"), kElsewhere);
    EXPECT_EQ(w_.node_of(pods[1]), "n1") << round;
  }
  EXPECT_EQ(predicate(pods[0], "n0"), "");
  EXPECT_EQ(w_.node_of(pods[1]), "n3");
  EXPECT_THAT(found(pods[0], {"n0", "n1"}), ElementsAre("n2", "n3"));
}

// Volcano asks about a nominated node first, and about no other if the pod may go there.
TEST_F(GangInSessions, NodesOfPodsWhoseTurnDidNotComeAreNotMissed) {
  nodes(5);
  const auto pods = workers(4);
  for (int round = 0; round < 2 * GangSessions::kMaxMissed; ++round) {
    EXPECT_EQ(predicate(pods[0], "n0"), "");
    EXPECT_EQ(predicate(pods[1], "n1"), "");
  }
  EXPECT_EQ(w_.node_of(pods[3]), "n3");
}

TEST_F(GangInSessions, AGangThatDoesNotFitWaitsWholeWithOneReason) {
  nodes(3);
  const auto pods = workers(4);
  for (const auto& one : pods) {
    for (const std::string& node : w_.names)
      EXPECT_EQ(predicate(one, node), "no room for all pods of gang train");
    EXPECT_EQ(allocate(one, "n0"), "no room for all pods of gang train");
  }
  EXPECT_EQ(held(), 0U);
}

TEST_F(GangInSessions, APodThatTheClusterDoesNotShowYetWaits) {
  nodes(2);
  EXPECT_EQ(predicate(pod("worker", 0, 2, 8, 0), "n0"), "waiting for the other pods of gang train");
}

// Where a scheduler never asks, its choice counts, as without gangs.
TEST_F(GangInSessions, BindingsOfASchedulerThatNeverAsksAreItsOwnChoice) {
  nodes(4);
  const auto pods = workers(2);
  ASSERT_THAT(w_.fit(pods[0]), ElementsAre("n0"));  // another scheduler did
  ASSERT_TRUE(admit(pods[0], "n3").ok());
  EXPECT_EQ(w_.node_of(pods[0]), "n3");
}

}  // namespace
}  // namespace chipweave::sched::test
