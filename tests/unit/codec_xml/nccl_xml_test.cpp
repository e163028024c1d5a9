#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using testing::ElementsAre;
using testing::HasSubstr;

// Counted with a separate script (Python, ElementTree), not with the importer.
struct NcclFile {
  const char* name;
  int chips;
  std::size_t nics;
  const char* vendor;
  std::size_t links;
  int lanes;               // of all links together
  int switch_lanes;        // of each chip; 0: no switch
  int pix, pxb, phb, sys;  // pairs
  double lane_gbps;        // of direct links
  double pix_gbps;
};

constexpr NcclFile kNcclFiles[] = {
    {"aws-p4d-a100x8.xml", 8, 4, "nvidia", 0, 0, 0, 4, 0, 8, 16, 0, 12},
    {"aws-p4de-a100x8.xml", 8, 4, "nvidia", 0, 0, 0, 4, 0, 8, 16, 0, 12},
    {"azure-ncv4-a100pciex4.xml", 4, 1, "nvidia", 0, 0, 0, 0, 0, 0, 6, 0, 24},
    {"azure-ndv2-v100x8.xml", 8, 1, "nvidia", 0, 0, 0, 0, 0, 12, 16, 0, 24},
    {"azure-ndv4-a100x8.xml", 8, 8, "nvidia", 0, 0, 0, 4, 0, 0, 24, 0, 24},
    {"azure-ndv5-h100x8.xml", 8, 8, "nvidia", 0, 0, 0, 0, 0, 12, 16, 0, 48},
    {"oci-a100x8-flattened.xml", 8, 8, "nvidia", 0, 0, 0, 4, 0, 0, 24, 0, 24},
    {"oci-h100x8-dump.xml", 8, 16, "nvidia", 0, 0, 18, 0, 0, 12, 16, 0, 48},
    {"rccl-16p1h.xml", 16, 8, "amd", 28, 56, 0, 0, 24, 0, 96, 36, 48},
    {"rccl-3p_pcie.xml", 3, 1, "amd", 0, 0, 0, 0, 0, 1, 2, 0, 48},
    {"rccl-4p1h.xml", 4, 1, "amd", 4, 4, 0, 0, 6, 0, 0, 36, 24},
    {"rccl-4p2h.xml", 8, 1, "amd", 8, 8, 0, 0, 12, 16, 0, 36, 24},
    {"rccl-4p3l.xml", 4, 2, "amd", 6, 6, 0, 0, 6, 0, 0, 36, 24},
    {"rccl-4p3l_2h.xml", 8, 1, "amd", 12, 12, 0, 0, 0, 5, 23, 36, 24},
    {"rccl-4p4h.xml", 16, 16, "amd", 24, 24, 0, 0, 56, 64, 0, 36, 12},
    {"rccl-8p1h.xml", 8, 4, "amd", 12, 26, 0, 0, 12, 0, 16, 36, 24},
    {"rccl-8p6l.xml", 8, 1, "amd", 24, 24, 0, 0, 0, 12, 16, 36, 24},
    {"rccl-8p_90a.xml", 8, 1, "amd", 12, 12, 0, 0, 0, 28, 0, 36, 24},
    {"rccl-8p_940.xml", 8, 8, "amd", 28, 28, 0, 0, 0, 12, 16, 48, 48},
    {"rccl-8p_940vm.xml", 8, 8, "amd", 28, 28, 0, 0, 0, 12, 16, 48, 48},
    {"rccl-8p_pcie.xml", 8, 1, "amd", 0, 0, 0, 0, 12, 16, 0, 0, 24},
    {"rccl-8p_rome.xml", 8, 1, "amd", 8, 8, 0, 0, 0, 12, 16, 36, 24},
    {"rccl-8p_rome_n4.xml", 8, 1, "amd", 8, 8, 0, 0, 0, 2, 26, 36, 24},
};

class NcclFiles : public testing::TestWithParam<NcclFile> {};

TEST_P(NcclFiles, HoldWhatTheySay) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const NcclFile& want = GetParam();
  const std::string content = topology_file(std::string("nccl-xml/") + want.name);
  ASSERT_TRUE(looks_like_nccl_xml(content));
  EXPECT_FALSE(looks_like_nccl_graph(content));
  EXPECT_FALSE(looks_like_hwloc_xml(content));
  const Result<ImportedTopology> got = import_nccl_xml(content, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(got->format, "nccl-xml");
  EXPECT_EQ(t.chip_count(), want.chips);
  EXPECT_EQ(t.vendor(), want.vendor);
  EXPECT_EQ(t.nics().size(), want.nics);
  for (int slot = 0; slot < t.chip_count(); ++slot) EXPECT_EQ(t.chip(slot).index.value, slot);
  ASSERT_EQ(t.links().size(), want.links);
  int lanes = 0;
  for (const domain::DirectLink& link : t.links()) {
    lanes += link.lanes;
    EXPECT_EQ(link.kind, LinkKind::xgmi);
    EXPECT_EQ(link.gbps_per_lane, want.lane_gbps);
  }
  EXPECT_EQ(lanes, want.lanes);
  ASSERT_EQ(t.switches().size(), want.switch_lanes > 0 ? 1U : 0U);
  EXPECT_EQ(pairs_of(t, LinkKind::pix), want.pix);
  EXPECT_EQ(pairs_of(t, LinkKind::pxb), want.pxb);
  EXPECT_EQ(pairs_of(t, LinkKind::phb), want.phb);
  EXPECT_EQ(pairs_of(t, LinkKind::sys), want.sys);
  EXPECT_EQ(t.host_bandwidth().pix, want.pix_gbps);
}

INSTANTIATE_TEST_SUITE_P(All, NcclFiles, testing::ValuesIn(kNcclFiles), [](const auto& param) {
  std::string name = param.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(NcclXml, RcclFourGpuMeshLinkByLink) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/rccl-4p3l.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology),
              ElementsAre("0-1 XGMI x1 36", "0-2 XGMI x1 36", "0-3 XGMI x1 36", "1-2 XGMI x1 36",
                          "1-3 XGMI x1 36", "2-3 XGMI x1 36"));
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(t.chip(2).pci, "0000:23:00.0");
  EXPECT_EQ(t.chip(2).numa, 0);
  EXPECT_EQ(t.nics()[0].name, "enp96s0f0");
  EXPECT_EQ(t.nics()[0].gbps, 1.25);
  EXPECT_EQ(t.nics()[0].paths[0], LinkKind::phb);
  EXPECT_EQ(t.nics()[1].pci, "");         // tied to the CPU only
  EXPECT_EQ(t.host_bandwidth().phb, 20);  // behind an Intel root complex: 24 x 5/6
}

TEST(NcclXml, RcclMi250LinkByLink) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/rccl-8p1h.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology),
              ElementsAre("0-1 XGMI x4 36", "0-4 XGMI x2 36", "0-6 XGMI x1 36", "1-3 XGMI x1 36",
                          "1-7 XGMI x1 36", "2-3 XGMI x4 36", "2-4 XGMI x1 36", "2-6 XGMI x2 36",
                          "3-5 XGMI x1 36", "4-5 XGMI x4 36", "5-7 XGMI x1 36", "6-7 XGMI x4 36"));
  EXPECT_EQ(got->topology.model(), "MI250X");
  EXPECT_EQ(got->topology.chip(0).numa, 1);
  EXPECT_EQ(got->topology.chip(7).numa, 3);
  EXPECT_THAT(got->warnings, testing::IsEmpty());
}

TEST(NcclXml, OciDumpCollapsesNvswitches) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/oci-h100x8-dump.xml"), {});
  ASSERT_TRUE(got.ok());
  const domain::NodeTopology& t = got->topology;
  ASSERT_EQ(t.switches().size(), 1U);
  EXPECT_EQ(t.switches()[0].kind, LinkKind::nvswitch);
  EXPECT_EQ(t.switches()[0].gbps_per_lane, 20.6);
  ASSERT_EQ(t.switches()[0].ports.size(), 8U);
  for (const domain::SwitchPort& port : t.switches()[0].ports) EXPECT_EQ(port.lanes, 5 + 5 + 4 + 4);
  EXPECT_EQ(t.model(), "H100-SXM5-80GB");
  EXPECT_EQ(t.nics()[0].name, "mlx5_0");
  EXPECT_EQ(t.nics()[0].pci, "0000:0c:00.0");
  EXPECT_EQ(t.nics()[0].gbps, 22.5);
  EXPECT_EQ(t.nics()[0].paths[0], LinkKind::pxb);  // under the same upper switch
  EXPECT_EQ(t.nics()[0].paths[1], LinkKind::phb);
  EXPECT_EQ(t.nics()[0].paths[4], LinkKind::sys);
}

TEST(NcclXml, StaticCloudFileTakesGpusFromPciClasses) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/azure-ndv5-h100x8.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.chip(3).pci, "0008:00:00.0");
  EXPECT_EQ(got->topology.chip(4).numa, 1);
  EXPECT_EQ(got->topology.nics()[3].paths[3], LinkKind::pix);  // one virtual switch each
  EXPECT_EQ(got->topology.nics()[3].paths[2], LinkKind::phb);
  EXPECT_THAT(all_warnings(*got), HasSubstr("PCI devices only"));
}

TEST(NcclXml, DevIsTheIndexNotTheOrder) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/rccl-8p_940vm.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.chip(1).pci, "0021:00:00.0");
  EXPECT_EQ(got->topology.chip(0).pci, "0011:00:00.0");
}

TEST(NcclXml, SelfLinksOfTheAzureFileAreLeftOutWithAWarning) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nccl_xml(topology_file("nccl-xml/azure-ncv4-a100pciex4.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->warnings.size(), 4U);
  EXPECT_THAT(got->warnings[0],
              HasSubstr("line 5, column 10 (<nvlink>): chip 0 has a link to itself"));
  EXPECT_EQ(got->topology.model(), "A100-PCIE-80GB");
}

TEST(NcclXml, ModelOptionDecidesRates) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  ImportOptions options;
  options.model = "B200";
  const auto got = import_nccl_xml(topology_file("nccl-xml/oci-h100x8-dump.xml"), options);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.switches()[0].gbps_per_lane, 40.1);
  EXPECT_EQ(got->topology.chip(0).model, "B200");
}

// Two GPUs of sm 70 whose <nvlink> elements are given.
std::string two_gpus(const std::string& links_of_0, const std::string& links_of_1) {
  return "<system version=\"1\"><cpu numaid=\"-1\">"
         "<pci busid=\"0000:01:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"70\">" +
         links_of_0 +
         "</gpu></pci><pci busid=\"00000000:0A:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
         "device=\"0x1db1\">"
         "<gpu dev=\"1\" sm=\"70\">" +
         links_of_1 + "</gpu></pci></cpu></system>";
}
std::string nvlink(const std::string& target, int count,
                   const std::string& target_class = "0x030200") {
  return "<nvlink target=\"" + target + "\" count=\"" + std::to_string(count) + "\" tclass=\"" +
         target_class + "\"/>";
}

TEST(NcclXml, BothDirectionsAgree) {
  const auto got =
      import_nccl_xml(two_gpus(nvlink("0000:0a:00.0", 2), nvlink("0000:01:00.0", 2)), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 NVLINK x2 20"));
  EXPECT_THAT(got->warnings, testing::IsEmpty());
  EXPECT_EQ(got->topology.chip(1).pci, "0000:0a:00.0");
  EXPECT_EQ(got->topology.chip(1).model, "V100-SXM2-16GB");
  EXPECT_EQ(got->topology.chip(1).numa, -1);
}

TEST(NcclXml, SeveralElementsToOnePeerAddUp) {
  const auto got = import_nccl_xml(
      two_gpus(nvlink("0000:0a:00.0", 1) + nvlink("0000:0a:00.0", 1), nvlink("0000:01:00.0", 2)),
      {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 NVLINK x2 20"));
}

TEST(NcclXml, ContradictingCountsGiveTheSmallerAndAWarning) {
  const auto got =
      import_nccl_xml(two_gpus(nvlink("0000:0a:00.0", 2), nvlink("0000:01:00.0", 1)), {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 NVLINK x1 20"));
  EXPECT_THAT(all_warnings(*got),
              HasSubstr("chips 0 and 1 disagree on their link: 2 lanes from 0, 1 from 1"));
}

TEST(NcclXml, OneSidedLinkIsNoLink) {
  const auto got = import_nccl_xml(two_gpus(nvlink("0000:0a:00.0", 2), ""), {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology), ElementsAre());
  EXPECT_THAT(all_warnings(*got), HasSubstr("left out"));
}

TEST(NcclXml, InvisiblePeersAreASwitch) {
  const std::string hidden = nvlink("fffffff:ffff:ff", 6, "");
  const auto got = import_nccl_xml(two_gpus(hidden, hidden), {});
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->topology.switches().size(), 1U);
  EXPECT_EQ(got->topology.switches()[0].ports[1].lanes, 6);
}

TEST(NcclXml, PowerCpuBridgesAreAWarningOnly) {
  const std::string to_cpu = nvlink("0004:00:00.0", 3, "0x068001");
  const auto got = import_nccl_xml(two_gpus(to_cpu, to_cpu), {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_TRUE(got->topology.switches().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("2 NVLinks lead to CPUs"));
}

TEST(NcclXml, AbsentPeerIsLeftOut) {
  const auto got = import_nccl_xml(two_gpus(nvlink("0000:77:00.0", 2), ""), {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.switches().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("\"0000:77:00.0\", which is not a GPU of this file"));
}

TEST(NcclXml, UnknownAttributesAndElementsAreSkipped) {
  const auto got = import_nccl_xml(
      "<system version=\"1\" colour=\"red\"><cpu numaid=\"0\" moon=\"full\"><weather/><pci "
      "busid=\"1:00:00.0\" "
      "class=\"0x030200\" tide=\"low\"><gpu dev=\"4\" sm=\"80\"><c2c bw=\"1\" "
      "count=\"2\"/></gpu><pcilink "
      "target=\"x\"/></pci></cpu><extra><gpu dev=\"9\"/></extra></system>",
      {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 1);
  EXPECT_EQ(got->topology.chip(0).index.value, 4);
}

TEST(NcclGraph, NamesChipsAndTheirPathOnly) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const std::string content = topology_file("nccl-xml/azure-ncv4-graph.xml");
  ASSERT_TRUE(looks_like_nccl_graph(content));
  EXPECT_FALSE(looks_like_nccl_xml(content));
  const auto got = import_nccl_graph(content, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->format, "nccl-graph");
  EXPECT_EQ(got->topology.chip_count(), 4);
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_EQ(pairs_of(got->topology, LinkKind::sys), 6);
  EXPECT_THAT(all_warnings(*got), HasSubstr("not a topology"));
}

TEST(NcclGraph, HostKindsOfTypeintraHold) {
  const auto got = import_nccl_graph(
      "<graphs version=\"1\"><graph typeintra=\"PHB\"><channel><gpu dev=\"3\"/><gpu "
      "dev=\"1\"/></channel></graph>"
      "</graphs>",
      {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::phb);
  EXPECT_EQ(got->topology.chip(1).index.value, 3);
  const auto fast = import_nccl_graph(
      "<graphs version=\"1\"><graph typeintra=\"NVL\"><channel><gpu dev=\"0\"/><gpu "
      "dev=\"1\"/></channel></graph>"
      "</graphs>",
      {});
  ASSERT_TRUE(fast.ok());
  EXPECT_EQ(fast->topology.host_path(0, 1), LinkKind::sys);
  EXPECT_EQ(fast->warnings.size(), 2U);
}

TEST(NcclXml, GpusThatAreNotReadOrNotLinkedAreNamed) {
  const auto gpu = [](int i, const std::string& inside) {
    const std::string n = std::to_string(i);
    return "<pci busid=\"0000:0" + n +
           ":00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s\" "
           "link_width=\"264\"><gpu dev=\"" +
           n + "\" sm=\"80\">" + inside + "</gpu></pci>";
  };
  const std::string to_switch =
      "<nvlink target=\"ffff:ff:00.0\" count=\"12\" tclass=\"0x068000\"/>";
  const std::string cpu = "<cpu numaid=\"0\">" + gpu(0, to_switch) + gpu(1, to_switch) +
                          gpu(2, "") + "<gpu dev=\"3\"/></cpu>";
  const auto got = import_nccl_xml("<system version=\"1\">" + cpu + gpu(4, "") + "</system>", {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 3);
  EXPECT_EQ(got->topology.host_bandwidth().pix, 24);  // no share of a width that no link has
  EXPECT_THAT(all_warnings(*got), HasSubstr("2 <gpu> elements are not in a <pci> of their own"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("unlike others: 2"));
  const std::string one = "<system version=\"1\">" + cpu + "</system>";
  EXPECT_THAT(import_nccl_xml(one + one, {}).error().text(), HasSubstr("second root element"));
}

}  // namespace
}  // namespace chipweave::codec
