#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Kfd, TwoHivesOfFourMi210) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_kfd_tree(kfd_archive("mi210-xgmi-pcie.tar.gz"), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(got->format, "kfd");
  ASSERT_EQ(t.chip_count(), 8);  // nodes 2 to 9
  EXPECT_EQ(t.vendor(), "amd");
  EXPECT_EQ(t.model(), "MI210");
  EXPECT_THAT(link_list(t),
              ElementsAre("0-1 XGMI x1 36", "0-2 XGMI x1 36", "0-3 XGMI x1 36", "1-2 XGMI x1 36",
                          "1-3 XGMI x1 36", "2-3 XGMI x1 36", "4-5 XGMI x1 36", "4-6 XGMI x1 36",
                          "4-7 XGMI x1 36", "5-6 XGMI x1 36", "5-7 XGMI x1 36", "6-7 XGMI x1 36"));
  EXPECT_TRUE(t.switches().empty());
  EXPECT_EQ(pairs_of(t, LinkKind::node), 12);
  EXPECT_EQ(pairs_of(t, LinkKind::sys), 16);
  EXPECT_EQ(t.chip(0).pci, "0000:63:00.0");       // location_id 25344
  EXPECT_EQ(t.chip(0).id, "0x1901ead3a2ecd4a6");  // unique_id 1801979520617338022
  EXPECT_EQ(t.chip(3).numa, 0);
  EXPECT_EQ(t.chip(4).numa, 1);
  EXPECT_EQ(t.host_bandwidth().pix, 24);  // 32000 MB/s: generation 4
  EXPECT_THAT(got->warnings, testing::IsEmpty());
}

TEST(Kfd, PartitionsOfEightMi300x) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_kfd_tree(kfd_archive("mi300x-cpx-64part.tar.gz"), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(t.chip_count(), 63);  // nodes 2 to 64
  EXPECT_EQ(t.model(), "MI300X");
  EXPECT_EQ(t.links().size(), 217U);  // 434 link files of weight 13, both directions
  for (const domain::DirectLink& link : t.links()) {
    EXPECT_EQ(link.kind, LinkKind::xgmi);
    EXPECT_EQ(link.lanes, 1);
    EXPECT_EQ(link.gbps_per_lane, 819.2);
    EXPECT_EQ(link.a / 8, link.b / 8);
  }
  EXPECT_EQ(pairs_of(t, LinkKind::board), 217);
  EXPECT_EQ(t.chip(1).pci, "0000:05:00.1");  // location_id 1281
  EXPECT_EQ(t.chip(1).id, t.chip(0).id + "-1");
  EXPECT_EQ(t.chip(62).numa, 1);
  EXPECT_EQ(t.host_bandwidth().pix, 48);  // 64000 MB/s: generation 5
  EXPECT_THAT(all_warnings(*got), HasSubstr("1736 pairs"));
}

TEST(Kfd, DesktopTreeOfAnOldKernel) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_kfd_tree(kfd_archive("vega10-single.tar.gz"), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 2);  // nodes 1 and 2 have render devices 128 and 129
  EXPECT_EQ(got->topology.model(), "Vega10");
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::node);
  EXPECT_EQ(got->topology.chip(0).memory_bytes, 17163091968ULL);
  // Node 2 of this tree lists a link of node 1.
  EXPECT_THAT(all_warnings(*got), HasSubstr("1 links have another node_from"));
}

std::string node(int simds, int cores, int minor) {
  return "cpu_cores_count " + std::to_string(cores) + "\nsimd_count " + std::to_string(simds) +
         "\nvendor_id 4098\ndevice_id 29704\nlocation_id 256\ndomain 0\ndrm_render_minor " +
         std::to_string(minor) + "\ngfx_target_version 90010\n";
}
std::string link(int type, int from, int to, int weight, int low, int high) {
  return "type " + std::to_string(type) + "\nnode_from " + std::to_string(from) + "\nnode_to " +
         std::to_string(to) + "\nweight " + std::to_string(weight) + "\nmin_bandwidth " +
         std::to_string(low) + "\nmax_bandwidth " + std::to_string(high) + "\n";
}
FileTree two_kfd_gpus() {
  return {{"sys/topology/nodes/0/properties", node(0, 8, 0)},
          {"sys/topology/nodes/1/properties", node(304, 0, 128)},
          {"sys/topology/nodes/2/properties", node(304, 0, 129)},
          {"sys/topology/nodes/1/io_links/0/properties", link(11, 1, 2, 15, 50000, 200000)},
          {"sys/topology/nodes/2/io_links/0/properties", link(11, 2, 1, 15, 50000, 200000)}};
}

TEST(Kfd, MaximumOverMinimumIsTheNumberOfLinks) {
  const auto got = import_kfd_tree(two_kfd_gpus(), {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 XGMI x4 36"));
  EXPECT_THAT(got->host.render_minors, ElementsAre(testing::Pair(0, 128), testing::Pair(1, 129)));
}

TEST(Kfd, HeavierXgmiIsARouteNotALink) {
  FileTree files = two_kfd_gpus();
  files["sys/topology/nodes/1/io_links/0/properties"] = link(11, 1, 2, 30, 0, 0);
  files["sys/topology/nodes/2/io_links/0/properties"] = link(11, 2, 1, 30, 0, 0);
  const auto got = import_kfd_tree(files, {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("1 pairs are connected over XGMI only"));
}

TEST(Kfd, OneSidedLinkIsLeftOut) {
  FileTree files = two_kfd_gpus();
  files.erase("sys/topology/nodes/2/io_links/0/properties");
  const auto got = import_kfd_tree(files, {});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->topology.links().empty());
  EXPECT_THAT(all_warnings(*got), HasSubstr("disagree on their link"));
}

TEST(Kfd, NodeWithoutRenderDeviceIsNoChip) {
  FileTree files = two_kfd_gpus();
  files["sys/topology/nodes/2/properties"] = node(304, 0, -1);
  const auto got = import_kfd_tree(files, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 1);
}

TEST(Kfd, NodeWithoutPropertiesIsLeftOutWithAWarning) {
  FileTree files = two_kfd_gpus();
  files["sys/topology/nodes/3/gpu_id"] = "77\n";
  const auto got = import_kfd_tree(files, {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.chip_count(), 2);
  EXPECT_THAT(all_warnings(*got), HasSubstr("node 3 has no properties"));
}

TEST(Kfd, WhatIsMissingOrSaidTwiceIsNamed) {
  FileTree files = two_kfd_gpus();
  files["sys/topology/nodes/4/properties"] = node(304, 0, 130);
  files["sys/topology/nodes/2/io_links/1/properties"] = link(11, 2, 9, 15, 0, 0);
  files["sys/topology/nodes/1/p2p_links/0/properties"] = link(11, 1, 2, 15, 50000, 200000);
  const auto got = import_kfd_tree(files, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_THAT(link_list(got->topology), ElementsAre("0-1 XGMI x4 36"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("node 3 is missing"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("1 links to nodes without a description"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("1 links repeat one"));
  EXPECT_THAT(all_warnings(*got), HasSubstr("chip 1 has the bus id of another"));
  EXPECT_EQ(got->topology.chip(1).pci, "");
}

TEST(Kfd, BadValuesNameTheFile) {
  const auto error_with = [](const std::string& path, const std::string& text) {
    FileTree files = two_kfd_gpus();
    files[path] = text;
    const auto got = import_kfd_tree(files, {});
    return got.ok() ? "" : got.error().text();
  };
  const std::string of_node = "sys/topology/nodes/1/properties";
  const std::string of_link = "sys/topology/nodes/1/io_links/0/properties";
  EXPECT_EQ(error_with(of_node, "simd_count many\n"),
            of_node + ": line 1: expected a key and a number, got \"simd_count many\"");
  EXPECT_EQ(error_with(of_node, ""), of_node + ": simd_count is missing");
  EXPECT_EQ(error_with(of_node, "simd_count 4\ncpu_cores_count 0\n"),
            of_node + ": drm_render_minor is missing");
  EXPECT_EQ(error_with(of_node, "simd_count 18446744073709551615\n"),
            of_node + ": simd_count is out of range");
  EXPECT_EQ(error_with(of_link, "type 11\n"), of_link + ": node_from is missing");
  EXPECT_EQ(error_with(of_link, link(11, 1, 1, 15, 0, 0)),
            of_link + ": node 1 is linked with itself");
  EXPECT_EQ(error_with(of_link, link(11, 1, 2, -3, 0, 0)),
            of_link + ": weight must not be negative, got -3");
  EXPECT_EQ(error_with(of_node, node(304, 0, 128) + "domain 1\n"),
            of_node + ": line 9: duplicate key \"domain\"");
  EXPECT_EQ(error_with(of_link, link(11, 1, -4, 15, 0, 0)),
            of_link + ": node_to must be a node, got -4");
  EXPECT_THAT(error_with("other/nodes/0/properties", node(0, 8, 0)), HasSubstr("two KFD trees"));
}

TEST(Kfd, WhatIsNoTree) {
  EXPECT_THAT(import_kfd_tree({}, {}).error().text(), HasSubstr("not a KFD tree"));
  EXPECT_THAT(import_kfd_tree({{"readme", "x"}, {"nodes", ""}, {"nodes/x/properties", ""}}, {})
                  .error()
                  .text(),
              HasSubstr("not a KFD tree"));
  EXPECT_THAT(import_kfd_tree({{"nodes/0/properties", node(0, 8, 0)}}, {}).error().text(),
              HasSubstr("no usable GPU"));
}

TEST(Kfd, SixtyFiveGpusAreTooMany) {
  FileTree files;
  for (int i = 0; i < 65; ++i)
    files["nodes/" + std::to_string(i) + "/properties"] = node(4, 0, 128 + i);
  const auto got = import_kfd_tree(files, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Errc::limit_exceeded);
  files.erase("nodes/64/properties");
  EXPECT_TRUE(import_kfd_tree(files, {}).ok());
}

}  // namespace
}  // namespace chipweave::codec
