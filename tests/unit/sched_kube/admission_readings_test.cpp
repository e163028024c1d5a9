// What was read of a pod before another binding of it could reach the API server shows nothing
// about that binding.
#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/sched_kube/admits.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The pod is read while unbound, then its binding is admitted again and stored; the reading
// arrives last.
TEST_F(Admits, WhatWasReadBeforeAnotherAdmissionFreesNothing) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  world_.pass(seconds(80));
  const auto reading = [&] {
    return world_.api.find([](const kube::Call& call) {
      return call.method == "GET" && call.target.ends_with("/pods/a");
    });
  };
  ASSERT_TRUE(reading()) << "the pod is read";
  world_.api.read(*reading());
  const Annotations notes = admitted("a", "n1");
  world_.api.take(*reading(), SimulatedApi::Fate::answered);
  EXPECT_EQ(world_.held("a").size(), 8U);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
  take("a", "n1", notes);
}

// The same, but its scheduler has chosen another node meanwhile.
TEST_F(Admits, WhatWasReadBeforeAnAdmissionElsewhereFreesNothing) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  world_.pass(seconds(80));
  const auto reading = world_.api.find([](const kube::Call& call) {
    return call.method == "GET" && call.target.ends_with("/pods/a");
  });
  ASSERT_TRUE(reading) << "the pod is read";
  world_.api.read(*reading);
  const Annotations notes = admitted("a", "n2");
  world_.api.take(*reading, SimulatedApi::Fate::answered);
  EXPECT_EQ(world_.held("a").size(), 8U);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{}) << "either may be stored";
  take("a", "n2", notes);
  EXPECT_EQ(world_.held("a").size(), 8U);
}

// An earlier binding is refused for certain, a later one is stored, but its answer is lost; what
// was read for the earlier one arrives last.
TEST_F(Admits, WhatWasReadBeforeAnotherBindingFreesNothing) {
  create("a", 8);
  create("b", 8);
  const auto unanswered = [&](std::size_t from, SimulatedApi::Fate fate) {
    const auto outcome = world_.bind("a", "n1");
    for (int i = 0; i < 100 && outcome->empty(); ++i) {
      while (world_.api.waiting() > from) world_.api.take(from, fate);
      world_.pass(milliseconds(100));
    }
    EXPECT_NE(*outcome, "");
    EXPECT_NE(*outcome, "bound");
  };
  unanswered(0, SimulatedApi::Fate::lost_before);
  ASSERT_EQ(world_.scheduler->records().in(PodState::uncertain).size(), 1U);
  world_.pass(seconds(80));
  const auto reading = world_.api.find([](const kube::Call& call) {
    return call.method == "GET" && call.target.ends_with("/pods/a");
  });
  ASSERT_EQ(reading, std::optional<std::size_t>(0));
  world_.api.read(0);
  world_.api.refuse_next_binding(422);
  const auto refused = world_.bind("a", "n1");
  const auto post = world_.api.find([](const kube::Call& call) { return call.method == "POST"; });
  ASSERT_TRUE(post);
  world_.api.take(*post, SimulatedApi::Fate::answered);
  EXPECT_NE(*refused, "");
  EXPECT_TRUE(world_.held("a").empty());
  unanswered(1, SimulatedApi::Fate::lost_after);
  ASSERT_EQ(world_.scheduler->records().in(PodState::uncertain).size(), 1U);
  world_.api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(world_.held("a").size(), 8U);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
}

}  // namespace
}  // namespace chipweave::sched::test
