// Objectives other than bandwidth: values of known machines, and choices compared with all sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "common/solver/chips/machine.hpp"
#include "common/solver/collectives/all_to_all.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;
using domain::Objective;
using solver::Machine;

TEST(AllToAllOfChips, OneSwitchGivesThePortAndAMeshAllLinks) {
  EXPECT_DOUBLE_EQ(Machine(test::profile("hgx-h100-8")).all_to_all_gbps(ChipSet::first(8)), 370.8);
  EXPECT_DOUBLE_EQ(Machine(test::profile("hgx-h100-8")).all_to_all_gbps({1, 6}), 370.8);
  Machine mesh(test::profile("mi300x-8"));
  EXPECT_DOUBLE_EQ(mesh.all_to_all_gbps(ChipSet::first(8)), 7 * 48);
  EXPECT_DOUBLE_EQ(mesh.all_to_all_gbps(ChipSet::first(3)), 2 * 48);
  EXPECT_EQ(mesh.all_to_all_gbps({3}), 0);
}

// DGX-1V: chips 0 and 5 have no NVLink. Each of them has one such pair over the host among 0, 1, 4,
// 5, and 5 GB/s across sockets; there are two more pairs of that kind.
TEST(AllToAllOfChips, APairOverTheHostSlowsAllDown) {
  Machine machine(test::profile("hgx-v100-8"));
  EXPECT_DOUBLE_EQ(machine.all_to_all_gbps({0, 1, 2, 3}), 3 * 20);
  EXPECT_DOUBLE_EQ(machine.all_to_all_gbps({0, 1, 4, 5}), 3 * 5);
  EXPECT_GT(machine.gbps({0, 1, 4, 5}), 3 * 5);  // a ring needs no such pair
}

TEST(DistanceOfChips, CountsHopsByPath) {
  Machine machine(test::profile("hgx-v100-8"));
  EXPECT_EQ(machine.distance({0, 1, 2, 3}).farthest, 1);
  EXPECT_EQ(machine.distance({0, 1, 2, 3}).sum, 6);
  EXPECT_EQ(machine.distance({0, 5}).farthest, 8);
  EXPECT_EQ(machine.distance({0, 4}).numa_nodes, 2);
  Machine routed(test::profile("mi250x-8"));
  EXPECT_EQ(routed.distance({0, 7}).farthest, 2);  // over chip 6
}

// The cube mesh has sets of four with a ring that are farther apart than others.
TEST(Objectives, ChooseOtherSetsThanBandwidth) {
  Machine machine(test::profile("hgx-v100-8"));
  const ChipSet usable = {0, 3, 4, 5, 6, 7};
  for (const Objective objective : {Objective::latency, Objective::all_to_all}) {
    const solver::Choice choice = machine.choose({usable, {}, {}, 4, false, objective});
    ASSERT_TRUE(choice.fits);
    EXPECT_EQ(choice.chips, ChipSet({4, 5, 6, 7}));
    EXPECT_EQ(choice.gbps, machine.gbps(choice.chips));
  }
}

class EveryMachine : public ::testing::TestWithParam<unsigned> {};

// No set serves the objective better, and of equally good ones none has a faster ring.
TEST_P(EveryMachine, ObjectivesAreServedBestOfAllSets) {
  const domain::NodeTopology topology =
      test::with_random_faults(test::random_machine(7, GetParam()), GetParam());
  Machine machine(topology);
  std::mt19937 random(GetParam());
  for (const Objective objective : {Objective::latency, Objective::all_to_all}) {
    const auto worth = [&](ChipSet set) {
      const solver::Distance far = machine.distance(set);
      const bool latency = objective == Objective::latency;
      return std::tuple(latency ? -far.farthest : 0, latency ? -far.sum : 0,
                        latency ? -far.numa_nodes : 0, latency ? 0 : machine.all_to_all_gbps(set),
                        machine.gbps(set));
    };
    for (int size = 2; size <= 6; ++size) {
      const ChipSet usable(random() | random());
      solver::Request request{usable & topology.all(), {}, {}, size, false, objective};
      if (request.usable.size() < size) continue;
      const solver::Choice choice = machine.choose(request);
      ASSERT_TRUE(choice.fits);
      for (std::uint64_t bits = 0; bits < 128; ++bits) {
        const ChipSet set(bits);
        if (set.size() != size || !request.usable.contains(set)) continue;
        ASSERT_LE(worth(set), worth(choice.chips))
            << to_string(objective) << " size " << size << " set " << bits;
      }
    }
  }
}

// Where no rule restricts the sets, pods of a group share the set that one pod of their size gets.
TEST_P(EveryMachine, PodsOfAGroupTakeTheSetThatOnePodGets) {
  const domain::NodeTopology topology = test::random_machine(7, GetParam());
  ASSERT_EQ(topology.rule().kind, domain::RuleKind::any);
  Machine machine(topology);
  std::mt19937 random(GetParam());
  for (const Objective objective :
       {Objective::bandwidth, Objective::latency, Objective::all_to_all}) {
    const ChipSet loaded = ChipSet(random() & random()) & topology.all();
    const ChipSet usable = topology.all() - loaded;
    for (const auto& sizes : {std::vector{1, 1}, std::vector{2, 1}, std::vector{2, 2}}) {
      const int size = sizes[0] + sizes[1];
      const solver::GroupChoice group =
          machine.choose_group({usable, {}, sizes, true, objective, loaded});
      ASSERT_EQ(group.fits, usable.size() >= size);
      if (!group.fits) continue;
      const ChipSet expected =
          machine.choose({usable, {}, {}, size, true, objective, loaded}).chips;
      EXPECT_EQ(group.chips, expected) << to_string(objective) << " size " << size;
      std::vector<ChipSet> all;
      for (std::uint64_t bits = usable.bits(); bits != 0; bits = (bits - 1) & usable.bits()) {
        if (ChipSet(bits).size() == size) all.emplace_back(bits);
      }
      EXPECT_EQ(machine.choose_among(all, {usable, {}, sizes, true, objective, loaded}).chips,
                expected)
          << to_string(objective) << " size " << size;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Random, EveryMachine, ::testing::Range(1U, 41U));

TEST(AllToAllOfGangs, IsBoundByTheNarrowestBorder) {
  const auto nodes = [](std::int64_t a, std::int64_t b, double per_chip) {
    return std::vector<solver::AllToAllNode>{{"n1", a, 370.8, per_chip * static_cast<double>(a)},
                                             {"n2", b, 370.8, per_chip * static_cast<double>(b)}};
  };
  const solver::AllToAll even = solver::all_to_all(nodes(8, 8, 48), {});
  EXPECT_EQ(even.node_pairs, 64);
  EXPECT_NEAR(*even.gbps, 384.0 * 15 / 64, 1e-9);
  EXPECT_EQ(even.limit, "adapters of n1");
  const solver::AllToAll uneven = solver::all_to_all(nodes(15, 1, 48), {});
  EXPECT_EQ(uneven.node_pairs, 15);
  EXPECT_NEAR(*uneven.gbps, 48.0 * 15 / 15, 1e-9);
  EXPECT_EQ(uneven.limit, "adapters of n2");
  // Two racks of a node each, 10 GB/s across.
  const solver::AllToAll racks =
      solver::all_to_all(nodes(8, 8, 48), {{"rack", 10.0, {{1, 8}, {1, 8}}}});
  EXPECT_NEAR(*racks.gbps, 10.0 * 15 / 64, 1e-9);
  EXPECT_EQ(racks.limit, "level rack");
  EXPECT_EQ(racks.crossing_pairs, std::vector<std::int64_t>{64});
  EXPECT_EQ(solver::all_to_all({{"n1", 1, 0.0, 48.0}}, {}).gbps, std::nullopt);
}

}  // namespace
}  // namespace chipweave
