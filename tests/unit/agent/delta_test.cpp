#include "node-agent/app/delta.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "common/domain/topology_edit.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Health;

domain::NodeTopology broken(const domain::DeclaredFaults& faults) {
  auto out = with_faults(ring_of_four(), faults);
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

TEST(Delta, EqualStatesGiveAnEmptyOne) {
  const auto delta = delta_between(*state_of(ring_of_four()), *state_of(ring_of_four()));
  ASSERT_TRUE(delta);
  EXPECT_TRUE(delta->empty());
}

TEST(Delta, HoldsOnlyWhatChangedAndTheWayBack) {
  const auto whole = state_of(ring_of_four());
  const auto now =
      state_of(broken({{ChipIndex{3}}, {ChipIndex{1}}, {{ChipIndex{2}, ChipIndex{1}, 1}}}));
  const auto there = delta_between(*whole, *now);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->chips, (std::vector<ChipChange>{{ChipIndex{1}, Health::network_unhealthy},
                                                   {ChipIndex{3}, Health::unhealthy}}));
  EXPECT_EQ(there->links, (std::vector<LinkChange>{{ChipIndex{1}, ChipIndex{2}, 1}}));
  const auto back = delta_between(*now, *whole);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->chips, (std::vector<ChipChange>{{ChipIndex{1}, Health::healthy},
                                                  {ChipIndex{3}, Health::healthy}}));
  EXPECT_EQ(back->links, (std::vector<LinkChange>{{ChipIndex{1}, ChipIndex{2}, 0}}));
}

TEST(Delta, FaultsAreSentAsAWholeWhenTheyChange) {
  NodeState faulty{"box", {"r"}, ring_of_four()};
  faulty.faults.resize(2);
  faulty.faults[0].code = "nic.flap";
  faulty.faults[1].code = "amd.thermal";
  NodeState less = faulty;
  less.faults.pop_back();
  const NodeState well{"box", {"r"}, ring_of_four()};
  EXPECT_EQ(delta_between(faulty, less)->faults, less.faults);
  EXPECT_EQ(delta_between(faulty, well)->faults, well.faults) << "no faults left";
  EXPECT_FALSE(delta_between(faulty, well)->empty());
  EXPECT_TRUE(delta_between(faulty, faulty)->empty());
}

TEST(Delta, AnotherMachineNeedsAFullReport) {
  const NodeState whole{"box", {"r"}, ring_of_four()};
  const auto differs = [&whole](const NodeState& other) {
    return !delta_between(whole, other).has_value();
  };
  EXPECT_TRUE(differs({"other", {"r"}, ring_of_four()}));
  EXPECT_TRUE(differs({"box", {"q"}, ring_of_four()}));
  EXPECT_TRUE(differs({"box", {"r"}, ring_of_four("amd")}));
  const auto renamed = domain::with_chips(
      ring_of_four(), [](domain::Chip& c) { c.id = "x" + std::to_string(c.index.value); });
  EXPECT_TRUE(differs({"box", {"r"}, *renamed}));
  domain::TopologyBuilder fewer;
  fewer.vendor = "nvidia";
  fewer.model = "box";
  fewer.add_chip({});
  const auto one = std::move(fewer).build();
  EXPECT_TRUE(differs({"box", {"r"}, *one}));
}

TEST(Faults, OnlyWorsen) {
  const auto faulty = domain::with_chips(ring_of_four(), [](domain::Chip& c) {
    if (c.index.value == 0) c.health = Health::unhealthy;
  });
  ASSERT_TRUE(faulty);
  const auto got = with_faults(
      *faulty,
      {{}, {ChipIndex{0}}, {{ChipIndex{0}, ChipIndex{1}, {}}, {ChipIndex{1}, ChipIndex{0}, 1}}});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->chip(0).health, Health::unhealthy);
  EXPECT_EQ(got->link(0, 1)->lanes_down, 2);
}

TEST(Faults, NameWhatTheMachineDoesNotHave) {
  EXPECT_THAT(with_faults(ring_of_four(), {{ChipIndex{9}}, {}, {}}).error().text(),
              testing::HasSubstr("chip 9"));
  EXPECT_THAT(with_faults(ring_of_four(), {{}, {ChipIndex{8}}, {}}).error().text(),
              testing::HasSubstr("chip 8"));
  EXPECT_THAT(
      with_faults(ring_of_four(), {{}, {}, {{ChipIndex{0}, ChipIndex{2}, {}}}}).error().text(),
      testing::HasSubstr("0-2"));
  EXPECT_THAT(
      with_faults(ring_of_four(), {{}, {}, {{ChipIndex{0}, ChipIndex{7}, {}}}}).error().text(),
      testing::HasSubstr("chip 7"));
}

}  // namespace
}  // namespace chipweave::agent
