#include "common/solver/simulate/gangs/gang_spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/simulate/small_fabric.hpp"

namespace chipweave::simulate {
namespace {

using test::fabric;
using test::gang;
using testing::ElementsAre;

// Two blocks of two racks of two nodes: 0-1, 2-3 | 4-5, 6-7.
TEST(GangSpread, CountsBordersOfTheRing) {
  const solver::Fabric on = fabric(2, 2, 2);
  EXPECT_THAT(ring_crossings(on, {0}), ElementsAre(0, 0));
  EXPECT_THAT(ring_crossings(on, {0, 1}), ElementsAre(0, 0));
  EXPECT_THAT(ring_crossings(on, {0, 2}), ElementsAre(0, 2));
  EXPECT_THAT(ring_crossings(on, {0, 2, 4, 6}), ElementsAre(2, 4));
  EXPECT_THAT(ring_crossings(on, {0, 4, 2, 6}), ElementsAre(4, 4));
  EXPECT_THAT(domains_used(on, {0, 4, 2, 6, 7, 7}), ElementsAre(2, 4));
  EXPECT_THAT(ring_crossings(on, {}), ElementsAre(0, 0));
}

TEST(GangSpread, NodesWithUnknownPathsAreNotNearEachOther) {
  solver::Fabric on(2);
  for (const char* name : {"a", "b"}) on.set_free(on.add(name, {"b1"}).value(), 8);
  EXPECT_THAT(ring_crossings(on, {0, 1}), ElementsAre(0, 2));
  EXPECT_THAT(domains_used(on, {0, 1}), ElementsAre(1, 2));
  EXPECT_THAT(fewest_domains(on, gang(2, 8)), ElementsAre(1, 2));
}

TEST(GangSpread, FewestDomainsByWhatIsFree) {
  solver::Fabric on = fabric(2, 2, 2);
  EXPECT_THAT(fewest_domains(on, gang(2, 8)), ElementsAre(1, 1));
  EXPECT_THAT(fewest_domains(on, gang(3, 8)), ElementsAre(1, 2));
  EXPECT_THAT(fewest_domains(on, gang(5, 8)), ElementsAre(2, 3));
  // The first block has 2 + 1 nodes, the second 1 + 1: inside one rack or block at most 2 and 3.
  for (const solver::FabricNodeId node : {3U, 5U, 7U}) on.set_free(node, 4);
  EXPECT_THAT(fewest_domains(on, gang(3, 8)), ElementsAre(1, 2));
  EXPECT_THAT(fewest_domains(on, gang(4, 8)), ElementsAre(2, 3));
  EXPECT_THAT(fewest_domains(on, gang(4, 4)), ElementsAre(1, 1));
  domain::TraceGang inside = gang(3, 8);
  inside.required_level = 0;
  EXPECT_THAT(fewest_domains(on, inside), ElementsAre(1, 2));
  inside.required_level = 1;
  inside.pods = 2;
  EXPECT_THAT(fewest_domains(on, inside), ElementsAre(1, 1));
}

TEST(GangPlacer, BestFitFillsTheFullestNodesFirst) {
  solver::Fabric on = fabric(1, 2, 2);
  on.set_free(1, 3);
  on.set_free(3, 5);
  const auto placer = test::placer("best-fit");
  EXPECT_EQ(placer->place(on, gang(4, 3)).value(), (GangSeats{1, 3, 0, 0}));
  EXPECT_EQ(placer->place(on, gang(1, 8)).value(), GangSeats{0});
  EXPECT_EQ(placer->place(on, gang(3, 8)).value(), std::nullopt);
  // Of a required level it takes the first domain with room.
  domain::TraceGang inside = gang(3, 4);
  inside.required_level = 1;
  EXPECT_EQ(placer->place(on, inside).value(), (GangSeats{3, 2, 2}));
}

TEST(GangPlacer, FullestDomainIsTheOneOfTheRequiredLevel) {
  solver::Fabric on = fabric(2, 2, 2);
  for (const solver::FabricNodeId node : {2U, 5U}) on.set_free(node, 4);
  for (const solver::FabricNodeId node : {6U, 7U}) on.set_free(node, 3);
  const auto placer = test::placer("fullest-domain");
  domain::TraceGang inside = gang(2, 4);
  EXPECT_EQ(placer->place(on, inside).value(), (GangSeats{2, 5}));
  inside.required_level = 0;
  EXPECT_EQ(placer->place(on, inside).value(), (GangSeats{5, 4}));
  inside.required_level = 1;
  EXPECT_EQ(placer->place(on, inside).value(), (GangSeats{2, 3}));
  inside.pods = 4;
  EXPECT_EQ(placer->place(on, inside).value(), (GangSeats{0, 0, 1, 1}));
}

TEST(GangPlacer, ChipweaveTakesTheFewestDomainsInOrderOfRanks) {
  solver::Fabric on = fabric(2, 2, 2);
  on.set_free(0, 0);
  const auto placer = test::placer("chipweave");
  EXPECT_EQ(placer->place(on, gang(2, 8)).value(), (GangSeats{2, 3}));
  const auto seats = placer->place(on, gang(4, 8)).value();
  ASSERT_TRUE(seats.has_value());
  EXPECT_THAT(*seats, ElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace chipweave::simulate
