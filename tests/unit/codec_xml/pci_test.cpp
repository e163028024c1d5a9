#include "common/codec/topology/hardware/pci.hpp"

#include <gtest/gtest.h>

#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/hardware/host_tree.hpp"

namespace chipweave::codec {
namespace {

TEST(Pci, BusIdsOfAllToolsCompareEqual) {
  EXPECT_EQ(normalize_bus_id("00000000:1A:00.0"), "0000:1a:00.0");
  EXPECT_EQ(normalize_bus_id(" 0000:1a:00.0\n"), "0000:1a:00.0");
  EXPECT_EQ(normalize_bus_id("00010000:1A:00.0"), "10000:1a:00.0");
  EXPECT_EQ(normalize_bus_id("ffff:ff:01.0"), "ffff:ff:01.0");
  EXPECT_EQ(normalize_bus_id("fffffff:ffff:ff"), "fffffff:ffff:ff");
  EXPECT_EQ(normalize_bus_id(""), "");
  EXPECT_EQ(normalize_bus_id("00000"), "00000");
}

TEST(Pci, GenerationsByTransferRate) {
  EXPECT_EQ(pcie_generation_of_gts(0), 0);
  EXPECT_EQ(pcie_generation_of_gts(2.5), 3);
  EXPECT_EQ(pcie_generation_of_gts(8), 3);
  EXPECT_EQ(pcie_generation_of_gts(16), 4);
  EXPECT_EQ(pcie_generation_of_gts(32), 5);
  EXPECT_EQ(pcie_generation_of_gts(64), 6);
}

TEST(DeviceModels, ArchitecturesGiveTheLibrariesRates) {
  EXPECT_EQ(nvlink_gbps_of_sm(60), 18.0);
  EXPECT_EQ(nvlink_gbps_of_sm(80), 20.0);
  EXPECT_EQ(nvlink_gbps_of_sm(86), 12.0);
  EXPECT_EQ(nvlink_gbps_of_sm(90), 20.6);
  EXPECT_EQ(nvlink_gbps_of_sm(103), 40.1);
  EXPECT_EQ(nvlink_gbps_of_sm(52), std::nullopt);
  EXPECT_EQ(xgmi_gbps_of_arch("910"), 36.0);
  EXPECT_EQ(xgmi_gbps_of_arch("gfx942"), 48.0);
  EXPECT_EQ(xgmi_gbps_of_arch(""), std::nullopt);
  EXPECT_EQ(arch_of_gfx_version(90010), "gfx90a");
  EXPECT_EQ(arch_of_gfx_version(90402), "gfx942");
  EXPECT_EQ(model_of_device(kPciNvidia, 0x2330), "H100-SXM5-80GB");
  EXPECT_EQ(model_of_device(kPciAmd, 0x2330), "");
}

TEST(HostTree, SwitchPortsCountAsOneSwitchWhereTheyAreNodes) {
  HostTree tree(1);
  const int root = tree.add(0, HostTree::Level::root_complex, 0);
  const int upstream = tree.add(root, HostTree::Level::bridge);
  const int one = tree.add(tree.add(upstream, HostTree::Level::bridge), HostTree::Level::device);
  const int port = tree.add(upstream, HostTree::Level::bridge);
  const int two = tree.add(port, HostTree::Level::device);
  const int deep =
      tree.add(tree.add(tree.add(upstream, HostTree::Level::bridge), HostTree::Level::bridge),
               HostTree::Level::device);
  const int beside = tree.add(root, HostTree::Level::device);
  const int near = tree.add(tree.add(0, HostTree::Level::root_complex, 0), HostTree::Level::device);
  const int far = tree.add(tree.add(0, HostTree::Level::root_complex, -1), HostTree::Level::device);
  const int farther =
      tree.add(tree.add(0, HostTree::Level::root_complex, -1), HostTree::Level::device);
  using domain::LinkKind;
  EXPECT_EQ(tree.path(one, two), LinkKind::pix);
  EXPECT_EQ(tree.path(one, deep), LinkKind::pxb);
  EXPECT_EQ(tree.path(one, beside), LinkKind::phb);
  EXPECT_EQ(tree.path(one, near), LinkKind::node);
  EXPECT_EQ(tree.path(one, far), LinkKind::sys);
  EXPECT_EQ(tree.path(far, farther), LinkKind::sys);
}

}  // namespace
}  // namespace chipweave::codec
