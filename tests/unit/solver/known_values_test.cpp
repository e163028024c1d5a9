// Values that are published or can be checked by hand.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "common/domain/topology_builder.hpp"
#include "common/solver/bandwidth/rings/hamilton.hpp"
#include "common/solver/bandwidth/rings/ring_packing.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::LinkKind;

// DGX-1V, optimum over sets by size: 2 2 4 2 4 4 6 lanes of 20 GB/s, and how many sets reach it.
TEST(KnownValues, Dgx1vRingCounts) {
  solver::Machine m(test::profile("hgx-v100-8"));
  const std::vector<double> best = {0, 0, 40, 40, 80, 40, 80, 80, 120};
  std::vector<int> reach(9, 0);
  for (std::uint64_t s = 1; s < 256; ++s) {
    const int n = std::popcount(s);
    EXPECT_LE(m.gbps(ChipSet(s)), best[static_cast<std::size_t>(n)]);
    if (m.gbps(ChipSet(s)) == best[static_cast<std::size_t>(n)])
      ++reach[static_cast<std::size_t>(n)];
  }
  EXPECT_EQ(reach[4], 2);
  EXPECT_EQ(reach[5], 24);
  EXPECT_EQ(reach[6], 4);
  EXPECT_EQ(reach[7], 8);
  EXPECT_EQ(reach[8], 1);
  EXPECT_DOUBLE_EQ(m.gbps(ChipSet{0, 1, 2, 3}), 80);
  EXPECT_DOUBLE_EQ(m.gbps(ChipSet{4, 5, 6, 7}), 80);
}

TEST(KnownValues, SwitchEgress) {
  const auto all = [](const char* name) {
    solver::Machine m(test::profile(name));
    return m.gbps(m.topology().all());
  };
  EXPECT_NEAR(all("hgx-a100-8"), 240, 1e-6);
  EXPECT_NEAR(all("hgx-h100-8"), 370.8, 1e-6);
  EXPECT_NEAR(all("hgx-b200-8"), 721.8, 1e-6);
  EXPECT_NEAR(all("dgx2-v100-16"), 120, 1e-6);
}

// A uniform full mesh carries n - 1 links: 7 x 48 on eight MI300X.
TEST(KnownValues, FullMeshCarriesAllLinksOfAChip) {
  solver::Machine m(test::profile("mi300x-8"));
  for (int n = 2; n <= 8; ++n) EXPECT_NEAR(m.gbps(ChipSet::first(n)), 48.0 * (n - 1), 1e-6);
}

// Pairs of MI250X have the bandwidth of their widest path: 0-7 goes over 6 with two links, 0-2 has
// one link.
TEST(KnownValues, Mi250xWidestPath) {
  solver::Machine m(test::profile("mi250x-8"));
  EXPECT_NEAR(m.gbps(ChipSet{0, 1}), 144, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet{0, 6}), 72, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet{0, 7}), 72, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet{0, 2}), 36, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet{0, 3}), 36, 1e-6);
}

// Sixteen dies: a ring leaves each module once, over one die's switch port; in both directions it
// uses both dies' ports.
TEST(KnownValues, A3ModulesUseBothDiesPorts) {
  solver::Machine m(test::profile("ascend-a3-16"));
  EXPECT_NEAR(m.gbps(ChipSet{0, 1}), 200, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet{0, 2}), 196, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet::first(4)), 392, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet::first(16)), 392, 1e-6);
}

// Two boards, each with its own switch, joined by one direct link per chip: the links between the
// boards decide.
TEST(KnownValues, TwoSwitchBoardsJoinedByLinks) {
  domain::TopologyBuilder b;
  std::vector<domain::TopologyBuilder::Port> left;
  std::vector<domain::TopologyBuilder::Port> right;
  for (int i = 0; i < 8; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
    (i < 4 ? left : right).push_back({ChipIndex{i}, 6, 0});
  }
  b.add_switch("left", LinkKind::nvswitch, left, 20.0);
  b.add_switch("right", LinkKind::nvswitch, right, 20.0);
  for (int i = 0; i < 4; ++i) b.add_link(ChipIndex{i}, ChipIndex{i + 4}, LinkKind::nvlink, 1, 20.0);
  auto t = std::move(b).build();
  ASSERT_TRUE(t.ok());
  solver::Machine m(std::move(t).value());
  EXPECT_NEAR(m.gbps(ChipSet::first(4)), 120, 1e-6);
  EXPECT_NEAR(m.gbps(ChipSet::first(8)), 80,
              1e-6);  // four links cross, each used once in each direction
}

// No packing beats a cut: asserted over many machines, single chips, pairs and all bipartitions.
TEST(KnownValues, PackingNeverBeatsACut) {
  for (unsigned seed = 1; seed <= 80; ++seed) {
    const auto machine = test::random_machine(4 + static_cast<int>(seed % 7), seed);
    const solver::Wiring wiring(machine);
    std::mt19937 random(seed);
    for (int round = 0; round < 10; ++round) {
      const ChipSet set(random() & machine.all().bits());
      if (set.size() < 2) continue;
      const solver::RingGraph graph(wiring, set);
      const solver::Bandwidth p = solver::pack_rings(graph);
      EXPECT_TRUE(p.exact());
      EXPECT_LE(p.rate, graph.full_cut_bound()) << "seed " << seed;
      EXPECT_LE(graph.full_cut_bound(), graph.quick_cut_bound());
    }
  }
}

// A bipartite graph with unequal sides has no Hamiltonian cycle although every chip has two
// partners.
TEST(Hamilton, FindsThatThereIsNone) {
  std::array<std::uint32_t, solver::kMaxRingChips> adjacent{};
  for (int a = 0; a < 2; ++a) {
    for (int b = 2; b < 5; ++b) {
      adjacent[static_cast<std::size_t>(a)] |= 1U << b;
      adjacent[static_cast<std::size_t>(b)] |= 1U << a;
    }
  }
  EXPECT_FALSE(solver::has_hamiltonian_cycle(5, adjacent));
  adjacent[2] |= 1U << 3;
  adjacent[3] |= 1U << 2;
  EXPECT_TRUE(solver::has_hamiltonian_cycle(5, adjacent));
}

}  // namespace
}  // namespace chipweave
