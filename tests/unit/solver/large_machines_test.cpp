// Machines of more than 16 chips: every request gets a legal answer within the step budget, and an
// exact one if symmetry leaves few distinct sets.
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <random>

#include "common/domain/topology_builder.hpp"
#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/bandwidth/rings/ring_packing.hpp"
#include "common/solver/bandwidth/rings/rough_packing.hpp"
#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;

constexpr std::uint64_t kMaxSteps = solver::kLargeSteps.decision;

// No two chips are interchangeable: each pair has its own number of lanes, rate and host path.
NodeTopology irregular_machine(int chips, unsigned seed) {
  std::mt19937 random(seed);
  const unsigned density = 1 + random() % 4;  // quarters of the pairs that are linked
  const LinkKind kind = random() % 2 == 0 ? LinkKind::nvlink : LinkKind::xgmi;
  domain::TopologyBuilder b;
  b.vendor = kind == LinkKind::xgmi ? "amd" : "nvidia";
  for (int i = 0; i < chips; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
  }
  const std::vector<LinkKind> host = {LinkKind::pix, LinkKind::pxb, LinkKind::phb, LinkKind::node,
                                      LinkKind::sys};
  for (int i = 0; i < chips; ++i) {
    for (int j = i + 1; j < chips; ++j) {
      if (random() % 4 < density) {
        // One after the other: compilers evaluate arguments in different orders.
        const int lanes = 1 + static_cast<int>(random() % 9);
        const double gbps = 1 + static_cast<double>(random() % 99000) / 1000;
        b.add_link(ChipIndex{i}, ChipIndex{j}, kind, lanes, gbps);
      }
      b.add_link(ChipIndex{i}, ChipIndex{j}, host[random() % host.size()]);
    }
  }
  return std::move(b).build().value();
}

// Groups of equal size, with links inside each group only, or one switch per group.
NodeTopology grouped_machine(int groups, int each, bool switched) {
  domain::TopologyBuilder b;
  for (int i = 0; i < groups * each; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    c.numa = i / each;
    b.add_chip(c);
  }
  for (int i = 0; i < groups * each; ++i) {
    for (int j = i + 1; j < groups * each; ++j) {
      const bool together = i / each == j / each;
      if (together && !switched) b.add_link(ChipIndex{i}, ChipIndex{j}, LinkKind::nvlink, 2, 20.0);
      b.add_link(ChipIndex{i}, ChipIndex{j}, together ? LinkKind::node : LinkKind::sys);
    }
  }
  for (int g = 0; switched && g < groups; ++g) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (int i = g * each; i < (g + 1) * each; ++i) ports.push_back({ChipIndex{i}, 6, 0});
    b.add_switch("s" + std::to_string(g), LinkKind::nvswitch, ports, 20.0);
  }
  return std::move(b).build().value();
}

class IrregularMachines : public ::testing::TestWithParam<int> {};

TEST_P(IrregularMachines, AnswerLegallyAndWithinTheSteps) {
  const int chips = GetParam();
  const NodeTopology machine = irregular_machine(chips, static_cast<unsigned>(chips));
  solver::Machine solved(machine);
  std::mt19937_64 random(static_cast<unsigned>(chips));
  for (const int size : {1, 2, 3, chips / 4, chips / 2, chips - 1, chips}) {
    solver::Request r;
    r.size = size;
    r.usable = machine.all();
    if (size <= chips / 2) {
      r.usable = ChipSet((random() | random()) & machine.all().bits());
      r.required = ChipSet{r.usable.lowest()};
      if (r.usable.size() < size) continue;
    }
    const solver::Choice c = solved.choose(r);
    const std::string where = std::to_string(chips) + " chips, size " + std::to_string(size);
    ASSERT_TRUE(c.fits) << where;
    EXPECT_EQ(c.chips.size(), size) << where;
    EXPECT_TRUE(r.usable.contains(c.chips)) << where;
    EXPECT_TRUE(c.chips.contains(r.required)) << where;
    EXPECT_TRUE(solved.legal(c.chips, r.usable, r.distributed)) << where;
    EXPECT_LE(c.gbps, c.bound + 1e-9) << where;
    EXPECT_LE(c.gbps, c.best_gbps + 1e-9) << where;
    EXPECT_DOUBLE_EQ(c.gbps, solved.gbps(c.chips)) << where;
    EXPECT_TRUE(!c.exact || c.gbps >= c.bound - 1e-9) << where;
    EXPECT_LE(solved.stats().most_steps, kMaxSteps) << where;
    if (size <= 3) continue;
    // A new machine without cached results gives the same answer.
    if (size == chips / 4) {
      EXPECT_EQ(solver::Machine(machine).choose(r).chips, c.chips) << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, IrregularMachines, ::testing::Values(17, 24, 31, 48, 64));

// Up to 16 chips most searches end by themselves, even where no two chips are alike; the others
// get most of their bound.
TEST(SixteenIrregularChips, AreDecidedExactlyOrNearly) {
  int exact = 0;
  int all = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    for (const int size : {2, 5, 8, 12, 15, 16}) {
      solver::Machine m(irregular_machine(16, seed));
      const solver::Choice c = m.choose({m.topology().all(), {}, {}, size, false});
      ASSERT_TRUE(c.fits);
      ++all;
      exact += c.exact ? 1 : 0;
      EXPECT_TRUE(!c.exact || c.gbps == c.bound) << "seed " << seed << ", size " << size;
      EXPECT_GE(c.gbps, 0.6 * c.bound) << "seed " << seed << ", size " << size;
      EXPECT_LE(m.stats().most_steps, solver::kSmallSteps.decision);
    }
  }
  EXPECT_GE(exact * 10, all * 8) << exact << " of " << all;
}

// Every machine that ships is decided exactly, tables cold.
TEST(Profiles, OfSixteenChipsAreDecidedExactly) {
  for (const std::string& name : test::profile_names(16)) {
    const NodeTopology machine = test::profile(name);
    for (int size = 1; size <= machine.chip_count(); ++size) {
      solver::Machine m(machine);
      const solver::Choice c = m.choose({machine.all(), {}, {}, size, false});
      EXPECT_TRUE(c.exact || !c.fits) << name << ", size " << size;
      EXPECT_LE(m.stats().most_steps, solver::kSmallSteps.decision / 50) << name << ", " << size;
    }
  }
}

TEST(SymmetricMachines, OfSixtyFourChipsAreExact) {
  for (const bool switched : {false, true}) {
    solver::Machine m(grouped_machine(4, 16, switched));
    for (int size = 1; size <= 64; size += size < 16 ? 3 : 8) {
      const solver::Choice c = m.choose({m.topology().all(), {}, {}, size, false});
      ASSERT_TRUE(c.fits);
      EXPECT_TRUE(c.exact) << (switched ? "switches, " : "meshes, ") << size;
      if (size > 1 && size <= 16) {
        EXPECT_DOUBLE_EQ(c.gbps, size == 2 && !switched ? 40 : switched ? 120 : 40.0 * (size - 1));
      }
    }
  }
  solver::Machine one(grouped_machine(1, 64, true));
  for (int size = 1; size <= 64; size += 7) {
    const solver::Choice c = one.choose({one.topology().all(), {}, {}, size, false});
    EXPECT_TRUE(c.exact) << size;
    EXPECT_DOUBLE_EQ(c.gbps, size > 1 ? 120 : 0) << size;
  }
}

// A rough packing never carries more than the exact one, and most of it.
TEST(RoughPacking, IsAPacking) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const NodeTopology machine = test::random_machine(6 + static_cast<int>(seed % 5), seed);
    const solver::Wiring wiring(machine);
    const ChipSet set = machine.all();
    const solver::Bandwidth exact = solver::pack_rings(solver::RingGraph(wiring, set));
    ASSERT_TRUE(exact.exact());
    const solver::Bandwidth rough = solver::pack_roughly(wiring, set, exact.bound * 2);
    EXPECT_LE(rough.rate, exact.rate) << "seed " << seed;
    EXPECT_GE(rough.rate * 2, exact.rate) << "seed " << seed;
  }
}

// A switch for each set of `members` chips, of one rate each.
NodeTopology machine_of_switches(int chips, int members) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < chips; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
  }
  for (std::uint32_t set = 0; set < 1U << chips; ++set) {
    if (std::popcount(set) != members) continue;
    std::vector<domain::TopologyBuilder::Port> ports;
    for (int i = 0; i < chips; ++i) {
      if ((set >> i & 1U) != 0) ports.push_back({ChipIndex{i}, 1, 0});
    }
    b.add_switch("s" + std::to_string(set), LinkKind::nvswitch, std::move(ports), 25.0);
  }
  return std::move(b).build().value();
}

// Switches that only two chips are on are like links.
TEST(ManySwitches, OfTwoChipsEachAreLikeLinks) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 12; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
    for (int j = 0; j < i; ++j) b.add_link(ChipIndex{j}, ChipIndex{i}, LinkKind::nvlink, 1, 25.0);
  }
  const NodeTopology linked = std::move(b).build().value();
  const NodeTopology switched = machine_of_switches(12, 2);
  ASSERT_EQ(switched.switches().size(), 66U);
  const solver::Wiring of_links(linked);
  const solver::Wiring of_switches(switched);
  solver::BandwidthModel links(of_links);
  solver::BandwidthModel switches(of_switches);
  for (const std::uint64_t set : {0xfffULL, 0x7ULL, 0xf0fULL, 0x801ULL}) {
    EXPECT_EQ(switches.of(ChipSet(set)).rate, links.of(ChipSet(set)).rate);
    EXPECT_TRUE(switches.of(ChipSet(set)).exact());
  }
}

// More planes than the exact packing takes: a feasible packing and a bound.
TEST(ManySwitches, OfThreeChipsEachGetAnInterval) {
  const NodeTopology machine = machine_of_switches(12, 3);
  ASSERT_EQ(machine.switches().size(), 220U);
  const solver::Wiring wiring(machine);
  EXPECT_TRUE(solver::RingGraph(wiring, machine.all()).too_many_planes());
  solver::BandwidthModel model(wiring);
  const solver::Bandwidth whole = model.of(machine.all());
  // Each chip is on 55 of them.
  EXPECT_LE(whole.bound, solver::to_rate(55 * 25));
  EXPECT_GT(whole.rate, solver::to_rate(10 * 25));
  EXPECT_LE(whole.rate, whole.bound);
}

// The mixture: links, a pair's own switches, and one that all share.
TEST(ManySwitches, AMixtureIsExact) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 4; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
  }
  const auto add = [&b](const char* name, std::vector<int> chips, double gbps) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const int chip : chips) ports.push_back({ChipIndex{chip}, 1, 0});
    b.add_switch(name, LinkKind::nvswitch, std::move(ports), gbps);
  };
  add("all", {0, 1, 2, 3}, 40);
  add("pair", {0, 1}, 100);
  const NodeTopology machine = std::move(b).build().value();
  const solver::Wiring wiring(machine);
  const solver::RingGraph graph(wiring, machine.all());
  EXPECT_EQ(graph.pair_capacity(0, 1), solver::to_rate(140));
  EXPECT_EQ(graph.pair_capacity(0, 2), solver::to_rate(40));
  // Through 2 and 3 nothing but the shared switch goes.
  EXPECT_EQ(solver::pack_rings(graph).rate, solver::to_rate(40));
}

// A packing that is cut short still works and still has a bound.
TEST(PackingLimits, GiveAnInterval) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const NodeTopology machine = irregular_machine(9, seed);
    const solver::Wiring wiring(machine);
    const solver::RingGraph graph(wiring, machine.all());
    const solver::Bandwidth whole = solver::pack_rings(graph);
    for (const solver::Steps limit :
         {solver::Steps{0}, solver::Steps{2000}, solver::Steps{20000}}) {
      const solver::Bandwidth part = solver::pack_rings(graph, limit);
      EXPECT_LE(part.rate, whole.rate) << "seed " << seed;
      EXPECT_GE(part.bound, whole.rate) << "seed " << seed;
    }
  }
}

domain::TopologyBuilder chips_with_rule(int chips, domain::PlacementRule rule) {
  domain::TopologyBuilder b;
  b.vendor = "ascend";
  b.rule = rule;
  for (int i = 0; i < chips; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    b.add_chip(c);
  }
  return b;
}

// A rule of two meshes on eight of them: no set across them is legal, and there are 10^14 to try.
TEST(RulesAndShapes, MustFit) {
  const auto built = chips_with_rule(64, {domain::RuleKind::ascend_910b_16, 8}).build();
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().text().find("is for two groups of chips"), std::string::npos);
  EXPECT_TRUE(chips_with_rule(16, {domain::RuleKind::ascend_910b_16, 8}).build());
}

// Legal sets are rare among those of that size: they are found without trying the others.
TEST(RareLegalSets, AreFoundWithinTheSteps) {
  const NodeTopology cards =
      chips_with_rule(64, {domain::RuleKind::ascend_310p_chip, 2}).build().value();
  solver::Machine machine(cards);
  for (const int size : {9, 31}) {
    const solver::Choice choice =
        machine.choose({ChipSet(0x0000ffffffffffffULL), {}, {}, size, true});
    ASSERT_TRUE(choice.fits) << size;
    EXPECT_EQ(choice.chips.size(), size);
    EXPECT_LE(machine.stats().most_steps, kMaxSteps) << size;
  }
  domain::TopologyBuilder b = chips_with_rule(64, {domain::RuleKind::any, 1});
  std::vector<ChipIndex> partition;
  for (int i = 0; i < 64; i += 7) partition.push_back(ChipIndex{i});
  b.add_partition(partition);
  const NodeTopology parted = std::move(b).build().value();
  solver::Machine of_partitions(parted);
  const solver::Choice choice = of_partitions.choose({parted.all(), {}, {}, 10, false});
  ASSERT_TRUE(choice.fits);
  EXPECT_LE(of_partitions.stats().most_steps, kMaxSteps);
}

TEST(GroupsOnLargeMachines, AreDealtOutWholeAndRemembered) {
  for (const int chips : {16, 40, 64}) {
    solver::Machine m(irregular_machine(chips, 3));
    const std::vector<int> sizes = {chips / 4, chips / 4, 2, 1};
    const solver::GroupChoice g = m.choose_group({m.topology().all(), {}, sizes, true});
    ASSERT_TRUE(g.fits) << chips;
    ChipSet seen;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      EXPECT_EQ(g.parts[k].size(), sizes[k]);
      EXPECT_FALSE(seen.intersects(g.parts[k]));
      seen |= g.parts[k];
    }
    EXPECT_EQ(seen, g.chips);
    EXPECT_LE(g.gbps, g.best_gbps);
    const std::uint64_t misses = m.stats().misses;
    EXPECT_EQ(m.choose_group({m.topology().all(), {}, sizes, true}).parts, g.parts);
    EXPECT_EQ(m.stats().misses, misses);
  }
}

}  // namespace
}  // namespace chipweave
