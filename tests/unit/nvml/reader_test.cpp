#include "node-agent/probes/nvidia/snapshot/nvml_reader.hpp"

#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_mig_reader.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr nvml::Code kNoPermission = 4;
constexpr nvml::Code kInUse = 19;

// A GPU of which each function answers, the calls about MIG instances and single links among them.
Json all_answer() {
  Json machine = dgx1v();
  Json& gpu = machine["devices"][1];
  gpu["own_numa"] = 1;
  gpu["fabric"] = {{"state", 3}};
  gpu["mig"] = {1, 1};
  gpu["mig_devices"] = {{{"uuid", "MIG-a"}}};
  return machine;
}

constexpr std::array kInformational = {"nvmlDeviceGetUUID",
                                       "nvmlDeviceGetName",
                                       "nvmlDeviceGetMinorNumber",
                                       "nvmlDeviceGetModuleId",
                                       "nvmlDeviceGetPciInfo_v3",
                                       "nvmlDeviceGetMemoryAffinity",
                                       "nvmlDeviceGetNumaNodeId",
                                       "nvmlDeviceGetCudaComputeCapability",
                                       "nvmlDeviceGetMigMode",
                                       "nvmlDeviceGetMaxMigDeviceCount",
                                       "nvmlDeviceGetMigDeviceHandleByIndex",
                                       "nvmlDeviceGetCurrentClocksEventReasons",
                                       "nvmlDeviceGetEccMode",
                                       "nvmlDeviceGetTotalEccErrors",
                                       "nvmlDeviceGetRetiredPagesPendingStatus",
                                       "nvmlDeviceGetRemappedRows",
                                       "nvmlDeviceGetGpuFabricInfoV",
                                       "nvmlDeviceGetNvLinkState",
                                       "nvmlDeviceGetNvLinkVersion",
                                       "nvmlDeviceGetNvLinkCapability",
                                       "nvmlDeviceGetNvLinkRemotePciInfo_v2",
                                       "nvmlDeviceGetNvLinkRemoteDeviceType",
                                       "nvmlDeviceGetNvLinkErrorCounter",
                                       "nvmlDeviceGetFieldValues"};

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

TEST_F(NvmlReader, MigProfileIsTheDriversNameOrComputed) {
  Json machine = hgx_h100();
  Json& gpu = machine["devices"][2];
  gpu["mig"] = {1, 1};
  gpu["mig_devices"] = {
      {{"name", "NVIDIA H100 80GB HBM3 MIG 1g.10gb+me"}, {"slices", 1}, {"memory_mib", 9984}},
      {{"name", "NVIDIA H100 80GB HBM3"}, {"slices", 3}, {"memory_mib", 40448}},
      {{"name", "NVIDIA H100 MIG \x01\x02"}, {"slices", 1}, {"memory_mib", 20096}},
      {{"slices", 3}, {"compute_slices", 1}, {"memory_mib", 40448}},
      {{"gi", 4}}};
  std::vector<std::string> profiles;
  const NvmlSnapshot seen = snapshot(machine);
  for (const NvmlMigInstance& instance : seen.devices[2].mig.value().instances) {
    profiles.push_back(instance.profile);
  }
  EXPECT_THAT(profiles, ElementsAre("1g.10gb+me", "3g.40gb", "1g.20gb", "1c.3g.40gb", ""));
}

// Names and sizes: MIG user guide, supported profiles.
TEST_F(NvmlReader, MigProfilesAreComputedAsNvidiaNamesThem) {
  struct Known {
    std::uint32_t slices;
    std::uint64_t memory_mib;
    std::uint64_t gpu_mib;
    const char* profile;
  };
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (const Known& known : {Known{1, 4864, 40536, "1g.5gb"},     // A100 40 GB
                             Known{3, 19968, 40536, "3g.20gb"},   //
                             Known{7, 40192, 40536, "7g.40gb"},   //
                             Known{1, 5952, 24576, "1g.6gb"},     // A30
                             Known{2, 11968, 24576, "2g.12gb"},   //
                             Known{1, 9984, 81559, "1g.10gb"},    // H100 80 GB
                             Known{4, 40448, 81559, "4g.40gb"},   //
                             Known{1, 16384, 143771, "1g.18gb"},  // H200
                             Known{2, 33280, 143771, "2g.35gb"},  //
                             Known{3, 71424, 143771, "3g.71gb"},  //
                             Known{1, kMax, 81559, "1g.80gb"},    // garbage
                             Known{1, 9984, kMax >> 20U, ""},     //
                             Known{1, 9984, 0, ""},               //
                             Known{1, 0, 81559, ""},              //
                             Known{0, 9984, 81559, ""}}) {
    nvml::DeviceAttributes instance{};
    instance.gpu_slices = instance.compute_slices = known.slices;
    instance.memory_mib = known.memory_mib;
    EXPECT_EQ(mig_profile(instance, known.gpu_mib << 20U), known.profile) << known.memory_mib;
  }
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

TEST_F(NvmlReader, AnInformationalQueryThatFailsIsANoteAndTheGpuWorks) {
  for (const char* call : kInformational) {
    for (const nvml::Code code : {nvml::kUnknown, nvml::kTimeout, kNoPermission, kInUse}) {
      Json machine = all_answer();
      machine["devices"][1]["errors"] = {{call, code}};
      const NvmlSnapshot seen = snapshot(machine);
      EXPECT_EQ(seen.devices[1].failure, "") << call << ": " << code;
      EXPECT_FALSE(seen.devices[1].lost) << call << ": " << code;
      EXPECT_THAT(seen.devices[1].notes, Contains(StartsWith(call))) << code;
    }
  }
}

TEST_F(NvmlReader, LostAndResetRequiredAreAboutTheGpuWhicheverCallSaysThem) {
  std::vector<std::string> calls(kInformational.begin(), kInformational.end());
  calls.emplace_back("nvmlDeviceGetMemoryInfo");
  for (const std::string& call : calls) {
    Json machine = all_answer();
    machine["devices"][1]["errors"] = {{call, nvml::kResetRequired}};
    const NvmlDevice needs_reset = snapshot(machine).devices[1];
    EXPECT_TRUE(needs_reset.reset_required) << call;
    EXPECT_THAT(needs_reset.failure, StartsWith(call));
    machine["devices"][1]["errors"] = {{call, nvml::kGpuIsLost}};
    EXPECT_TRUE(snapshot(machine).devices[1].lost) << call;
  }
}

TEST_F(NvmlReader, AGpuWhoseMemoryDoesNotAnswerHasFailed) {
  Json machine = pcie_pair();
  for (const nvml::Code code : {nvml::kUnknown, nvml::kTimeout}) {
    machine["devices"][1]["errors"] = {{"nvmlDeviceGetMemoryInfo", code}};
    EXPECT_THAT(snapshot(machine).devices[1].failure, StartsWith("nvmlDeviceGetMemoryInfo: "));
  }
  // Not allowed to ask is not a statement about the GPU.
  machine["devices"][1]["errors"] = {{"nvmlDeviceGetMemoryInfo", kNoPermission}};
  EXPECT_EQ(snapshot(machine).devices[1].failure, "");
}

TEST_F(NvmlReader, AGpuWithoutAnyIdentityHasFailed) {
  Json machine = pcie_pair();
  machine["devices"][0]["errors"] = {{"nvmlDeviceGetUUID", nvml::kUnknown}};
  machine["devices"][1]["errors"] = {{"nvmlDeviceGetUUID", nvml::kUnknown},
                                     {"nvmlDeviceGetPciInfo_v3", nvml::kUnknown}};
  const NvmlSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.devices[0].failure, "");
  EXPECT_EQ(seen.devices[1].failure, "neither its UUID nor its PCI address can be read");
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
