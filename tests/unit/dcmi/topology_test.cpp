#include "node-agent/probes/ascend/ascend_topology.hpp"

#include <gmock/gmock.h>

#include "common/io/files.hpp"
#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::NodeTopology;
using domain::RuleKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NodeTopology profile(const std::string& name) {
  auto loaded = io::load_machine(name);
  EXPECT_TRUE(loaded.ok());
  return std::move(loaded->topology);
}

// Whether the driver reports the NUMA node of a chip: the flat family has no such function.
enum class Numa { reported, hidden };

// The part of a machine that DCMI can report; it hides host paths of pairs with a fast link.
void expect_same_wiring(const NodeTopology& seen, const NodeTopology& known,
                        Numa numa = Numa::reported) {
  ASSERT_EQ(seen.chip_count(), known.chip_count());
  EXPECT_EQ(seen.vendor(), known.vendor());
  EXPECT_EQ(seen.rule(), known.rule());
  for (int a = 0; a < seen.chip_count(); ++a) {
    EXPECT_EQ(seen.chip(a).index, known.chip(a).index);
    EXPECT_EQ(seen.chip(a).numa, numa == Numa::reported ? known.chip(a).numa : -1);
    for (int b = a + 1; b < seen.chip_count(); ++b) {
      const domain::DirectLink* one = seen.link(a, b);
      const domain::DirectLink* other = known.link(a, b);
      ASSERT_EQ(one == nullptr, other == nullptr) << a << "-" << b;
      if (one == nullptr) continue;
      EXPECT_EQ(one->kind, other->kind) << a << "-" << b;
      EXPECT_EQ(one->lanes, other->lanes) << a << "-" << b;
      EXPECT_EQ(one->gbps_per_lane, other->gbps_per_lane) << a << "-" << b;
    }
  }
  ASSERT_EQ(seen.switches().size(), known.switches().size());
  for (std::size_t i = 0; i < seen.switches().size(); ++i) {
    const domain::Switch& one = seen.switches()[i];
    const domain::Switch& other = known.switches()[i];
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.gbps_per_lane, other.gbps_per_lane);
    ASSERT_EQ(one.members(), other.members());
    for (std::size_t p = 0; p < one.ports.size(); ++p) {
      EXPECT_EQ(one.ports[p].lanes, other.ports[p].lanes);
    }
  }
  for (const LinkKind kind : {LinkKind::board, LinkKind::pix, LinkKind::pxb, LinkKind::phb,
                              LinkKind::node, LinkKind::sys}) {
    EXPECT_EQ(seen.host_bandwidth().of(kind), known.host_bandwidth().of(kind));
  }
}

class AscendTopology : public FakeDcmi {
 protected:
  // End to end, with the probe.
  NodeTopology topology(const Json& machine, const std::string& library = current()) {
    domain::Observation seen = observe(machine, library);
    warnings_ = std::move(seen.warnings);
    return std::move(seen.topology);
  }
  // From the snapshot alone.
  Result<NodeTopology> made(const DcmiSnapshot& seen) {
    AscendPlaces places;
    places.numa.assign(seen.devices.size(), -1);
    places.addresses.resize(seen.devices.size());
    return topology_of(seen, generation_of(seen), places, warnings_);
  }
  std::vector<std::string> warnings_;
};

TEST_F(AscendTopology, EachMachineIsItsProfile) {
  expect_same_wiring(topology(atlas_910a()), profile("ascend-910a-8"));
  EXPECT_THAT(warnings_, IsEmpty());
  expect_same_wiring(topology(atlas_a2(8)), profile("ascend-910b-8"));
  EXPECT_THAT(warnings_, IsEmpty());
  expect_same_wiring(topology(atlas_a2(16)), profile("ascend-910b-16"));
  EXPECT_THAT(warnings_, IsEmpty());
  expect_same_wiring(topology(atlas_a3()), profile("ascend-a3-16"));
  EXPECT_THAT(warnings_, IsEmpty());
  expect_same_wiring(topology(duo_310p()), profile("ascend-310p-8"));
  EXPECT_THAT(warnings_, IsEmpty());
  expect_same_wiring(topology(atlas_a5(8), flat()), profile("ascend-a5-8"), Numa::hidden);
  expect_same_wiring(topology(atlas_a5(16), flat()), profile("ascend-a5-16"), Numa::hidden);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(AscendTopology, ChipsSayWhoTheyAre) {
  const NodeTopology seen = topology(atlas_a3());
  EXPECT_EQ(seen.model(), "Ascend910C");
  const domain::Chip& chip = seen.chip(5);
  EXPECT_EQ(chip.id, "Ascend910-5");
  EXPECT_EQ(chip.model, "Ascend910");
  EXPECT_EQ(chip.physical_id, 5);
  EXPECT_EQ(chip.logical_id, 5);
  EXPECT_EQ(chip.super_device_id, (4U << 22U) | (2U << 18U) | (1U << 16U) | 5U);
  EXPECT_THAT(chip.device_ips, ElementsAre("192.0.2.15"));
  ASSERT_TRUE(seen.super_pod());
  EXPECT_EQ(seen.super_pod()->id, "2");
  EXPECT_EQ(seen.super_pod()->server_index, 4);
  EXPECT_EQ(topology(duo_310p()).chip(3).id, "Ascend310P-3");
  EXPECT_EQ(topology(atlas_a5(8), flat()).chip(3).id, "npu-3");
}

TEST_F(AscendTopology, GenerationFollowsFromMoreThanTheName) {
  const auto generation = [this](const Json& machine) {
    return to_string(generation_of(snapshot(machine)));
  };
  EXPECT_EQ(generation(atlas_910a()), "910A");
  EXPECT_EQ(generation(atlas_a2(8)), "A2");
  EXPECT_EQ(generation(atlas_a3()), "A3");
  EXPECT_EQ(generation(duo_310p()), "310P");
  EXPECT_EQ(generation(atlas_a5(8)), "A5");
  const auto named = [&](Json machine, const char* name) {
    for (int i = 0; i < 8; ++i) device_at(machine, i)["chip"][1] = name;
    return generation(machine);
  };
  EXPECT_EQ(named(atlas_910a(), "Ascend910"), "910A");
  EXPECT_EQ(named(atlas_910a(), "910ProB"), "910A");
  EXPECT_EQ(named(atlas_910a(), "310"), "310");
  EXPECT_EQ(named(atlas_910a(), "310B4"), "");
  EXPECT_EQ(named(atlas_910a(), "910B4-1"), "A2");
  EXPECT_EQ(named(atlas_910a(), "910_9391"), "A3");
  EXPECT_EQ(named(atlas_910a(), "910Z"), "");
  // One visible die per card, but a place in a super pod.
  Json lone = atlas_a2(8);
  device_at(lone, 0)["spod"] = {1U, 384U, 0U, 0U, 0U, 0U};
  EXPECT_EQ(generation(lone), "A3");
  device_at(lone, 0)["spod"] = {dcmi::kNone, 0U, 0U, 0U, 0U, 0U};
  EXPECT_EQ(generation(lone), "A2");
  EXPECT_EQ(to_string(generation_of(snapshot(atlas_a5(8), flat()))), "A5");
}

TEST_F(AscendTopology, SixIsSioOnA3AndUnknownBeforeIt) {
  EXPECT_EQ(topology(atlas_a3()).link(0, 1)->kind, LinkKind::sio);
  Json machine = atlas_a2(8);
  for (Json& pair : machine["pairs"]) {
    if (pair["a"] == 0 && pair["b"] == 1) pair["type"] = dcmi::kTopoSio;
  }
  const NodeTopology seen = topology(machine);
  EXPECT_EQ(seen.link(0, 1), nullptr);
  EXPECT_EQ(seen.host_path(0, 1), LinkKind::node);
  EXPECT_NE(seen.link(0, 2), nullptr);
  EXPECT_THAT(warnings_,
              Contains(HasSubstr("unknown connection between these chips, taken as SYS or "
                                 "NODE: 0-1")));
}

TEST_F(AscendTopology, WithoutMatrixNothingIsLinked) {
  Json machine = atlas_a2(8);
  machine.erase("topo");
  const NodeTopology seen = topology(machine);
  EXPECT_THAT(seen.links(), IsEmpty());
  EXPECT_EQ(seen.chip_count(), 8);
  EXPECT_THAT(warnings_, Contains(HasSubstr("does not report links between its NPUs")));
}

TEST_F(AscendTopology, RulesFollowTheMachine) {
  Json half = atlas_910a();
  half["cards"].erase(half["cards"].begin() + 4, half["cards"].end());
  EXPECT_EQ(topology(half).rule(), (domain::PlacementRule{RuleKind::ascend_910a_half, 4}));
  Json lost = atlas_a2(16);
  lost["cards"].erase(lost["cards"].begin());
  EXPECT_EQ(topology(lost).rule(), (domain::PlacementRule{RuleKind::ascend_910b_16, 8}));
  // Chips that are not numbered by card: "index / 2" would not be the card.
  Json mixed = duo_310p();
  device_at(mixed, 1)["physical"] = 2;
  device_at(mixed, 2)["physical"] = 1;
  EXPECT_EQ(topology(mixed).rule().kind, RuleKind::any);
  EXPECT_THAT(warnings_, Contains(HasSubstr("placement rule any is assumed")));
}

// The health policy decides its effect.
TEST_F(AscendTopology, SickChipsAreInTheWiringAsBefore) {
  Json machine = atlas_a2(8);
  device_at(machine, 0)["health"] = 3;
  device_at(machine, 2)["network"] = 3;
  device_at(machine, 4)["health"] = dcmi::kNone;
  const NodeTopology seen = topology(machine);
  EXPECT_EQ(seen.chip_count(), 8);
  EXPECT_TRUE(seen.unhealthy().empty());
  EXPECT_TRUE(seen.network_unhealthy().empty());
}

TEST_F(AscendTopology, SuperPodWithoutANumberIsNone) {
  Json machine = atlas_a3();
  for (int i = 0; i < 16; ++i) device_at(machine, i)["spod"][2] = dcmi::kNone;
  EXPECT_FALSE(topology(machine).super_pod());
  machine = atlas_a3();
  device_at(machine, 7)["spod"][3] = 5;
  EXPECT_EQ(topology(machine).super_pod()->server_index, 4);
  EXPECT_THAT(warnings_, Contains(HasSubstr("NPU 7 reports server 5 of super pod 2")));
}

TEST_F(AscendTopology, DevicesThatContradictEachOtherAreRefused) {
  DcmiSnapshot seen = snapshot(atlas_a2(8));
  seen.devices[1].physical_id = 0;
  const auto topology = made(seen);
  ASSERT_FALSE(topology.ok());
  EXPECT_EQ(topology.error().code, Errc::invalid_argument);
}

TEST_F(AscendTopology, ChipWithoutAPhysicalIdGetsNoNumberOfAnother) {
  DcmiSnapshot seen = snapshot(atlas_a2(8));
  seen.devices[2].physical_id.reset();  // 2 is free
  EXPECT_THAT(chip_indices(seen), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  seen.devices[2].physical_id = 5;
  seen.devices[5].physical_id.reset();
  seen.devices[5].logic_id = 0;  // says nothing about its physical id
  EXPECT_THAT(chip_indices(seen), ElementsAre(0, 1, 5, 3, 4, 2, 6, 7));
  const auto topology = made(seen);
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  EXPECT_EQ(topology->chip(2).id, "npu-at-card-5-0");
  EXPECT_EQ(topology->chip(2).physical_id, std::nullopt);
  EXPECT_EQ(topology->chip(5).id, "Ascend910-5");
  EXPECT_THAT(warnings_, Contains(HasSubstr("npu-at-card-5-0 has an arbitrary number")));
}

TEST_F(AscendTopology, NoDeviceIsNotFound) {
  const auto topology = made(DcmiSnapshot{});
  ASSERT_FALSE(topology.ok());
  EXPECT_EQ(topology.error().code, Errc::not_found);
}

}  // namespace
}  // namespace chipweave::agent
