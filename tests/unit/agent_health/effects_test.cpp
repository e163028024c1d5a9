#include "node-agent/app/health/fault_effects.hpp"

#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using domain::Health;
using domain::NodeTopology;
using domain::Port;

// Two chips on a switch of four lanes each, a NIC, and a link between them.
NodeTopology switched() {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 2; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    b.add_chip(std::move(chip));
  }
  b.add_switch("nvswitch", domain::LinkKind::nvswitch, {{ChipIndex{0}, 4}, {ChipIndex{1}, 4}}, 20);
  b.add_nic("mlx5_0", "", 0, 50, {});
  b.add_nic("mlx5_1", "", 0, 50, {});
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::move(built).value();
}

Fault of(Effect effect, std::optional<int> chip) {
  Fault out;
  out.code = "x";
  out.effect = effect;
  if (chip) out.chip = ChipIndex{*chip};
  return out;
}

Fault lane(int chip, int port) {
  Fault out = of(Effect::link, chip);
  out.port = port;
  return out;
}

NodeTopology with(const NodeTopology& t, const std::vector<Fault>& faults,
                  const std::vector<Port>& ports = {}) {
  auto out = with_effects(t, ports, faults);
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

TEST(FaultEffects, TheWorstOfAChipCounts) {
  const NodeTopology t =
      with(ring_of_four(), {of(Effect::unusable, 1), of(Effect::network, 1), of(Effect::network, 2),
                            of(Effect::note, 3), of(Effect::unusable, 77)});
  EXPECT_EQ(t.chip(0).health, Health::healthy);
  EXPECT_EQ(t.chip(1).health, Health::unhealthy);
  EXPECT_EQ(t.chip(2).health, Health::network_unhealthy);
  EXPECT_EQ(t.chip(3).health, Health::healthy);
}

TEST(FaultEffects, AFaultOfTheMachineIsOneOfEachChip) {
  const NodeTopology t =
      with(ring_of_four(), {of(Effect::network, std::nullopt), of(Effect::unusable, 1)});
  EXPECT_EQ(t.chip(0).health, Health::network_unhealthy);
  EXPECT_EQ(t.chip(1).health, Health::unhealthy);
}

TEST(FaultEffects, LanesOfALinkAreHeldDown) {
  Fault down = of(Effect::link, 0);
  down.peer = ChipIndex{1};
  down.lanes = 1;
  EXPECT_EQ(with(ring_of_four(), {down}).link(0, 1)->lanes_down, 1);
  down.lanes = 9;
  EXPECT_EQ(with(ring_of_four(), {down}).link(0, 1)->lanes_down, 2);
  NodeTopology worse = ring_of_four();
  ASSERT_TRUE(worse.take_down(0, 1, 2));
  down.lanes = 1;
  EXPECT_EQ(with(worse, {down}).link(0, 1)->lanes_down, 2);
}

TEST(FaultEffects, ABadPortTakesItsLaneWhereverItLeads) {
  const std::vector<Port> ports = {{ChipIndex{0}, 0, ChipIndex{1}, true},
                                   {ChipIndex{0}, 1, ChipIndex{1}, true},
                                   {ChipIndex{1}, 5, ChipIndex{0}, true},
                                   {ChipIndex{1}, 6, ChipIndex{2}, false}};
  // Both ends report a lane down: it is taken for the same lane.
  EXPECT_EQ(with(ring_of_four(), {lane(0, 0), lane(1, 5)}, ports).link(0, 1)->lanes_down, 1);
  EXPECT_EQ(with(ring_of_four(), {lane(0, 0), lane(0, 1)}, ports).link(0, 1)->lanes_down, 2);
  // A port whose link is down counts already; an unknown port has no effect.
  const NodeTopology t = with(ring_of_four(), {lane(1, 6), lane(3, 9)}, ports);
  EXPECT_FALSE(t.has_lanes_down());
}

TEST(FaultEffects, LinksOfAChipAsAWhole) {
  const NodeTopology ring = with(ring_of_four(), {of(Effect::link, 1)});
  EXPECT_EQ(ring.link(0, 1)->lanes_down, 2);
  EXPECT_EQ(ring.link(1, 2)->lanes_down, 2);
  EXPECT_EQ(ring.link(2, 3)->lanes_down, 0);
  EXPECT_EQ(ring.chip(1).health, Health::healthy);
  const NodeTopology t = with(switched(), {of(Effect::link, 0)});
  EXPECT_EQ(t.switches()[0].ports[0].lanes_down, 4);
  EXPECT_EQ(t.switches()[0].ports[1].lanes_down, 0);
}

TEST(FaultEffects, LanesToASwitch) {
  Fault down = of(Effect::link, 0);
  down.part = "nvswitch";
  down.lanes = 2;
  const std::vector<Port> ports = {{ChipIndex{0}, 3, std::nullopt, true},
                                   {ChipIndex{1}, 3, std::nullopt, true}};
  const NodeTopology t = with(switched(), {down, lane(0, 3), lane(1, 3)}, ports);
  EXPECT_EQ(t.switches()[0].ports[0].lanes_down, 3);
  EXPECT_EQ(t.switches()[0].ports[1].lanes_down, 1);
  EXPECT_EQ(t.chip(0).health, Health::healthy);
}

TEST(FaultEffects, ANicThatIsDownIsNotThere) {
  Fault nic = of(Effect::link, std::nullopt);
  nic.part = "mlx5_0";
  const NodeTopology t = with(switched(), {nic});
  ASSERT_EQ(t.nics().size(), 1U);
  EXPECT_EQ(t.nics()[0].name, "mlx5_1");
  EXPECT_EQ(t.chip(0).health, Health::healthy);
}

TEST(FaultEffects, NotesChangeNothing) {
  const NodeTopology t = switched();
  EXPECT_EQ(codec::export_topology_json(with(t, {of(Effect::note, 0), of(Effect::note, {})})),
            codec::export_topology_json(t));
}

}  // namespace
}  // namespace chipweave::agent
