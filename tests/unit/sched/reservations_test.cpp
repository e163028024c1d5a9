// Reservations alone.
#include "scheduler-plugin/app/reservations.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/fake_cluster.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;

struct Reserves : ::testing::Test, FakeCore {
  Reserves() { add_node("n1"); }
  // Its chips in the ledger's node.
  domain::ChipSet take(const ClusterPod& pod) {
    EXPECT_TRUE(reservations.take(pod.request, node("n1")).ok());
    return held(pod) == nullptr ? domain::ChipSet{} : held(pod)->chips;
  }

  Evaluator evaluator{core.state.nodes};
  Reservations reservations{core, evaluator, seconds(30)};
};

TEST_F(Reserves, ThePodIsReservedForItsTimeToLive) {
  const ClusterPod& pod = add_pod("p", 4);
  EXPECT_EQ(take(pod).size(), 4);
  EXPECT_EQ(state_of(pod), PodState::reserved);
  clock.advance(seconds(29));
  reservations.expire();
  EXPECT_EQ(state_of(pod), PodState::reserved);
  clock.advance(seconds(1));
  reservations.expire();
  EXPECT_EQ(state_of(pod), PodState::pending);
  EXPECT_EQ(core.state.freed, 1U);
  EXPECT_EQ(core.state.ledger.check_invariants(), "");
}

TEST_F(Reserves, TakenAgainItKeepsItsChips) {
  const ClusterPod& pod = add_pod("p", 2);
  const auto chips = take(pod);
  EXPECT_EQ(take(pod), chips);
  EXPECT_EQ(core.state.ledger.reserved(), 1U);
}

TEST_F(Reserves, NoChipTwice) {
  const ClusterPod& large = add_pod("large", 6);
  take(large);
  const ClusterPod& other = add_pod("other", 4);
  const auto refused = reservations.take(other.request, node("n1"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_EQ(state_of(other), PodState::pending);
}

TEST_F(Reserves, RenewedItLastsAsLongAsANewOne) {
  const ClusterPod& pod = add_pod("p", 2);
  take(pod);
  clock.advance(seconds(20));
  reservations.renew(*held(pod));
  clock.advance(seconds(20));
  reservations.expire();
  EXPECT_NE(held(pod), nullptr);
}

TEST_F(Reserves, WhoGivesWayLosesItsWholeReservation) {
  const ClusterPod& pod = add_pod("p", 4);
  const auto chips = take(pod);
  const ClusterPod& other = add_pod("other", 2);
  const auto stays = take(other);
  reservations.give_way(node("n1"), domain::ChipSet(std::uint64_t{1} << chips.lowest()));
  EXPECT_EQ(held(pod), nullptr);
  ASSERT_NE(held(other), nullptr);
  EXPECT_EQ(held(other)->chips, stays);
}

TEST_F(Reserves, OnlyThePodThatTheClusterKnowsIsPending) {
  const ClusterPod& pod = add_pod("p", 2);
  EXPECT_EQ(reservations.pending(pod.request), &pod);
  PodRequest recreated = pod.request;
  recreated.uid = "another";
  EXPECT_EQ(reservations.pending(recreated), nullptr);
  cluster.pods.at(pod.request.key).node = "n1";
  EXPECT_EQ(reservations.pending(pod.request), nullptr) << "it is bound";
}

}  // namespace
}  // namespace chipweave::sched::test
