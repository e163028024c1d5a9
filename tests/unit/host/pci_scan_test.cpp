#include "node-agent/probes/host/pci/pci_scan.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;
using domain::LinkKind;
using testing::HasSubstr;

class FakeSys : public testing::Test, public SysFolder {
 protected:
  Result<domain::Observation> scan() const {
    return pci_observation(scan_host(tree()), domain::VendorId::unknown, "/sys/bus/pci/devices/");
  }
};

TEST_F(FakeSys, FindsChipsPathsAndNics) {
  device("pci0000:10/0000:10:00.0/0000:11:00.0/0000:12:00.0/0000:13:00.0", "0x030200", "0x10de",
         "0x20b0", 0);
  device("pci0000:10/0000:10:00.0/0000:11:00.0/0000:12:08.0/0000:14:00.0", "0x030200", "0x10de",
         "0x20b0", 0);
  device("pci0000:10/0000:10:01.0/0000:20:00.0", "0x030200", "0x10de", "0x20b0", 0);
  device("pci0000:40/0000:40:01.0/0000:41:00.0", "0x030200", "0x10de", "0x20b0", 0);
  device("pci0000:80/0000:80:01.0/0000:81:00.0", "0x030200", "0x10de", "0x20b0", 1);
  device("pci0000:00/0000:00:1f.0/0000:02:00.0", "0x030000", "0x1a03", "0x2000",
         0);  // the board's own graphics
  const std::string nic = "pci0000:10/0000:10:00.0/0000:11:00.0/0000:12:10.0/0000:15:00.0";
  device(nic, "0x020700", "0x15b3", "0x101b", 0);
  write("/sys/devices/" + nic + "/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  write("/sys/devices/" + nic + "/net/ib0/speed", "200000\n");
  write(
      "/sys/devices/pci0000:10/0000:10:00.0/0000:11:00.0/0000:12:00.0/0000:13:00.0/max_link_speed",
      "16.0 GT/s PCIe\n");
  write("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  const auto got = scan();
  ASSERT_TRUE(got) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(t.vendor(), "nvidia");
  ASSERT_EQ(t.chip_count(), 5);
  EXPECT_EQ(t.chip(0).pci, "0000:13:00.0");
  EXPECT_EQ(t.chip(4).numa, 1);
  EXPECT_EQ(t.host_path(0, 1), LinkKind::pix);
  EXPECT_EQ(t.host_path(0, 2), LinkKind::phb);
  EXPECT_EQ(t.host_path(0, 3), LinkKind::node);
  EXPECT_EQ(t.host_path(0, 4), LinkKind::sys);
  EXPECT_EQ(t.host_bandwidth().pix, 24);
  ASSERT_EQ(t.nics().size(), 1U);
  EXPECT_EQ(t.nics()[0].name, "mlx5_0");
  EXPECT_EQ(t.nics()[0].gbps, 25);
  EXPECT_EQ(t.nics()[0].paths[0], LinkKind::pix);
  EXPECT_EQ(t.nics()[0].paths[2], LinkKind::phb);
  EXPECT_EQ(t.nics()[0].paths[4], LinkKind::sys);
  ASSERT_FALSE(got->warnings.empty());
  EXPECT_THAT(got->warnings.back(), HasSubstr("not visible"));
  // For other vendors, the number does not identify a chip.
  EXPECT_THAT(got->signals, testing::IsEmpty());
  EXPECT_EQ(got->facts.count("identity"), 0U);
}

TEST_F(FakeSys, KnowsAcceleratorsFromGraphicsAndSlices) {
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i);
    device("pci0000:" + n + "0/0000:" + n + "0:00.0/0000:" + n + "1:00.0", "0x120000", "0x19e5",
           "0xd802", 0);
  }
  device("pci0000:00/0000:00:01.0/0000:01:00.0", "0x030000", "0x19e5", "0x1711",
         0);  // Huawei's board controller
  device("pci0000:10/0000:10:00.0/0000:11:00.1", "0x120000", "0x19e5", "0xd802", 0);
  fs::create_directory_symlink("../0000:11:00.0",
                               root() + "/sys/devices/pci0000:10/0000:10:00.0/0000:11:00.1/physfn");
  device("pci0000:00/0000:00:02.0", "0x030000", "0x1002", "0x164e",
         0);  // graphics of the processor
  device("pci0000:50/0000:50:00.0/0000:51:00.0", "0x030200", "0x10de", "0x20b0", 1);
  const auto got = scan();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.vendor(), "ascend");
  EXPECT_EQ(got->topology.chip_count(), 4);
  EXPECT_EQ(got->topology.model(), "Ascend910B");
  EXPECT_EQ(got->topology.chip(0).id, "npu-at-0000:11:00.0");
  ASSERT_EQ(got->signals.size(), 1U);
  EXPECT_EQ(got->signals[0].code, "ascend.identity-unknown");
  EXPECT_THAT(got->warnings.front(), HasSubstr("1 accelerators of vendor nvidia are left out"));
}

TEST_F(FakeSys, AMachineWithoutAcceleratorsIsNotFound) {
  const auto empty = scan();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Errc::not_found);
  EXPECT_THAT(empty.error().message, HasSubstr("no accelerators"));
  device("pci0000:00/0000:00:02.0", "0x020000", "0x8086", "0x10fb", 0);
  EXPECT_FALSE(scan());
}

TEST_F(FakeSys, NonsenseInFilesIsNoCrash) {
  device("pci0000:10/0000:10:00.0/0000:11:00.0", "0x030200", "0x10de", "zz", -1);
  device("pci0000:20/0000:20:00.0/0000:21:00.0", "0x030200", "0x10de", "", 0);
  device("pci0000:30/0000:30:00.0/0000:31:00.0", "rubbish", "0x10de", "0x1", 0);
  write("/sys/devices/pci0000:10/0000:10:00.0/0000:11:00.0/max_link_speed", "nan GT/s");
  fs::create_symlink("nowhere", root() + "/sys/bus/pci/devices/0000:99:00.0");
  const auto got = scan();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 2);
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::sys);
}

TEST_F(FakeSys, TooManyChipsAreRefused) {
  for (int i = 0; i < 65; ++i) {
    const std::string bus = std::to_string(10 + i);
    device("pci0000:" + bus + "/0000:" + bus + ":00.0", "0x030200", "0x10de", "0x20b0", 0);
  }
  const auto got = scan();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text(), HasSubstr("65 chips"));
}

TEST(PciPath, CountsBridgesBelowWhatIsShared) {
  const auto route = [](const std::string& path) { return pci_route("/sys/devices/" + path); };
  const auto a = route("pci0000:10/p/u/d1/x");
  EXPECT_EQ(pci_path_kind(a, 0, route("pci0000:10/p/u/d2/y"), 0), LinkKind::pix);
  EXPECT_EQ(pci_path_kind(a, 0, route("pci0000:10/p/u/d2/u2/d3/y"), 0), LinkKind::pxb);
  EXPECT_EQ(pci_path_kind(a, 0, route("pci0000:10/q/y"), 0), LinkKind::phb);
  EXPECT_EQ(pci_path_kind(a, 1, route("pci0000:20/q/y"), 1), LinkKind::node);
  EXPECT_EQ(pci_path_kind(a, 1, route("pci0000:20/q/y"), 0), LinkKind::sys);
  EXPECT_EQ(pci_path_kind(a, -1, route("pci0000:20/q/y"), -1), LinkKind::sys);
  EXPECT_EQ(route("platform/soc/pci0001:00/0001:00:00.0").front(), "pci0001:00");
  EXPECT_TRUE(route("virtual/net/lo").empty());
}

}  // namespace
}  // namespace chipweave::agent
