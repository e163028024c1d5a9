// The probe of any hardware, with constructed sysfs trees and fake driver libraries.
#include "node-agent/probe_process/hardware_probe.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/codec/agent/health_policy.hpp"
#include "node-agent/app/health/fault_effects.hpp"
#include "node-agent/app/health/health_judge.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_abi.hpp"
#include "tests/fakes/agent/sys_folder.hpp"
#include "tests/support/manual_clock.hpp"

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

// An Atlas 800T A2 as published: NPU 0 is 0000:c1:00.0, the seventh on the bus.
constexpr std::array<const char*, 8> kNpus = {"c1", "c2", "81", "82", "01", "02", "41", "42"};

class AtlasA2 : public AnyHardware {
 protected:
  AtlasA2() {
    for (const char* bus : kNpus) {
      const std::string text = bus;
      device("pci0000:" + text.substr(0, 1) + "0/0000:" + text.substr(0, 1) +
                 "0:01.0/0000:" + text + ":00.0",
             "0x120000", "0x19e5", "0xd802", 0);
    }
  }
  ~AtlasA2() override { ::unsetenv("CHIPWEAVE_FAKE_DCMI"); }

  // With the driver, whose numbers are neither in the order of its cards nor in that of the bus.
  codec::HardwareOptions with_driver() const {
    std::string cards;
    for (int card = 0; card < 8; ++card) {
      const std::string number = std::to_string(card);
      cards += std::string(card == 0 ? "" : ",") + R"({"card":)" + number +
               R"(,"devices":[{"logic":)" + number + R"(,"physical":)" +
               std::to_string((card + 3) % 8) +
               R"(,"chip":["Ascend","910B3","V1",20,""],"health":0,"codes":[],"ip":[192,0,2,)" +
               number + "]}]}";
    }
    write("/scenario.json", R"({"driver":"24.1.rc3","topo":3,"cards":[)" + cards + "]}");
    ::setenv("CHIPWEAVE_FAKE_DCMI", (root() + "/scenario.json").c_str(), 1);
    codec::HardwareOptions out = options();
    out.dcmi_library = CHIPWEAVE_FAKE_DCMI_CURRENT;
    return out;
  }
};

TEST_F(AtlasA2, TheBusDoesNotTellWhichNpuIsWhich) {
  for (const char* vendor : {"auto", "pci"}) {
    codec::HardwareOptions bus = options();
    bus.vendor = vendor;
    const auto got = make_hardware_probe(bus)->discover();
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(got->topology.chip_count(), 8);
    EXPECT_EQ(got->facts.at("identity"), "unknown");
    for (const domain::Chip& chip : got->topology.chips()) {
      EXPECT_EQ(chip.physical_id, std::nullopt);
      EXPECT_EQ(chip.id, "npu-at-" + chip.pci);
    }
    // With the policy that is built in, no pod gets a chip.
    const auto policy = codec::read_health_policy(codec::default_health_policy());
    ASSERT_TRUE(policy.ok());
    ManualClock clock;
    HealthJudge judge(*policy, clock);
    judge.observe(*got);
    const auto faults = judge.judge();
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].code, "ascend.identity-unknown");
    EXPECT_THAT(faults[0].text, HasSubstr("run the agent as root"));
    const auto judged = with_effects(got->topology, got->ports, faults);
    ASSERT_TRUE(judged.ok());
    EXPECT_EQ(judged->unhealthy(), judged->all());
  }
}

TEST_F(AtlasA2, TheNumbersAreTheDriversWhateverTheOrderOfTheBus) {
  const auto got = make_hardware_probe(with_driver())->discover();
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->topology.chip_count(), 8);
  EXPECT_EQ(got->facts.count("identity"), 0U);
  EXPECT_THAT(got->signals, testing::IsEmpty());
  for (int card = 0; card < 8; ++card) {
    const domain::Chip& chip = got->topology.chip((card + 3) % 8);
    EXPECT_EQ(chip.physical_id, (card + 3) % 8);
    EXPECT_EQ(chip.id, "Ascend910-" + std::to_string((card + 3) % 8));
    EXPECT_EQ(chip.logical_id, card);
    EXPECT_THAT(chip.device_ips, testing::ElementsAre("192.0.2." + std::to_string(card)));
  }
}

TEST_F(AtlasA2, EventsOfTheDriverPassThrough) {
  const auto probe = make_hardware_probe(with_driver());
  EXPECT_THAT(probe->take_events(), testing::IsEmpty());
  ASSERT_TRUE(probe->discover());
  void* const library = ::dlopen(CHIPWEAVE_FAKE_DCMI_CURRENT, RTLD_LAZY | RTLD_NOLOAD);
  auto* const raise = reinterpret_cast<bool (*)(dcmi::Event*)>(::dlsym(library, "fake_dcmi_raise"));
  ASSERT_NE(raise, nullptr);
  dcmi::Event event{};
  event.fault.id = 0x80e01801;
  event.fault.assertion = dcmi::kOneTime;
  std::thread([&] { EXPECT_TRUE(raise(&event)); }).join();
  ::dlclose(library);
  const auto begin = std::chrono::steady_clock::now();
  probe->wait(std::chrono::minutes(5));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(4));
  const auto events = probe->take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].code, "dcmi.80e01801");
  EXPECT_EQ(events[0].chip, domain::ChipIndex{3});
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
  EXPECT_EQ(codec::metrics_interval_of(*read), std::chrono::seconds(10));
  for (const int seconds : {0, 1, 3600}) {
    options.metrics_interval = std::to_string(seconds);
    const auto again = codec::hardware_options(codec::to_arguments(options));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(codec::metrics_interval_of(*again), std::chrono::seconds(seconds));
  }
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
  for (const char* interval : {"", "-1", "3601", "10s", "1.5", "99999999999"}) {
    EXPECT_THAT(problem({"--metrics-interval", interval}), HasSubstr("from 1 to 3600")) << interval;
  }
}

}  // namespace
}  // namespace chipweave::agent
