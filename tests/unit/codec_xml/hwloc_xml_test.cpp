#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using testing::ElementsAre;
using testing::HasSubstr;

// Read manually from the files' object trees.
struct HwlocFile {
  const char* name;
  int chips;
  std::size_t links;
  std::size_t nics;
  const char* vendor;
  const char* model;
  std::vector<int> numa;
  int pix, node, sys;
};

const HwlocFile kHwlocFiles[] = {
    {"chimera-mixed-vendors.xml", 2, 0, 3, "mixed", "", {0, 2}, 0, 0, 1},
    {"corona-mi60-epyc.xml", 4, 0, 3, "amd", "Vega20", {1, 2, 5, 7}, 0, 0, 6},
    {"lassen-power9-v100x4.xml", 4, 0, 6, "nvidia", "V100-SXM2-16GB", {0, 0, 8, 8}, 2, 0, 4},
    {"pascal-p100pcie-x2.xml", 2, 0, 3, "nvidia", "P100-PCIE-16GB", {0, 0}, 1, 0, 0},
    {"power8-p100x4-nvlinkbandwidth.xml",
     4,
     2,
     0,
     "nvidia",
     "P100-SXM2-16GB",
     {0, 0, 1, 1},
     0,
     2,
     4},
    {"tioga-mi250x-8gcd.xml", 8, 4, 5, "amd", "MI250X", {3, 3, 1, 1, 0, 0, 2, 2}, 0, 4, 24},
};

class HwlocFiles : public testing::TestWithParam<HwlocFile> {};

TEST_P(HwlocFiles, HoldWhatTheySay) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const HwlocFile& want = GetParam();
  const std::string content = topology_file(std::string("hwloc/") + want.name);
  ASSERT_TRUE(looks_like_hwloc_xml(content));
  EXPECT_FALSE(looks_like_nccl_xml(content));
  const Result<ImportedTopology> got = import_hwloc_xml(content, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(got->format, "hwloc-xml");
  ASSERT_EQ(t.chip_count(), want.chips);
  EXPECT_EQ(t.links().size(), want.links);
  EXPECT_TRUE(t.switches().empty());
  EXPECT_EQ(t.nics().size(), want.nics);
  EXPECT_EQ(t.vendor(), want.vendor);
  EXPECT_EQ(t.model(), want.model);
  for (int slot = 0; slot < want.chips; ++slot) {
    EXPECT_EQ(t.chip(slot).index.value, slot);
    EXPECT_EQ(t.chip(slot).numa, want.numa[static_cast<std::size_t>(slot)]) << slot;
  }
  EXPECT_EQ(pairs_of(t, LinkKind::pix), want.pix);
  EXPECT_EQ(pairs_of(t, LinkKind::node), want.node);
  EXPECT_EQ(pairs_of(t, LinkKind::sys), want.sys);
}

INSTANTIATE_TEST_SUITE_P(All, HwlocFiles, testing::ValuesIn(kHwlocFiles), [](const auto& param) {
  const std::string name = param.param.name;
  return name.substr(0, name.find('-'));
});

TEST(HwlocXml, IntegratedGpuIsTakenFromTheProductName) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/dgx-spark-gb10.xml"), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 1);
  EXPECT_EQ(got->topology.model(), "GB10");
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("product name"));
}

TEST(HwlocXml, FileWithoutAnyGpuIsAnError) {
  const auto got = import_hwloc_xml(
      "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\"/></topology>", {});
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().text(), HasSubstr("no NVIDIA or AMD GPU"));
}

TEST(HwlocXml, Power8LinksFromTheMatrixWithoutItsCpus) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/power8-p100x4-nvlinkbandwidth.xml"), {});
  ASSERT_TRUE(got.ok());
  // 40000 MB/s are two links of NVLink 1.
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 NVLINK x2 18", "2-3 NVLINK x2 18"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("4 GPUs have NVLinks to CPUs"));
  EXPECT_EQ(got->topology.chip(2).pci, "000a:01:00.0");
  EXPECT_EQ(got->topology.chip(2).id, "GPU-ea919830-8251-6a30-e379-daeb01448779");
  EXPECT_EQ(got->topology.chip(2).memory_bytes, 16671616ULL * 1024);
}

TEST(HwlocXml, TiogaMatrixOfOneConstantIsNotTheWiring) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/tioga-mi250x-8gcd.xml"), {});
  ASSERT_TRUE(got.ok());
  // The file says 100000 MB/s for all 28 pairs and one hop for all of them. An MI250X die has 8
  // links, four of which go to the other die of its package (same AMDSerial).
  EXPECT_THAT(link_list(got->topology),
              ElementsAre("0-1 XGMI x4 36", "2-3 XGMI x4 36", "4-5 XGMI x4 36", "6-7 XGMI x4 36"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("reachable pairs, not direct links"));
  EXPECT_EQ(got->topology.chip(4).pci, "0000:d1:00.0");
  EXPECT_EQ(got->topology.chip(4).id, "e850aef0615db971");
  EXPECT_EQ(got->topology.host_bandwidth().pix, 24);
}

TEST(HwlocXml, LassenHasPathsButNoMatrix) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/lassen-power9-v100x4.xml"), {});
  ASSERT_TRUE(got.ok());
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(t.host_path(0, 1), LinkKind::pix);
  EXPECT_EQ(t.host_path(0, 2), LinkKind::sys);
  EXPECT_THAT(all_warnings(*got), HasSubstr("no NVLinkBandwidth matrix"));
  std::vector<std::string> names;
  for (const domain::Nic& nic : t.nics()) names.push_back(nic.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                                   "enP5p1s0f0", "enP5p1s0f1"));
  for (const domain::Nic& nic : t.nics()) {
    EXPECT_EQ(nic.paths[0], nic.numa == 0 ? LinkKind::node : LinkKind::sys) << nic.name;
  }
}

TEST(HwlocXml, PascalNicSharesTheSwitch) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/pascal-p100pcie-x2.xml"), {});
  ASSERT_TRUE(got.ok());
  for (const domain::Nic& nic : got->topology.nics()) {
    EXPECT_EQ(nic.paths[0], nic.name == "mlx5_0" ? LinkKind::pix : LinkKind::phb) << nic.name;
  }
}

TEST(HwlocXml, MixedVendorsAreNumberedInOrder) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_hwloc_xml(topology_file("hwloc/chimera-mixed-vendors.xml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.chip(0).model, "GeForce GTX 1070");
  EXPECT_EQ(got->topology.chip(1).model, "Vega10");
  EXPECT_THAT(all_warnings(*got), HasSubstr("numbered in the order of the file"));
}

// GPUs of one root complex with the given PCI type, tool and model, and a distance matrix.
std::string machine(int gpus, const std::string& pci_type, const std::string& tool,
                    const std::string& matrix, const std::string& more_objects = "") {
  std::string out =
      "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"NUMANode\" "
      "os_index=\"5\"/>"
      "<object type=\"Bridge\" bridge_type=\"0-1\">";
  for (int i = 0; i < gpus; ++i) {
    const std::string n = std::to_string(i);
    out += "<object type=\"PCIDev\" gp_index=\"10" + n + "\" pci_busid=\"0000:0" + n +
           ":00.0\" pci_type=\"" + pci_type + "\"><object type=\"OSDev\" gp_index=\"20" + n +
           "\" name=\"" + tool + n + "\"/></object>";
  }
  return out + more_objects + "</object></object>" + matrix + "</topology>";
}
std::string matrix(const std::string& name, int size, const std::string& indexes,
                   const std::string& values) {
  return "<distances2 type=\"OSDev\" nbobjs=\"" + std::to_string(size) + "\" name=\"" + name +
         "\" indexing=\"gp\"><indexes>" + indexes + "</indexes><u64values>" + values +
         "</u64values></distances2>";
}

TEST(HwlocXml, MemoryChildGivesTheNumaNodeAndOneRootComplexIsPhb) {
  const auto got = import_hwloc_xml(machine(2, "0302 [10de:1db1] [0:0] a1", "nvml", ""), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip(1).numa, 5);
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::phb);
}

TEST(HwlocXml, XgmiBandwidthWithDifferentValuesCountsLinks) {
  const auto got =
      import_hwloc_xml(machine(3, "0380 [1002:7408] [0:0] 00", "rsmi",
                               matrix("XGMIBandwidth", 3, "200 201 202",
                                      "0 200000 50000 200000 0 100000 50000 100000 0")),
                       {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_THAT(link_list(got->topology),
              ElementsAre("0-1 XGMI x4 36", "0-2 XGMI x1 36", "1-2 XGMI x2 36"));
}

TEST(HwlocXml, XgmiConstantOverAMeshThatExistsIsOneLinkAPair) {
  const auto got = import_hwloc_xml(
      machine(3, "0380 [1002:74a1] [0:0] 00", "rsmi",
              matrix("XGMIBandwidth", 3, "200 201 202",
                     "1000000 100000 100000 100000 1000000 100000 100000 100000 1000000")),
      {});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(link_list(got->topology),
              ElementsAre("0-1 XGMI x1 48", "0-2 XGMI x1 48", "1-2 XGMI x1 48"));
}

TEST(HwlocXml, XgmiHopsAloneGivesNoLinks) {
  const auto got = import_hwloc_xml(
      machine(2, "0380 [1002:7408] [0:0] 00", "rsmi", matrix("XGMIHops", 2, "200 201", "0 1 1 0")),
      {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("XGMIHops does not tell"));
}

TEST(HwlocXml, NvlinkToSwitchesBecomesPorts) {
  const std::string nvswitch =
      "<object type=\"PCIDev\" gp_index=\"300\" pci_type=\"0680 [10de:1af1] [0:0] a1\"/>"
      "<object type=\"PCIDev\" gp_index=\"301\" pci_type=\"0680 [10de:1af1] [0:0] a1\"/>";
  const auto got =
      import_hwloc_xml(machine(2, "0302 [10de:20b0] [0:0] a1", "nvml",
                               "<distances2hetero nbobjs=\"4\" "
                               "name=\"NVLinkBandwidth\"><indexes>OSDev:200 OSDev:201 PCIDev:300 "
                               "PCIDev:301</indexes><u64values>0 0 50000 "
                               "100000</u64values><u64values>0 0 50000 100000 50000 50000 0 0 "
                               "100000 100000 0 0</u64values></distances2hetero>",
                               nvswitch),
                       {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_TRUE(got->topology.links().empty());
  ASSERT_EQ(got->topology.switches().size(), 1U);
  EXPECT_EQ(got->topology.switches()[0].gbps_per_lane, 20);
  EXPECT_EQ(got->topology.switches()[0].ports[0].lanes, 6);
}

TEST(HwlocXml, GpusSeenAsOsDevicesOnly) {
  const auto got = import_hwloc_xml(
      "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"OSDev\" "
      "name=\"cuda0\"/><object type=\"OSDev\" "
      "name=\"nvml1\"><info name=\"GPUVendor\" value=\"NVIDIA Corporation\"/></object><object "
      "type=\"OSDev\" "
      "name=\"nvml0\"/></object></topology>",
      {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 2);
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::sys);
}

TEST(HwlocXml, BmcGraphicsAreNoGpus) {
  const auto got = import_hwloc_xml(machine(2, "0300 [1a03:2000] [0:0] 41", "card", ""), {});
  EXPECT_FALSE(got.ok());
}

TEST(HwlocXml, BrokenMatricesAreErrors) {
  const auto with = [](const std::string& text) {
    return import_hwloc_xml(machine(2, "0302 [10de:1db1] [0:0] a1", "nvml", text), {});
  };
  EXPECT_THAT(with(matrix("NVLinkBandwidth", 2, "200 201", "0 50000 50000")).error().text(),
              HasSubstr("3 values"));
  EXPECT_THAT(with(matrix("NVLinkBandwidth", 2, "200 x", "0 0 0 0")).error().text(),
              HasSubstr("<indexes>"));
  EXPECT_THAT(with(matrix("NVLinkBandwidth", 0, "", "")).error().text(), HasSubstr("nbobjs"));
  EXPECT_THAT(with(matrix("NVLinkBandwidth", 100000, "1", "1")).error().text(),
              HasSubstr("nbobjs"));
  EXPECT_THAT(
      with(matrix("NVLinkBandwidth", 2, "200 201", "0 18446744073709551615 1 0")).error().text(),
      HasSubstr("more than links can have"));
}

TEST(HwlocXml, OfTwoMatricesTheFirstIsUsed) {
  const std::string one = matrix("NVLinkBandwidth", 2, "200 201", "0 50000 50000 0");
  const auto got = import_hwloc_xml(machine(2, "0302 [10de:1db1] [0:0] a1", "nvml", one + one), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 NVLINK x2 20"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("several matrices NVLinkBandwidth"));
}

TEST(HwlocXml, SixtyFiveGpusAreTooManyHoweverTheyAreSeen) {
  std::string devices;
  for (int i = 0; i < 65; ++i) {
    devices += "<object type=\"OSDev\" name=\"nvml" + std::to_string(i) + "\"/>";
  }
  EXPECT_THAT(import_hwloc_xml("<topology version=\"2.0\"><object type=\"Machine\">" + devices +
                                   "</object></topology>",
                               {})
                  .error()
                  .text(),
              HasSubstr("more than 64 GPUs"));
}

TEST(HwlocXml, ANumaNodeWithoutNumberIsUnknown) {
  const auto got = import_hwloc_xml(
      "<topology version=\"1.0\"><object type=\"Machine\"><object type=\"NUMANode\"><object "
      "type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:1db1] [0:0] a1\"/></object>"
      "</object></topology>",
      {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip(0).numa, -1);
}

}  // namespace
}  // namespace chipweave::codec
