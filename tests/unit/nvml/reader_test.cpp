#include "node-agent/probes/nvidia/snapshot/nvml_reader.hpp"

#include <gmock/gmock.h>

#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class NvmlReader : public FakeDriver {
 protected:
  NvmlSnapshot snapshot(const Json& scenario, const std::string& library = current()) const {
    auto out = read(scenario, library);
    EXPECT_TRUE(out.ok()) << out.error().text();
    return std::move(out).value();
  }
};

TEST_F(NvmlReader, ReadsEveryFact) {
  Json machine = hgx_h100();
  machine["devices"][3]["fabric"] = {{"state", 3}, {"clique", 7}, {"cluster", 0xab}, {"health", 3}};
  machine["devices"][3]["remapped"] = {4, 1, 1, 0};
  machine["devices"][3]["own_numa"] = 2;
  machine["devices"][3]["corrected_errors"] = 17;
  machine["devices"][3]["clock_reasons"] = 0x41;
  machine["devices"][3]["links"][17]["field_crc"] = 5000000000;
  const NvmlSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.driver, "550.54.15");
  EXPECT_EQ(seen.cuda, 12040);
  EXPECT_THAT(seen.notes, IsEmpty());
  ASSERT_THAT(seen.devices, SizeIs(8));
  EXPECT_THAT(seen.pairs, SizeIs(28));
  const NvmlDevice& gpu = seen.devices[3];
  EXPECT_EQ(gpu.index, 3);
  EXPECT_EQ(gpu.uuid, "GPU-3");
  EXPECT_EQ(gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.pci, "0000:13:00.0");
  EXPECT_EQ(gpu.minor, 3U);
  EXPECT_EQ(gpu.module, 4U);
  EXPECT_EQ(gpu.numa, 0);
  EXPECT_EQ(gpu.own_numa, 2);
  EXPECT_EQ(gpu.sm, 90);
  EXPECT_EQ(gpu.memory_bytes, 85899345920U);
  EXPECT_FALSE(gpu.mig.value().current);
  EXPECT_TRUE(gpu.ecc.value().pending);
  EXPECT_EQ(gpu.uncorrected_errors, 0U);
  EXPECT_EQ(gpu.corrected_errors, 17U);
  EXPECT_EQ(gpu.clock_reasons, 0x41U);
  EXPECT_EQ(gpu.recovery_action, 0U);
  EXPECT_EQ(gpu.remapped_rows.value().correctable, 4U);
  EXPECT_TRUE(gpu.remapped_rows.value().pending);
  EXPECT_FALSE(gpu.remapped_rows.value().failure);
  ASSERT_TRUE(gpu.fabric);
  EXPECT_EQ(gpu.fabric->clique, 7U);
  EXPECT_EQ(gpu.fabric->cluster_uuid, "abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(gpu.fabric->health_summary, 3U);
  ASSERT_THAT(gpu.links, SizeIs(18));
  EXPECT_TRUE(gpu.links[17].active);
  EXPECT_EQ(gpu.links[17].version, 6U);
  EXPECT_EQ(gpu.links[17].remote, NvmlRemote::nvswitch);
  EXPECT_EQ(gpu.links[17].remote_pci, "0000:c1:00.0");
  EXPECT_EQ(gpu.links[17].crc_errors, 5000000000U);
  EXPECT_EQ(gpu.links[17].replays, 0U);
}

TEST_F(NvmlReader, LinkErrorsAreCountedAsEachGenerationDoes) {
  Json volta = dgx1v();
  volta["devices"][0]["links"][1]["replay"] = 3;
  const NvmlSnapshot seen = snapshot(volta);
  EXPECT_EQ(seen.devices[0].links[1].replays, 3U);
  EXPECT_EQ(seen.devices[0].links[1].crc_errors, 0U);
  Json blackwell = hgx_b200();
  blackwell["devices"][0]["links"][1]["field_recovery_events"] = 2;
  const NvmlSnapshot later = snapshot(blackwell);
  EXPECT_EQ(later.devices[0].links[1].recoveries, 2U);
  EXPECT_EQ(later.devices[0].links[1].replays, std::nullopt);
  EXPECT_THAT(later.devices[0].notes, IsEmpty());
}

TEST_F(NvmlReader, MigInstancesAreReadAroundHoles) {
  Json machine = hgx_h100();
  Json& gpu = machine["devices"][2];
  gpu["mig"] = {1, 1};
  gpu["mig_most"] = 7;
  gpu["mig_devices"] = {
      {{"uuid", "MIG-a"}, {"gi", 1}, {"ci", 0}, {"slices", 3}, {"memory_mib", 40448}},
      nullptr,
      {{"uuid", "MIG-b"}, {"gi", 2}}};
  const NvmlSnapshot seen = snapshot(machine);
  ASSERT_TRUE(seen.devices[2].mig);
  const auto& instances = seen.devices[2].mig->instances;
  ASSERT_THAT(instances, SizeIs(2));
  EXPECT_EQ(instances[0].uuid, "MIG-a");
  EXPECT_EQ(instances[0].gpu_instance, 1U);
  EXPECT_EQ(instances[0].compute_instance, 0U);
  EXPECT_EQ(instances[0].gpu_slices, 3U);
  EXPECT_EQ(instances[0].memory_mib, 40448U);
  EXPECT_EQ(instances[1].gpu_instance, 2U);
  EXPECT_EQ(instances[1].compute_instance, std::nullopt);
  EXPECT_EQ(instances[1].memory_mib, std::nullopt);
  EXPECT_THAT(seen.devices[2].notes, IsEmpty());
}

TEST_F(NvmlReader, OlderFabricStructIsTriedWhereTheNewestIsRefused) {
  Json machine = hgx_h100();
  machine["devices"][0]["fabric"] = {{"version", 2}, {"state", 2}, {"health", 1}};
  const NvmlSnapshot seen = snapshot(machine);
  ASSERT_TRUE(seen.devices[0].fabric);
  EXPECT_EQ(seen.devices[0].fabric->state, 2U);
  EXPECT_EQ(seen.devices[0].fabric->health_summary, std::nullopt);
}

TEST_F(NvmlReader, AFailedCallLeavesItsFieldEmptyAndANote) {
  Json machine = pcie_pair();
  machine["devices"][1]["errors"] = {{"nvmlDeviceGetMemoryInfo", 7}};
  machine["devices"][1].erase("minor");
  const NvmlSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.devices[1].memory_bytes, std::nullopt);
  EXPECT_EQ(seen.devices[1].minor, std::nullopt);
  EXPECT_THAT(seen.devices[1].notes, Contains(HasSubstr("nvmlDeviceGetMemoryInfo: ")));
  // A function that the device does not support is not an error.
  EXPECT_THAT(seen.devices[1].notes, SizeIs(1));
  EXPECT_FALSE(seen.devices[1].lost);
  EXPECT_EQ(seen.devices[1].failure, "");
}

TEST_F(NvmlReader, LostDeviceIsReportedAsLost) {
  Json machine = hgx_h100();
  machine["devices"][5]["errors"] = {{"*", nvml::kGpuIsLost}};
  machine["devices"][6]["errors"] = {{"nvmlDeviceGetMemoryInfo", nvml::kGpuIsLost}};
  const NvmlSnapshot seen = snapshot(machine);
  ASSERT_THAT(seen.devices, SizeIs(8));
  EXPECT_TRUE(seen.devices[5].lost);
  EXPECT_EQ(seen.devices[5].index, 5);
  EXPECT_THAT(seen.devices[5].notes, Contains(HasSubstr("GPU is lost (15)")));
  EXPECT_TRUE(seen.devices[6].lost);
  EXPECT_EQ(seen.devices[6].uuid, "GPU-6");
  EXPECT_FALSE(seen.devices[4].lost);
}

TEST_F(NvmlReader, DeviceWithoutAHandleKeepsItsPlace) {
  constexpr nvml::Code kNoPermission = 4;
  Json machine = pcie_pair();
  machine["devices"][0]["errors"] = {{"nvmlDeviceGetHandleByIndex_v2", kNoPermission}};
  const NvmlSnapshot seen = snapshot(machine);
  ASSERT_THAT(seen.devices, SizeIs(2));
  EXPECT_FALSE(seen.devices[0].lost);
  EXPECT_THAT(seen.devices[0].failure, HasSubstr("nvmlDeviceGetHandleByIndex_v2: "));
  EXPECT_EQ(seen.devices[1].index, 1);
  EXPECT_THAT(seen.pairs, IsEmpty());
}

TEST_F(NvmlReader, OldDriverLosesFactsAndNothingElse) {
  const NvmlSnapshot seen = snapshot(dgx1v(), old());
  ASSERT_THAT(seen.devices, SizeIs(8));
  EXPECT_THAT(seen.notes, Contains("this driver has no nvmlDeviceGetMigMode"));
  EXPECT_EQ(seen.devices[2].pci, "0000:12:00.0");
  EXPECT_EQ(seen.devices[2].mig, std::nullopt);
  EXPECT_EQ(seen.devices[2].numa, std::nullopt);
  EXPECT_EQ(seen.devices[2].fabric, std::nullopt);
  EXPECT_THAT(seen.devices[2].notes, IsEmpty());
  ASSERT_THAT(seen.devices[2].links, SizeIs(6));
  EXPECT_EQ(seen.devices[2].links[0].remote, NvmlRemote::unknown);
  EXPECT_EQ(seen.devices[2].links[0].remote_pci, "0000:10:00.0");
}

TEST_F(NvmlReader, GarbageCountsAreBounded) {
  Json machine = pcie_pair();
  machine["count"] = 4294967295U;
  machine["devices"][0]["mig"] = {1, 1};
  machine["devices"][0]["mig_most"] = 4294967295U;
  const NvmlSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.devices, SizeIs(2));
  EXPECT_THAT(seen.notes, Contains(HasSubstr("counts 4294967295 devices; at most 64 are read")));
  EXPECT_THAT(seen.notes, Contains(HasSubstr("counts 64 devices and has 2")));
}

TEST_F(NvmlReader, GarbageAnswersBecomeNotes) {
  Json machine = pcie_pair();
  machine["level"] = 77;
  machine["devices"][0]["name"] = std::string(500, 'x');
  machine["devices"][0]["bus"] = "zzzzzzzz:\x01\x02:!!.!";
  machine["devices"][0]["sm"] = {-2147483647, 2147483647};
  machine["devices"][0]["own_numa"] = 4000000000U;
  machine["devices"][0]["numa_mask"] = 0xffffffffffffffffU;
  machine["devices"][0]["links"] = {{{"link", 0}, {"state", -9}},
                                    {{"link", 35}, {"state", 1}, {"type", 255}},
                                    {{"link", 36}, {"state", 1}}};
  const NvmlSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.pairs, IsEmpty());
  EXPECT_THAT(seen.notes, Contains(HasSubstr("unknown level 77")));
  const NvmlDevice& gpu = seen.devices[0];
  EXPECT_EQ(gpu.name, std::string(nvml::kNameBytes, 'x'));
  EXPECT_EQ(gpu.pci, "");
  EXPECT_EQ(gpu.sm, std::nullopt);
  EXPECT_EQ(gpu.own_numa, std::nullopt);
  EXPECT_EQ(gpu.numa, std::nullopt);
  ASSERT_THAT(gpu.links, SizeIs(1));
  EXPECT_EQ(gpu.links[0].number, 35U);
  EXPECT_EQ(gpu.links[0].remote, NvmlRemote::unknown);
  EXPECT_THAT(gpu.notes, Contains("link 0: unknown state -9"));
}

TEST_F(NvmlReader, DevicesThatCannotBeCountedAreAnError) {
  Json machine = pcie_pair();
  machine["errors"]["nvmlDeviceGetCount_v2"] = nvml::kUnknown;
  const auto seen = read(machine);
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::unavailable);
  EXPECT_THAT(seen.error().message, HasSubstr("nvmlDeviceGetCount_v2: Unknown Error (999)"));
}

}  // namespace
}  // namespace chipweave::agent
