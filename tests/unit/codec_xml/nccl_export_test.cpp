#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

LinkKind as_nccl(LinkKind kind) {
  // NCCL cannot express two chips on one card, and treats a NUMA node as one host bridge.
  if (kind == LinkKind::board) return LinkKind::pix;
  return kind == LinkKind::node ? LinkKind::phb : kind;
}

void expect_round_trip(const domain::NodeTopology& before) {
  const std::string text = export_nccl_xml(before).text;
  const auto again = import_nccl_xml(text, {});
  ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << text;
  const domain::NodeTopology& after = again->topology;
  ASSERT_EQ(after.chip_count(), before.chip_count());
  EXPECT_EQ(after.vendor(), before.vendor());
  EXPECT_EQ(link_list(after), link_list(before));
  ASSERT_EQ(after.switches().size(), before.switches().size());
  for (std::size_t i = 0; i < before.switches().size(); ++i) {
    EXPECT_EQ(after.switches()[i].gbps_per_lane, before.switches()[i].gbps_per_lane);
    ASSERT_EQ(after.switches()[i].ports.size(), before.switches()[i].ports.size());
    for (std::size_t k = 0; k < before.switches()[i].ports.size(); ++k) {
      EXPECT_EQ(after.switches()[i].ports[k].lanes, before.switches()[i].ports[k].lanes);
    }
  }
  for (int a = 0; a < before.chip_count(); ++a) {
    EXPECT_EQ(after.chip(a).index, before.chip(a).index);
    for (int b = 0; b < before.chip_count(); ++b) {
      EXPECT_EQ(after.host_path(a, b), as_nccl(before.host_path(a, b))) << a << "-" << b << "\n"
                                                                        << text;
    }
  }
  ASSERT_EQ(after.nics().size(), before.nics().size());
  std::multiset<std::string> names_before;
  std::multiset<std::string> names_after;
  for (const domain::Nic& nic : before.nics()) names_before.insert(nic.name);
  for (const domain::Nic& nic : after.nics()) names_after.insert(nic.name);
  EXPECT_EQ(names_after, names_before);
  for (const domain::Nic& old : before.nics()) {
    const bool found =
        std::any_of(after.nics().begin(), after.nics().end(), [&](const domain::Nic& nic) {
          for (std::size_t i = 0; i < nic.paths.size(); ++i) {
            if (nic.paths[i] != as_nccl(old.paths[i])) return false;
          }
          return nic.name == old.name && std::abs(nic.gbps - old.gbps) < 1e-3;
        });
    EXPECT_TRUE(found) << old.name << "\n" << text;
  }
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, KeepsChipsLinksSwitchesPathsAndNics) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto first = import_nccl_xml(topology_file(std::string("nccl-xml/") + GetParam()), {});
  ASSERT_TRUE(first.ok());
  expect_round_trip(first->topology);
  for (int slot = 0; slot < first->topology.chip_count(); ++slot) {
    const auto again = import_nccl_xml(export_nccl_xml(first->topology).text, {});
    EXPECT_EQ(again->topology.chip(slot).pci, first->topology.chip(slot).pci);
    EXPECT_EQ(again->topology.chip(slot).numa, first->topology.chip(slot).numa);
    EXPECT_EQ(again->topology.chip(slot).model, first->topology.chip(slot).model);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RoundTrip,
                         testing::Values("oci-h100x8-dump.xml", "aws-p4d-a100x8.xml",
                                         "rccl-8p1h.xml", "rccl-4p4h.xml", "rccl-8p_rome_n4.xml",
                                         "rccl-8p_940vm.xml", "azure-ndv2-v100x8.xml",
                                         "rccl-4p3l_2h.xml"));

domain::TopologyBuilder nvidia(int chips) {
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  builder.model = "V100";
  for (int i = 0; i < chips; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    builder.add_chip(std::move(chip));
  }
  return builder;
}

TEST(NcclExport, MixedPathClassesWithoutBusIds) {
  domain::TopologyBuilder builder = nvidia(6);
  builder.add_link(ChipIndex{0}, ChipIndex{1}, LinkKind::pix);
  builder.add_link(ChipIndex{0}, ChipIndex{2}, LinkKind::pxb);
  builder.add_link(ChipIndex{1}, ChipIndex{2}, LinkKind::pxb);
  for (int i = 0; i < 3; ++i) builder.add_link(ChipIndex{i}, ChipIndex{3}, LinkKind::node);
  builder.add_link(ChipIndex{4}, ChipIndex{5}, LinkKind::board);
  builder.add_link(ChipIndex{0}, ChipIndex{5}, LinkKind::nvlink, 2);
  builder.add_nic("ib<0>&\"", "", 0, 25,
                  {{ChipIndex{0}, LinkKind::pxb},
                   {ChipIndex{1}, LinkKind::pxb},
                   {ChipIndex{2}, LinkKind::pxb},
                   {ChipIndex{3}, LinkKind::phb}});
  builder.add_nic("far", "", -1, 0, {});
  const auto topology = std::move(builder).build();
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  expect_round_trip(*topology);
}

TEST(NcclExport, LanesThatAreDownAreNotThere) {
  domain::TopologyBuilder builder = nvidia(2);
  builder.add_link(ChipIndex{0}, ChipIndex{1}, LinkKind::nvlink, 3, std::nullopt, 1);
  const auto topology = std::move(builder).build();
  ASSERT_TRUE(topology.ok());
  const auto again = import_nccl_xml(export_nccl_xml(*topology).text, {});
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(link_list(again->topology), testing::ElementsAre("0-1 NVLINK x2 20"));
}

TEST(NcclExport, WhatItCannotSayIsNamed) {
  domain::TopologyBuilder builder = nvidia(4);
  builder.vendor = "ascend";
  builder.add_link(ChipIndex{0}, ChipIndex{1}, LinkKind::hccs);
  builder.add_link(ChipIndex{2}, ChipIndex{3}, LinkKind::nvlink, 4, std::nullopt, 1);
  const auto topology = std::move(builder).build();
  ASSERT_TRUE(topology.ok());
  const NcclXml xml = export_nccl_xml(*topology);
  EXPECT_THAT(xml.left_out, testing::ElementsAre("vendor ascend", "1 HCCS links",
                                                 "that 1 lanes are down, not absent"));
  EXPECT_THAT(xml.text, testing::StartsWith("<!-- left out: vendor ascend -->\n"
                                            "<!-- left out: 1 HCCS links -->"));
  EXPECT_TRUE(import_nccl_xml(xml.text, {}).ok());
}

TEST(NcclExport, KnownNumaNodesKeepTheirNumberAndUnknownOnesGetNone) {
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  const std::vector<int> numas = {0, 0, 1, -1, -1};  // the first two are SYS apart nevertheless
  for (std::size_t i = 0; i < numas.size(); ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{static_cast<int>(i)};
    chip.numa = numas[i];
    builder.add_chip(std::move(chip));
  }
  const auto again = import_nccl_xml(export_nccl_xml(*std::move(builder).build()).text, {});
  ASSERT_TRUE(again.ok()) << again.error().text();
  std::vector<int> read;
  for (const domain::Chip& chip : again->topology.chips()) read.push_back(chip.numa);
  EXPECT_EQ(read, (std::vector<int>{0, 2, 1, -1, -1}));
  EXPECT_EQ(again->topology.host_path(3, 4), LinkKind::sys);
}

}  // namespace
}  // namespace chipweave::codec
