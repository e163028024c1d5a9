// What decides among equally fast sets: vendor order, preservation, host side, lowest indices;
// vendor legality.
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;

std::vector<int> pick(const std::string& machine, ChipSet usable, int size,
                      bool distributed = false, ChipSet required = {}) {
  solver::Machine m(test::profile(machine));
  solver::Request r{usable, required, {}, size, distributed};
  const solver::Choice c = m.choose(r);
  return c.fits ? m.topology().indices(c.chips) : std::vector<int>{-1};
}

using Chips = std::vector<int>;
const Chips kNone{-1};

TEST(Preservation, SingleChipDoesNotBreakABridgedPair) {
  EXPECT_EQ(pick("pcie-nvlink-bridge-8", ChipSet{0, 1, 2}, 1), (Chips{2}));
  EXPECT_EQ(pick("pcie-nvlink-bridge-8", ChipSet{0, 1, 2, 3, 4}, 1), (Chips{4}));
}

TEST(Preservation, SmallRequestKeepsAQuadWhole) {
  EXPECT_EQ(pick("hgx-v100-8", ChipSet{0, 1, 2, 3, 4, 7}, 2), (Chips{4, 7}));
}

TEST(Preservation, TellsOneRemainingPairFromTwo) {
  EXPECT_EQ(pick("hgx-v100-8", ChipSet{0, 1, 4, 5, 6}, 2),
            (Chips{0, 4}));  // the contract's own example
}

TEST(HostSideOrder, EachChipItsOwnUplink) {
  EXPECT_EQ(pick("hgx-a100-8", ChipSet::first(8), 2), (Chips{0, 2}));
  EXPECT_EQ(pick("hgx-a100-8", ChipSet::first(8), 4), (Chips{0, 1, 2, 3}));  // one NUMA node first
  EXPECT_EQ(pick("hgx-h100-8", ChipSet::first(8), 2), (Chips{0, 1}));
}

TEST(Ascend910A, RingsInStockOrder) {
  const auto p = [](ChipSet usable, int size) { return pick("ascend-910a-8", usable, size); };
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 4}, 1), (Chips{4}));  // a ring with 1 free before one with 4
  EXPECT_EQ(p(ChipSet{0, 1, 4, 5, 6}, 1), (Chips{4}));  // 3 before 2
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 4, 5, 6}, 2), (Chips{0, 1}));  // 4 before 3
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 6, 7}, 2), (Chips{6, 7}));     // 2 before 4
  EXPECT_EQ(p(ChipSet{0, 1, 2, 4, 5, 6}, 4), kNone);
  EXPECT_EQ(p(ChipSet::first(8), 3), kNone);
  EXPECT_EQ(p(ChipSet::first(8), 8), (Chips{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(p(ChipSet{1, 2, 3, 5, 6, 7}, 2), (Chips{1, 2}));  // equal: ring 0
}

TEST(Ascend910B16, OneMeshBestFitThenPairs) {
  const auto p = [](ChipSet usable, int size, bool distributed = false) {
    return pick("ascend-910b-16", usable, size, distributed);
  };
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 8, 9}, 2), (Chips{8, 9}));  // smallest sufficient mesh
  EXPECT_EQ(p(ChipSet::first(16), 3), (Chips{0, 1, 2}));
  EXPECT_EQ(p(ChipSet::first(16), 9), kNone);
  EXPECT_EQ(p(ChipSet::first(16), 10), (Chips{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}));
  // free: left 0..5, right positions 2..7: four common positions only
  const ChipSet skew{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(p(skew, 10), kNone);
  EXPECT_EQ(p(skew, 10, true), (Chips{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}));
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 4, 8, 9, 10}, 6), kNone);
}

TEST(AscendA3, ModulesStayWhole) {
  const auto p = [](ChipSet usable, int size, bool distributed = false) {
    return pick("ascend-a3-16", usable, size, distributed);
  };
  EXPECT_EQ(p(ChipSet{0, 1, 2, 3, 5}, 1), (Chips{5}));
  EXPECT_EQ(p(ChipSet{0, 1}, 1), (Chips{0}));
  EXPECT_EQ(p(ChipSet{0, 1}, 1, true), kNone);
  EXPECT_EQ(p(ChipSet{0, 2, 3, 4, 6, 7}, 4), (Chips{2, 3, 6, 7}));
  EXPECT_EQ(p(ChipSet{0, 2, 3, 4}, 2), (Chips{2, 3}));
  EXPECT_EQ(p(ChipSet{0, 2, 4}, 2), kNone);
  EXPECT_EQ(p(ChipSet::first(16), 3), kNone);
  EXPECT_EQ(p(ChipSet{0, 2}, 2),
            (Chips{0, 2}));  // the stock scheduler allocates exactly all free chips unchecked
}

TEST(Ascend310, CardsAndChips) {
  const ChipSet usable = ChipSet{0, 1, 2} | ChipSet{4} | ChipSet{8, 9} | ChipSet{12, 13, 14, 15};
  EXPECT_EQ(pick("ascend-310-card-4", usable, 1), (Chips{4}));
  EXPECT_EQ(pick("ascend-310-card-4", usable, 2), (Chips{8, 9}));
  EXPECT_EQ(pick("ascend-310-card-4", usable, 3), (Chips{0, 1, 2}));
  EXPECT_EQ(pick("ascend-310-card-4", usable, 4), (Chips{12, 13, 14, 15}));
  EXPECT_EQ(pick("ascend-310-card-4", usable, 5), kNone);
  EXPECT_EQ(pick("ascend-310-chip-4", usable, 4), (Chips{0, 4, 8, 9}));
  EXPECT_EQ(pick("ascend-310-chip-4", ChipSet::first(64), 8).size(), 8U);
  EXPECT_EQ(pick("ascend-310-chip-4", ChipSet::first(64), 33).size(), 33U);
}

// More distinguishable sets than are listed: the answer is legal, from the cards with the fewest
// free chips, and has an upper bound.
TEST(Ascend310, TooManySetsGiveABoundInsteadOfAProof) {
  solver::Machine m(test::profile("ascend-310-chip-4"));
  ChipSet usable;
  for (int card = 0; card < 16; ++card) {
    for (int chip = 0; chip <= card % 4; ++chip) usable.insert(card * 4 + chip);
  }
  bool unproven = false;
  for (int size = 1; size <= usable.size(); size += size < 4 ? 1 : 4) {
    const solver::Choice c = m.choose({usable, {}, {}, size, false});
    ASSERT_TRUE(c.fits) << size;
    EXPECT_EQ(c.chips.size(), size);
    EXPECT_TRUE(usable.contains(c.chips));
    EXPECT_LE(c.gbps, c.bound + 1e-9);
    EXPECT_TRUE(!c.exact || c.gbps >= c.bound - 1e-9);
    unproven = unproven || !c.exact;
  }
  EXPECT_TRUE(unproven);
}

TEST(Ascend310P, DuoCards) {
  EXPECT_EQ(pick("ascend-310p-8", ChipSet{0, 1, 3}, 1), (Chips{3}));
  EXPECT_EQ(pick("ascend-310p-8", ChipSet{0, 1, 3, 4, 5}, 2, true), (Chips{0, 1}));
  EXPECT_EQ(pick("ascend-310p-8", ChipSet{0, 1, 3, 4, 5}, 3, true), (Chips{0, 1, 3}));
  EXPECT_EQ(pick("ascend-310p-8", ChipSet{1, 3, 5}, 2, true), kNone);
}

TEST(AscendA5, MeshesOfFour) {
  EXPECT_EQ(pick("ascend-a5-8", ChipSet{0, 1, 2, 3, 4, 5}, 2), (Chips{4, 5}));
  EXPECT_EQ(pick("ascend-a5-8", ChipSet{0, 1, 2, 4, 5, 6, 7}, 4), (Chips{4, 5, 6, 7}));
  EXPECT_EQ(pick("ascend-a5-8", ChipSet{0, 1, 4, 5}, 3), kNone);
  EXPECT_EQ(pick("ascend-a5-8", ChipSet::first(8), 5).size(), 5U);
}

TEST(Groups, PodsOfOneJobShareTheBestJointSet) {
  solver::Machine m(test::profile("hgx-v100-8"));
  const solver::GroupChoice four = m.choose_group({ChipSet::first(8), {}, {1, 1, 1, 1}, true});
  ASSERT_TRUE(four.fits);
  EXPECT_DOUBLE_EQ(four.gbps, 80);
  EXPECT_EQ(four.chips, (ChipSet{0, 1, 2, 3}));
  EXPECT_EQ(four.parts, (std::vector<ChipSet>{ChipSet{0}, ChipSet{1}, ChipSet{2}, ChipSet{3}}));
  const solver::GroupChoice pairs = m.choose_group({ChipSet::first(8), {}, {2, 2}, true});
  ASSERT_TRUE(pairs.fits);
  EXPECT_DOUBLE_EQ(pairs.gbps, 80);
  EXPECT_DOUBLE_EQ(m.gbps(pairs.parts[0]), 40);
  EXPECT_DOUBLE_EQ(m.gbps(pairs.parts[1]), 40);
  EXPECT_FALSE(m.choose_group({ChipSet::first(3), {}, {2, 2}, true}).fits);
  EXPECT_EQ(m.choose_group({ChipSet::first(8), {}, {9}, true}).why, solver::Misfit::size);
}

TEST(Reasons, AreSentences) {
  solver::Machine m(test::profile("ascend-910a-8"));
  const auto why = [&m](solver::Request r) { return m.reason(r, m.choose(r)); };
  EXPECT_EQ(why({ChipSet::first(8), {}, {}, 5, false}),
            "5 chips asked, legal sizes are 1, 2, 4, 8");
  EXPECT_EQ(why({ChipSet{0, 4}, {}, {}, 2, false}), "no HCCS ring has 2 free chips");
  EXPECT_EQ(why({ChipSet{0, 4}, {}, {}, 4, false}), "4 chips asked, 2 usable");
  EXPECT_EQ(why({ChipSet{0, 1}, ChipSet{3}, {}, 2, false}), "required chip 3 is not usable");
  EXPECT_EQ(why({ChipSet::first(8), {}, {}, 9, false}), "9 chips asked, the machine has 8");
}

TEST(Memo, RepeatedRequestsAreLookUps) {
  solver::Machine m(test::profile("hgx-v100-8"));
  const solver::Request r{ChipSet::first(8), {}, {}, 3, false};
  const solver::Choice first = m.choose(r);
  const solver::Choice second = m.choose(r);
  EXPECT_EQ(first.chips, second.chips);
  EXPECT_EQ(m.stats().hits, 1U);
  EXPECT_EQ(m.stats().misses, 1U);
}

TEST(TopologyClass, IsSharedByEqualWiringOnly) {
  solver::MachineCache cache;
  const domain::NodeTopology whole = test::profile("hgx-v100-8");
  domain::NodeTopology degraded = whole;
  ASSERT_TRUE(degraded.take_down(0, 3, 1));
  const auto a = cache.get(whole);
  EXPECT_EQ(a, cache.get(test::profile("hgx-v100-8")));
  const auto b = cache.get(degraded);
  EXPECT_NE(a, b);
  EXPECT_EQ(cache.classes(), 2U);
  EXPECT_NE(a, cache.get(test::profile("dgx1-p100-8")));
}

// One of two lanes down is as fast as a single lane, but the healthy machines differ.
TEST(TopologyClass, LanesDownAreNotLanesThatNeverWere) {
  const auto pair = [](int lanes, int down) {
    domain::TopologyBuilder b;
    for (int i = 0; i < 2; ++i) {
      domain::Chip c;
      c.index = domain::ChipIndex{i};
      b.add_chip(c);
    }
    b.add_link(domain::ChipIndex{0}, domain::ChipIndex{1}, domain::LinkKind::nvlink, lanes, 20.0,
               down);
    return std::move(b).build().value();
  };
  EXPECT_NE(solver::topology_class_key(pair(2, 1)), solver::topology_class_key(pair(1, 0)));
  EXPECT_DOUBLE_EQ(solver::Machine(pair(2, 1)).best_gbps(2, false), 40);
  EXPECT_DOUBLE_EQ(solver::Machine(pair(1, 0)).best_gbps(2, false), 20);
}

TEST(Explain, NamesWhatTheRunnerUpLostBy) {
  solver::Machine m(test::profile("hgx-v100-8"));
  const solver::Explanation e = m.explain({ChipSet{0, 1, 2, 3, 4}, {}, {}, 4, false});
  ASSERT_TRUE(e.best_rejected);
  EXPECT_EQ(e.choice.chips, ChipSet::first(4));
  EXPECT_NE(e.best_rejected->lost_by.find("bandwidth"), std::string::npos)
      << e.best_rejected->lost_by;
}

}  // namespace
}  // namespace chipweave
