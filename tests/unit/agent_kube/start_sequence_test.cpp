// The order in which an agent begins to publish, and how long it waits for what.
#include "node-agent/publish/node/start_sequence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using Fact = StartSequence::Fact;
using Stage = StartSequence::Stage;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

struct Start : testing::Test {
  std::unique_ptr<StartSequence> begin(std::set<Fact> known) {
    return std::make_unique<StartSequence>(api, std::move(known),
                                           [this](Stage stage) { entered.push_back(stage); });
  }
  ManualClock clock;
  FakeApi api{clock};
  std::vector<Stage> entered;
};

TEST_F(Start, GoesOnWithWhatItLearns) {
  const auto start = begin({});
  start->learn(Fact::node);
  EXPECT_THAT(entered, IsEmpty());
  start->learn(Fact::machine);
  EXPECT_THAT(entered, ElementsAre(Stage::asking));
  start->learn(Fact::machine);
  start->learn(Fact::list);
  EXPECT_THAT(entered, ElementsAre(Stage::asking, Stage::reporting));
  start->learn(Fact::inventory);
  start->learn(Fact::in_use);
  EXPECT_THAT(entered, ElementsAre(Stage::asking, Stage::reporting, Stage::publishing));
  api.advance(seconds(60));
  EXPECT_EQ(entered.size(), 3U);
}

TEST_F(Start, WaitsForNothingForEverButTheMachine) {
  const auto start = begin({});
  api.advance(seconds(3600));
  EXPECT_THAT(entered, IsEmpty());
  start->learn(Fact::machine);
  api.advance(milliseconds(1'999));
  EXPECT_THAT(entered, ElementsAre(Stage::asking));
  api.advance(milliseconds(1));
  EXPECT_THAT(entered, ElementsAre(Stage::asking, Stage::reporting));
  api.advance(milliseconds(9'999));
  EXPECT_EQ(start->stage(), Stage::reporting);
  api.advance(milliseconds(1));
  EXPECT_EQ(start->stage(), Stage::publishing);
}

TEST_F(Start, AStageMayTeachWhatItNeedsAtOnce) {
  std::unique_ptr<StartSequence> start;
  start = std::make_unique<StartSequence>(api, std::set<Fact>{Fact::list, Fact::in_use},
                                          [&](Stage stage) {
                                            entered.push_back(stage);
                                            if (stage == Stage::asking) start->learn(Fact::node);
                                            if (stage == Stage::reporting)
                                              start->learn(Fact::inventory);
                                          });
  start->learn(Fact::machine);
  EXPECT_THAT(entered, ElementsAre(Stage::asking, Stage::reporting, Stage::publishing));
  EXPECT_EQ(api.in_flight(), 0U);
}

TEST_F(Start, StoppedItGoesNoFurther) {
  const auto start = begin({});
  start->learn(Fact::machine);
  start->stop();
  api.advance(seconds(60));
  EXPECT_THAT(entered, ElementsAre(Stage::asking));
}

}  // namespace
}  // namespace chipweave::agent
