#include "node-agent/app/machine/continuity.hpp"

#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::NodeTopology;
using domain::Observation;

// A full mesh with two lanes per pair, and four lanes from each chip to a switch; chips are
// numbered in this order.
NodeTopology machine(const std::vector<std::string>& ids) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  const int n = static_cast<int>(ids.size());
  std::vector<domain::TopologyBuilder::Port> ports;
  for (int i = 0; i < n; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.id = ids[static_cast<std::size_t>(i)];
    if (chip.id.size() > 2) chip.pci = "0000:0" + chip.id.substr(2) + ":00.0";
    if (chip.id.starts_with('?')) chip.id.clear();
    b.add_chip(std::move(chip));
    ports.push_back({ChipIndex{i}, 4});
    for (int j = 0; j < i; ++j) b.add_link(ChipIndex{j}, ChipIndex{i}, LinkKind::nvlink, 2, 20);
  }
  b.add_switch("nvswitch", LinkKind::nvswitch, std::move(ports), 20);
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok()) << built.error().text();
  return std::move(built).value();
}

Observation seen_as(const NodeTopology& known, Observation seen) {
  auto out = in_terms_of(known, std::move(seen));
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out->observation);
}

const std::vector<std::string> kAll = {"G-0", "G-1", "G-2", "G-3"};

TEST(Continuity, WhatIsAsBeforeStaysAsItIs) {
  const NodeTopology known = machine(kAll);
  Observation seen{"box", machine(kAll), {}};
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  const Observation out = seen_as(known, seen);
  EXPECT_EQ(codec::export_topology_json(out.topology), codec::export_topology_json(seen.topology));
  EXPECT_TRUE(out.signals.empty());
}

TEST(Continuity, AChipThatIsGoneStaysOnTheListAndTheOthersKeepTheirNumbers) {
  const NodeTopology known = machine(kAll);
  Observation seen{"box", machine({"G-0", "G-2", "G-3"}), {}};
  ASSERT_TRUE(seen.topology.take_down(1, 2, 1));  // between G-2 and G-3
  seen.signals = {{domain::SignalKind::state, "hot", ChipIndex{1}, std::nullopt, "", 0, ""}};
  seen.ports = {{ChipIndex{2}, 7, ChipIndex{1}, true}};
  seen.neighbours = {{"", ChipIndex{2}, "leaf", "", ""}};
  const Observation out = seen_as(known, std::move(seen));
  ASSERT_EQ(out.topology.chip_count(), 4);
  EXPECT_EQ(out.topology.chip(1).id, "G-1");
  EXPECT_EQ(out.topology.chip(3).id, "G-3");
  EXPECT_EQ(out.topology.link(2, 3)->lanes_down, 1);
  EXPECT_EQ(out.topology.link(0, 2)->lanes_down, 0);
  EXPECT_EQ(out.topology.link(0, 1)->lanes_down, 0);
  ASSERT_EQ(out.signals.size(), 2U);
  EXPECT_EQ(out.signals[0].chip, ChipIndex{2});
  EXPECT_EQ(out.signals[1].code, "chip.gone");
  EXPECT_EQ(out.signals[1].chip, ChipIndex{1});
  EXPECT_EQ(out.ports[0].chip, ChipIndex{3});
  EXPECT_EQ(out.ports[0].peer, ChipIndex{2});
  EXPECT_EQ(out.neighbours[0].chip, ChipIndex{3});
}

TEST(Continuity, LanesToASwitchFollowTheirChip) {
  const NodeTopology known = machine(kAll);
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 2; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.id = kAll[static_cast<std::size_t>(3 - i)];
    b.add_chip(std::move(chip));
  }
  b.add_switch("nvswitch", LinkKind::nvswitch, {{ChipIndex{0}, 4, 3}, {ChipIndex{1}, 4, 1}}, 20);
  Observation seen{"box", std::move(b).build().value(), {}};
  const Observation out = seen_as(known, std::move(seen));
  const auto& ports = out.topology.switches()[0].ports;
  EXPECT_EQ(ports[3].lanes_down, 3);
  EXPECT_EQ(ports[2].lanes_down, 1);
  EXPECT_EQ(ports[1].lanes_down, 0);
  EXPECT_EQ(out.signals.size(), 2U);
  // They had links to each other before and have none now.
  EXPECT_EQ(out.topology.link(2, 3)->lanes_down, 2);
}

TEST(Continuity, AChipWithoutIdIsMatchedByItsAddress) {
  const NodeTopology known = machine(kAll);
  const Observation out =
      seen_as(known, Observation{"box", machine({"G-3", "?-2", "G-0", "G-1"}), {}});
  ASSERT_EQ(out.topology.chip_count(), 4);
  EXPECT_EQ(out.topology.chip(2).id, "G-2");
  EXPECT_EQ(out.topology.chip(0).id, "G-0");
  EXPECT_TRUE(out.signals.empty());
}

TEST(Continuity, ChipsWithoutIdsKeepTheirNumbersInAnotherOrder) {
  const NodeTopology known = machine({"?-0", "?-1", "?-2"});
  const Observation out = seen_as(known, Observation{"box", machine({"?-2", "?-1", "?-0"}), {}});
  ASSERT_EQ(out.topology.chip_count(), 3);
  EXPECT_EQ(out.topology.chip(0).pci, known.chip(0).pci);
  EXPECT_EQ(out.topology.chip(2).pci, known.chip(2).pci);
}

TEST(Continuity, AChipWithoutIdAndAddressIsMatchedByItsIndex) {
  const NodeTopology known = machine(kAll);
  const Observation out =
      seen_as(known, Observation{"box", machine({"G-0", "G-1", "", "G-3"}), {}});
  EXPECT_EQ(out.topology.chip(2).id, "G-2");
  // Unless another chip has that number now; then nothing is known about it.
  const Observation other =
      seen_as(known, Observation{"box", machine({"G-0", "G-1", "G-3", ""}), {}});
  ASSERT_EQ(other.topology.chip_count(), 4);
  EXPECT_EQ(other.topology.chip(2).id, "G-3");
}

TEST(Continuity, ChipsThatWereNeverSeenMakeAnotherMachine) {
  const NodeTopology known = machine(kAll);
  for (const auto& ids : {std::vector<std::string>{"G-0", "G-1", "G-2", "G-9"},
                          {"G-0", "G-1", "G-2", "G-3", "G-4"},
                          {"?-9", "G-1"}}) {
    const NodeTopology now = machine(ids);
    const Observation out = seen_as(known, Observation{"box", now, {}});
    EXPECT_EQ(codec::export_topology_json(out.topology), codec::export_topology_json(now));
    EXPECT_TRUE(out.signals.empty());
  }
}

TEST(Continuity, EventsNameTheChipWhateverTheDriverNumbersItNow) {
  const NodeTopology known = machine(kAll);
  const auto seen = in_terms_of(known, Observation{"box", machine({"G-0", "G-2", "G-3"}), {}});
  ASSERT_TRUE(seen.ok()) << seen.error().text();
  const auto event = [](std::optional<ChipIndex> chip, const std::string& pci) {
    domain::Signal out;
    out.kind = domain::SignalKind::event;
    out.code = "xid.79";
    out.chip = chip;
    out.pci = pci;
    return out;
  };
  std::vector<domain::Signal> events = {
      event(ChipIndex{1}, ""),              // the driver's number now
      event(ChipIndex{1}, "0000:01:00.0"),  // its number before another chip went
      event(std::nullopt, "0000:03:00.0"),
      event(std::nullopt, ""),
      event(ChipIndex{9}, ""),
      event(ChipIndex{0}, "0000:77:00.0"),
  };
  name_chips(seen->observation.topology, seen->numbers, events);
  std::vector<int> chips;
  for (const auto& one : events) chips.push_back(one.chip ? one.chip->value : -1);
  EXPECT_EQ(chips, (std::vector<int>{2, 1, 3, -1, -1, 0}));
  EXPECT_EQ(events[4].text, "of a chip that is not known: number 9");
}

TEST(Continuity, WhoComesBackIsAsBefore) {
  const NodeTopology known = machine(kAll);
  const Observation less = seen_as(known, Observation{"box", machine({"G-1", "G-2"}), {}});
  ASSERT_EQ(less.signals.size(), 2U);
  const Observation back = seen_as(less.topology, Observation{"box", machine(kAll), {}});
  EXPECT_TRUE(back.signals.empty());
  EXPECT_EQ(codec::export_topology_json(back.topology), codec::export_topology_json(known));
}

}  // namespace
}  // namespace chipweave::agent
