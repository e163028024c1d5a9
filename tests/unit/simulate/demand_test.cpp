// What free chips are good for, by what typical pods ask for.
#include "common/solver/nodes/demand_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "common/solver/nodes/node_score.hpp"

namespace chipweave::solver {
namespace {

constexpr OpenSizes kAll = 0b1111;

EmptyNodes nodes_of(int chips, Room room, std::size_t count, double gbps = 20) {
  return {chips, kAll, gbps, room, count};
}

TEST(Room, CountsWhatIsCertain) {
  EXPECT_EQ(Room::offered(63999, 2047), (Room{true, 63, 1}));
  EXPECT_EQ(Room::offered(-1, -5000), (Room{true, 0, 0}));
  EXPECT_EQ(Room::needed(1, 1025), (Room{true, 1, 2}));
  EXPECT_EQ(Room::needed(0, 0), (Room{true, 0, 0}));
  EXPECT_EQ((Room{true, 8, 4}.without({true, 9, 1})), (Room{true, 0, 3}));
  EXPECT_TRUE((Room{true, 8, 4}.fits({true, 8, 4})));
  EXPECT_FALSE((Room{true, 8, 4}.fits({true, 9, 4})));
  EXPECT_FALSE((Room{true, 8, 4}.fits({true, 8, 5})));
  EXPECT_TRUE(Room().fits({true, 900, 900})) << "nothing is known";
}

TEST(Demand, WithoutKnowledgeFourSizesCountEqually) {
  const Demand demand;
  EXPECT_DOUBLE_EQ(demand.worth(8, kAll, {}), 8);
  EXPECT_DOUBLE_EQ(demand.worth(7, 0b0111, {}), 7 * 0.75);
  EXPECT_DOUBLE_EQ(demand.worth(0, 0, {}), 0);
  EXPECT_DOUBLE_EQ(demand.fast_chips(370), 4);
  const std::vector<CountedClass> pods{{{1, {true, 8, 1}}, 5}};
  const std::vector<EmptyNodes> unknown{nodes_of(8, {}, 3)};
  EXPECT_FALSE(Demand(pods, unknown).knows_rooms()) << "CPU and memory of no node are known";
  EXPECT_FALSE(Demand({}, unknown).knows_rooms());
}

TEST(Demand, ChipsWithoutCpuOrMemoryAreOfNoUse) {
  const std::vector<EmptyNodes> nodes{nodes_of(8, {true, 96, 384}, 10)};
  const std::vector<CountedClass> pods{{{1, {true, 12, 30}}, 1000}};
  const Demand demand(pods, nodes);
  ASSERT_TRUE(demand.knows_rooms());
  const double all = demand.worth(4, 0b0111, {true, 95, 384});
  EXPECT_NEAR(all, 4, 0.05);
  EXPECT_DOUBLE_EQ(demand.worth(4, 0b0111, {true, 12, 30}), all);
  EXPECT_DOUBLE_EQ(demand.worth(4, 0b0111, {true, 11, 384}), 0);
  EXPECT_DOUBLE_EQ(demand.worth(4, 0b0111, {true, 95, 29}), 0);
  EXPECT_GT(demand.worth(4, 0b0111, {}), 0) << "of this node nothing is known";
}

TEST(Demand, TheOnlyNodesForSomePodsCountMore) {
  const Room usual{true, 96, 384};
  const Room large{true, 128, 768};
  const std::vector<EmptyNodes> nodes{nodes_of(8, usual, 99), nodes_of(8, large, 1)};
  const std::vector<CountedClass> pods{{{8, {true, 64, 256}}, 9900}, {{8, {true, 120, 625}}, 100}};
  const Demand demand(pods, nodes);
  const double more = demand.worth(8, kAll, large) - demand.worth(8, kAll, usual);
  EXPECT_GT(more, 8 * 0.09) << "1 % of the pods, times the root of 100";
  EXPECT_LT(more, 8 * 0.12);
}

TEST(Demand, AKindOfNodeIsKeptForPodsThatNeedAllOfIt) {
  const Room large{true, 128, 768};
  const std::vector<EmptyNodes> nodes{nodes_of(8, {true, 96, 384}, 99), nodes_of(8, large, 1)};
  const std::vector<CountedClass> pods{{{8, {true, 64, 256}}, 10}};
  EXPECT_GT(Demand(pods, nodes).worth(8, kAll, large),
            Demand(pods, nodes).worth(8, kAll, {true, 127, 768}));
}

TEST(Demand, ASpeedIsWorthLessTheMoreChipsHaveIt) {
  const std::vector<EmptyNodes> nodes{nodes_of(8, {true, 96, 384}, 30, 370),
                                      nodes_of(8, {true, 96, 384}, 30, 360),
                                      nodes_of(8, {true, 96, 384}, 40, 20)};
  const Demand demand(std::vector<CountedClass>{{{1, {true, 1, 1}}, 1}}, nodes);
  EXPECT_DOUBLE_EQ(demand.fast_chips(370), 0.8 * 0.4) << "360 GB/s are as fast";
  EXPECT_DOUBLE_EQ(demand.fast_chips(20), 0);
  EXPECT_DOUBLE_EQ(demand.fast_chips(900), 0.8);
}

TEST(DemandEstimate, ChangesOnlyWhenItIsRefreshed) {
  const std::vector<EmptyNodes> nodes{nodes_of(8, {true, 96, 384}, 10)};
  DemandEstimate estimate;
  EXPECT_FALSE(estimate.due());
  estimate.add({0, {true, 8, 8}});
  EXPECT_FALSE(estimate.due()) << "a pod without chips";
  estimate.add({1, {true, 8, 8}});
  ASSERT_TRUE(estimate.due());
  EXPECT_FALSE(estimate.demand().knows_rooms());
  estimate.refresh(nodes);
  EXPECT_TRUE(estimate.demand().knows_rooms());
  EXPECT_EQ(estimate.version(), 1U);
  for (int i = 0; i < 70; ++i) estimate.add({1, {true, 8, 8}});
  estimate.refresh(nodes);
  int until_due = 0;
  for (; !estimate.due(); ++until_due) estimate.add({1, {true, 8, 8}});
  EXPECT_EQ(until_due, 11) << "an eighth of 71, and of those";
}

TEST(DemandEstimate, ForgetsAndIsBounded) {
  const Room usual{true, 96, 384};
  const std::vector<EmptyNodes> nodes{nodes_of(8, usual, 10)};
  DemandEstimate estimate;
  const auto add = [&](int cores, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) estimate.add({1, {true, cores, 1}});
  };
  add(90, 1000);
  add(4, 20 * DemandEstimate::kMaxCount);
  estimate.refresh(nodes);
  const double large = estimate.demand().worth(1, 1, {true, 95, 383}) -
                       estimate.demand().worth(1, 1, {true, 4, 383});
  EXPECT_DOUBLE_EQ(large, 0) << "the large pods came long ago";
  // ever new classes
  for (int cores = 0; cores < 5000; ++cores) add(cores, 1);
  estimate.refresh(nodes);
  EXPECT_GT(estimate.demand().worth(1, 1, {true, 4, 383}), 0) << "the frequent class is kept";
}

}  // namespace
}  // namespace chipweave::solver
