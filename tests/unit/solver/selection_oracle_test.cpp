// The chosen set is the best legal one: against exhaustive search with the oracle's bandwidths and
// rules, for all machines of at most 8 chips, all sizes, random free masks, random faults; and
// changes that must not affect an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/oracle/oracle.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;
using domain::NodeTopology;

// Best bandwidth of a legal set, -1 if there is none.
double exhaustive_best(const NodeTopology& machine, const solver::Request& r,
                       std::vector<double>& known) {
  double best = -1;
  const ChipSet usable = r.usable - r.already_held;
  for (std::uint64_t m = 1; m <= machine.all().bits(); ++m) {
    const ChipSet set(m);
    if (set.size() != r.size || !usable.contains(set) || !set.contains(r.required)) continue;
    if (!oracle::legal(machine, set, usable, r.distributed)) continue;
    double& value = known[(set | r.already_held).bits()];
    if (value < 0) value = oracle::bandwidth(machine, set | r.already_held);
    best = std::max(best, value);
  }
  return best;
}

void expect_optimal(const NodeTopology& machine, unsigned seed, const std::string& what) {
  std::mt19937 random(seed);
  solver::Machine solved(machine);
  std::vector<double> known(machine.all().bits() + 1, -1.0);
  for (int size = 1; size <= machine.chip_count(); ++size) {
    for (int round = 0; round < 12; ++round) {
      solver::Request r;
      r.size = size;
      r.usable = round == 0 ? machine.all() : ChipSet(random() & machine.all().bits());
      r.distributed = random() % 3 == 0;
      if (round > 6) r.required = ChipSet(random() & random() & random() & r.usable.bits());
      if (round > 8)
        r.already_held =
            ChipSet(random() & random() & random() & (machine.all() - r.required).bits());
      const double best = exhaustive_best(machine, r, known);
      const solver::Choice c = solved.choose(r);
      const std::string where =
          what + " size " + std::to_string(size) + " usable " + std::to_string(r.usable.bits());
      ASSERT_EQ(c.fits, best >= 0) << where << ": " << solved.reason(r, c);
      if (!c.fits) {
        EXPECT_FALSE(solved.reason(r, c).empty()) << where;
        continue;
      }
      ASSERT_NEAR(c.gbps, best, 1e-5) << where;
      EXPECT_TRUE(c.exact);
      EXPECT_EQ(c.chips.size(), size);
      EXPECT_TRUE((r.usable - r.already_held).contains(c.chips)) << where;
      EXPECT_TRUE(c.chips.contains(r.required)) << where;
      ASSERT_NEAR(oracle::bandwidth(machine, c.chips | r.already_held), c.gbps, 1e-5) << where;
    }
  }
}

class SelectsTheBest : public ::testing::TestWithParam<std::string> {};

TEST_P(SelectsTheBest, OfEveryProfile) {
  const NodeTopology machine = test::profile(GetParam());
  expect_optimal(machine, 1, GetParam());
  if (machine.links().empty()) return;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    expect_optimal(test::with_random_faults(machine, seed), seed,
                   GetParam() + " faults " + std::to_string(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, SelectsTheBest, ::testing::ValuesIn(test::profile_names(8)),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

class SelectsOnHybrids : public ::testing::TestWithParam<unsigned> {};

TEST_P(SelectsOnHybrids, AllSizes) {
  expect_optimal(test::random_machine(4 + static_cast<int>(GetParam() % 5), GetParam()), GetParam(),
                 "seed " + std::to_string(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SelectsOnHybrids, ::testing::Range(1U, 61U));

// The machine with chip i renamed to image[i].
NodeTopology relabelled(const NodeTopology& m, const std::vector<int>& image) {
  using domain::ChipIndex;
  domain::TopologyBuilder b;
  b.vendor = m.vendor();
  b.model = m.model();
  b.p2p = m.p2p();
  b.host_bandwidth = m.host_bandwidth();
  const auto to = [&image](int s) { return ChipIndex{image[static_cast<std::size_t>(s)]}; };
  for (int s = 0; s < m.chip_count(); ++s) {
    domain::Chip c = m.chip(s);
    c.index = to(s);
    b.add_chip(c);
    for (int o = s + 1; o < m.chip_count(); ++o) b.add_link(to(s), to(o), m.host_path(s, o));
  }
  for (const auto& l : m.links())
    b.add_link(to(l.a), to(l.b), l.kind, l.lanes, l.gbps_per_lane, l.lanes_down);
  for (const auto& s : m.switches()) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const auto& p : s.ports) ports.push_back({to(p.slot), p.lanes, p.lanes_down});
    b.add_switch(s.name, s.kind, ports, s.gbps_per_lane);
  }
  auto t = std::move(b).build();
  EXPECT_TRUE(t.ok()) << t.error().text();
  return std::move(t).value();
}

TEST(Metamorphic, RelabellingChipsNeverChangesGbps) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const int n = 4 + static_cast<int>(seed % 5);
    const NodeTopology machine =
        seed % 4 == 0 ? test::profile("hgx-v100-8") : test::random_machine(n, seed);
    std::vector<int> image;
    for (int i = 0; i < machine.chip_count(); ++i) image.push_back(i);
    std::shuffle(image.begin(), image.end(), random);
    solver::Machine before(machine);
    solver::Machine after(relabelled(machine, image));
    for (std::uint64_t m = 1; m <= machine.all().bits(); ++m) {
      ChipSet mapped;
      for (const int s : ChipSet(m)) mapped.insert(image[static_cast<std::size_t>(s)]);
      ASSERT_NEAR(before.gbps(ChipSet(m)), after.gbps(mapped), 1e-5)
          << "seed " << seed << " set " << m;
    }
    for (int size = 1; size <= machine.chip_count(); ++size) {
      EXPECT_DOUBLE_EQ(before.best_gbps(size, false), after.best_gbps(size, false));
    }
  }
}

TEST(Metamorphic, ALinkThatGoesDownNeverRaisesGbps) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    NodeTopology machine = test::random_machine(4 + static_cast<int>(seed % 5), seed);
    if (machine.links().empty()) continue;
    solver::Machine before(machine);
    const auto link = machine.links()[seed % machine.links().size()];
    machine.take_down(link.a, link.b, seed % 2 == 0 ? link.lanes : 1);
    solver::Machine after(machine);
    for (std::uint64_t m = 1; m <= machine.all().bits(); ++m) {
      ASSERT_LE(after.gbps(ChipSet(m)), before.gbps(ChipSet(m)) + 1e-6)
          << "seed " << seed << " set " << m;
    }
  }
}

TEST(Metamorphic, AFreeChipMoreNeverLowersTheBest) {
  for (const std::string& name : test::profile_names(8)) {
    const NodeTopology machine = test::profile(name);
    if (machine.rule().kind != domain::RuleKind::any)
      continue;  // vendor rules are not monotone on purpose
    solver::Machine solved(machine);
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
      solver::Request r;
      r.usable = ChipSet(random() & machine.all().bits());
      r.size = 1 + static_cast<int>(random() % static_cast<unsigned>(machine.chip_count()));
      const solver::Choice before = solved.choose(r);
      for (const int s : machine.all() - r.usable) {
        solver::Request more = r;
        more.usable.insert(s);
        const solver::Choice after = solved.choose(more);
        if (before.fits) {
          ASSERT_TRUE(after.fits) << name;
          ASSERT_GE(after.gbps, before.gbps - 1e-6) << name;
        }
      }
    }
  }
}

// Whether anything fits is decided without searching for the best.
TEST(Fits, IsWhatChooseSays) {
  std::mt19937 random(5);
  for (const std::string& name : test::profile_names(64)) {
    solver::Machine m(test::profile(name));
    const int n = m.topology().chip_count();
    for (int round = 0; round < (n > 16 ? 4 : 25); ++round) {
      ChipSet usable;
      for (int s = 0; s < n; ++s) {
        if (random() % 4 != 0) usable.insert(s);
      }
      solver::Request r{usable, {}, {}, 1 + static_cast<int>(random() % 9), random() % 2 == 0};
      if (random() % 3 == 0)
        r.required.insert(static_cast<int>(random() % static_cast<unsigned>(n)));
      if (random() % 3 == 0)
        r.already_held.insert(static_cast<int>(random() % static_cast<unsigned>(n)));
      EXPECT_EQ(m.fits(r), m.choose(r).fits) << name << " size " << r.size;
    }
  }
}

}  // namespace
}  // namespace chipweave
