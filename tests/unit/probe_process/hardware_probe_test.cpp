// The probe of any hardware, with constructed sysfs trees and fake driver libraries.
#include "node-agent/probe_process/hardware_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;
using domain::LinkKind;
using testing::HasSubstr;
using testing::Not;

class AnyHardware : public testing::Test, public SysFolder {
 protected:
  // Options for a machine without any driver library.
  codec::HardwareOptions options() const {
    codec::HardwareOptions out;
    out.sysfs_root = root();
    out.nvml_library = "/nowhere/libnvidia-ml.so.1";
    out.dcmi_library = "/nowhere/libdcmi.so";
    return out;
  }
  // No changes, however often it is called; only the occasional search for a driver counts as one.
  static void settle(VendorProbe& probe) {
    int changed = 0;
    for (int i = 0; i < 8; ++i) changed += probe.changes() ? 1 : 0;
    EXPECT_LE(changed, 1);
  }
  void nvidia_card(int bus) {
    const std::string at = "0000:1" + std::to_string(bus) + ":00.0";
    device("pci0000:00/0000:00:0" + std::to_string(bus) + ".0/" + at, "0x030200", "0x10de",
           "0x2330", 0);
  }
};

TEST_F(AnyHardware, TheProbeNoticesDevicesThatComeAndGo) {
  device("pci0000:10/0000:10:00.0/0000:11:00.0", "0x030200", "0x10de", "0x20b0", 0);
  device("pci0000:20/0000:20:00.0/0000:21:00.0", "0x030200", "0x10de", "0x20b0", 0);
  const auto probe = make_hardware_probe(options());
  ASSERT_TRUE(probe->discover());
  settle(*probe);
  fs::remove(root() + "/sys/bus/pci/devices/0000:21:00.0");
  EXPECT_TRUE(probe->changes());
  const auto fewer = probe->discover();
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->topology.chip_count(), 1);
  settle(*probe);
}

TEST_F(AnyHardware, AKfdTreeIsPreferred) {
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  write(nodes + "0/properties", "cpu_cores_count 8\nsimd_count 0\n");
  write(nodes + "0/gpu_id", "0\n");
  for (int i = 1; i <= 2; ++i) {
    const std::string at = nodes + std::to_string(i);
    write(at + "/gpu_id", std::to_string(1000 + i) + "\n");
    write(at + "/properties",
          "cpu_cores_count 0\nsimd_count 440\ndrm_render_minor " + std::to_string(127 + i) +
              "\nvendor_id 4098\ndevice_id 29711\nlocation_id " + std::to_string(i * 256) +
              "\ndomain 0\nhive_id 77\nunique_id " + std::to_string(500 + i) +
              "\ngfx_target_version 90010\nio_links_count 1\n");
    write(at + "/io_links/0/properties",
          "type 11\nnode_from " + std::to_string(i) + "\nnode_to " + std::to_string(3 - i) +
              "\nweight 15\nmin_bandwidth 50000\nmax_bandwidth 50000\n");
  }
  device("pci0000:10/0000:10:00.0/0000:11:00.0", "0x030200", "0x10de", "0x20b0", 0);
  const auto got = make_hardware_probe(options())->discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.vendor(), "amd");
  EXPECT_EQ(got->topology.chip_count(), 2);
  ASSERT_NE(got->topology.link(0, 1), nullptr);
  EXPECT_EQ(got->topology.link(0, 1)->kind, LinkKind::xgmi);
}

TEST_F(AnyHardware, AnUnusableKfdTreeFallsBackToTheBus) {
  write("/sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 8\nsimd_count 0\n");
  device("pci0000:10/0000:10:00.0/0000:11:00.0", "0x030200", "0x10de", "0x20b0", 0);
  const auto got = make_hardware_probe(options())->discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.vendor(), "nvidia");
  EXPECT_THAT(got->warnings.back(), HasSubstr("no driver found: nvidia: "));
  EXPECT_THAT(got->warnings.back(), HasSubstr("amd: "));
  ASSERT_FALSE(got->signals.empty());
  EXPECT_EQ(got->signals.back().code, "driver.absent");
}

TEST_F(AnyHardware, AnInstalledDriverIsUsedAndTheHostAdded) {
  nvidia_card(0);
  nvidia_card(1);
  const std::string nic = "pci0000:00/0000:00:00.0/0000:30:00.0";
  device(nic, "0x020000", "0x15b3", "0x101b", 0);
  write("/sys/devices/" + nic + "/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  write("/scenario.json", R"({"driver":"550.54.15","level":50,"devices":[
    {"uuid":"GPU-a","name":"NVIDIA H100","bus":"00000000:10:00.0","sm":[9,0]},
    {"uuid":"GPU-b","name":"NVIDIA H100","bus":"00000000:11:00.0","sm":[9,0]}]})");
  ::setenv("CHIPWEAVE_FAKE_NVML", (root() + "/scenario.json").c_str(), 1);
  codec::HardwareOptions with_driver = options();
  with_driver.nvml_library = CHIPWEAVE_FAKE_NVML_CURRENT;
  const auto probe = make_hardware_probe(with_driver);
  const auto got = probe->discover();
  ::unsetenv("CHIPWEAVE_FAKE_NVML");
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.chip(0).id, "GPU-a");
  EXPECT_EQ(got->facts.at("driver"), "550.54.15");
  ASSERT_EQ(got->topology.nics().size(), 1U);
  EXPECT_EQ(got->topology.nics()[0].name, "mlx5_0");
}

// The operator sees the chips, and why none of them is offered.
TEST_F(AnyHardware, OfADriverThatHasNeverWorkedTheBusShowsTheChips) {
  nvidia_card(0);
  device("pci0000:10/0000:10:00.0/0000:21:00.0", "0x120000", "0x1002", "0x74a1", 0);
  device("pci0000:10/0000:10:00.0/0000:22:00.0", "0x120000", "0x1002", "0x74a1", 0);
  ::setenv("CHIPWEAVE_FAKE_NVML", "/nowhere/scenario.json", 1);
  codec::HardwareOptions broken = options();
  broken.nvml_library = CHIPWEAVE_FAKE_NVML_CURRENT;
  for (const char* vendor : {"auto", "nvidia"}) {
    broken.vendor = vendor;
    const auto got = make_hardware_probe(broken)->discover();
    ASSERT_TRUE(got) << vendor << got.error().text();
    EXPECT_EQ(got->basis, domain::Basis::bus) << vendor;
    EXPECT_EQ(got->topology.vendor(), "nvidia") << vendor;
    EXPECT_EQ(got->topology.chip_count(), 1) << vendor;
    EXPECT_EQ(got->signals.back().code, "driver.failing") << vendor;
    EXPECT_NE(got->signals.back().text, "") << vendor;
  }
  ::unsetenv("CHIPWEAVE_FAKE_NVML");
}

TEST_F(AnyHardware, BeforeItCallsADriverItKnowsTheBus) {
  nvidia_card(0);
  const auto first = make_hardware_probe(options())->before_driver();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->basis, domain::Basis::starting);
  EXPECT_EQ(first->topology.chip_count(), 1);
  EXPECT_EQ(first->signals.back().code, "driver.starting");
  codec::HardwareOptions bus = options();
  bus.vendor = "pci";
  EXPECT_FALSE(make_hardware_probe(bus)->before_driver());
}

TEST_F(AnyHardware, WithoutAcceleratorsTheErrorHasEachVendor) {
  write("/sys/bus/pci/devices/.keep", "");
  const auto got = make_hardware_probe(options())->discover();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::not_found);
  for (const char* vendor : {"nvidia: ", "ascend: ", "amd: ", "metax: "}) {
    EXPECT_THAT(got.error().text(), HasSubstr(vendor));
  }
}

TEST_F(AnyHardware, ANamedVendorIsTheOnlyOneTried) {
  nvidia_card(0);
  codec::HardwareOptions named = options();
  for (const char* vendor : {"nvidia", "ascend", "amd", "metax"}) {
    named.vendor = vendor;
    const auto got = make_hardware_probe(named)->discover();
    if (vendor == std::string_view("nvidia")) {
      ASSERT_TRUE(got) << got.error().text();
      EXPECT_EQ(got->signals.back().code, "driver.absent");
      continue;
    }
    ASSERT_FALSE(got) << vendor;
    EXPECT_EQ(got.error().code, Errc::not_found) << vendor;
    EXPECT_THAT(got.error().text(), Not(HasSubstr("nvidia"))) << vendor;
  }
  named.vendor = "pci";
  const auto got = make_hardware_probe(named)->discover();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->topology.vendor(), "nvidia");
}

TEST(HardwareOptionsArguments, WhatIsWrittenIsRead) {
  codec::HardwareOptions options;
  EXPECT_TRUE(codec::to_arguments(options).empty());
  options.vendor = "amd";
  options.sysfs_root = "/host";
  options.fabric_partitions = "hgx-8";
  const auto arguments = codec::to_arguments(options);
  EXPECT_EQ(arguments, (std::vector<std::string>{"--vendor", "amd", "--sysfs-root", "/host",
                                                 "--fabric-partitions", "hgx-8"}));
  const auto read = codec::hardware_options(arguments);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(codec::to_arguments(*read), arguments);
}

TEST(HardwareOptionsArguments, WhatMakesNoSenseIsNamed) {
  const auto problem = [](const std::vector<std::string>& arguments) {
    const auto read = codec::hardware_options(arguments);
    return read.ok() ? "read" : read.error().text();
  };
  EXPECT_THAT(problem({"--vendor"}), HasSubstr("--vendor has no value"));
  EXPECT_THAT(problem({"--vendor", "intel"}), HasSubstr("--vendor must be auto"));
  EXPECT_THAT(problem({"--speed", "9"}), HasSubstr("unknown option \"--speed\""));
  EXPECT_THAT(problem({"--sysfs-root", "host"}), HasSubstr("absolute"));
  EXPECT_THAT(problem({"--sysfs-root", "/host/"}), HasSubstr("without '/'"));
  EXPECT_THAT(problem({"--nvml-library", "x.so"}), HasSubstr("absolute"));
  EXPECT_THAT(problem({"--fabric-partitions", "a100"}), HasSubstr("none or hgx-8"));
}

}  // namespace
}  // namespace chipweave::agent
