#include "node-agent/probes/nvidia/nvml_signals.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "common/domain/fault.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "node-agent/probes/nvidia/nvml_facts.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

constexpr unsigned kInstances = 16;  // as many as the fake driver has

using domain::Signal;
using domain::SignalKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class NvmlSignals : public FakeDriver {
 protected:
  std::vector<Signal> signals(const Json& scenario) const {
    const auto snapshot = read(scenario);
    EXPECT_TRUE(snapshot.ok()) << snapshot.error().text();
    return signals_of(*snapshot);
  }
  // "code@chip" and text of each state.
  std::vector<std::pair<std::string, std::string>> states(const Json& scenario) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Signal& signal : signals(scenario)) {
      if (signal.kind != SignalKind::state) continue;
      out.emplace_back(signal.code + "@" + std::to_string(signal.chip.value().value), signal.text);
    }
    return out;
  }
  std::map<std::string, std::string> facts(const Json& scenario) const {
    const auto snapshot = read(scenario);
    EXPECT_TRUE(snapshot.ok()) << snapshot.error().text();
    return facts_of(*snapshot);
  }
};

TEST_F(NvmlSignals, HealthyMachinesHaveNone) {
  EXPECT_THAT(states(hgx_h100()), IsEmpty());
  EXPECT_THAT(states(dgx1v()), IsEmpty());
  EXPECT_THAT(states(gb200_tray()), IsEmpty());
}

TEST_F(NvmlSignals, EachIllnessHasItsOwn) {
  Json machine = hgx_h100();
  machine["devices"][0]["remapped"] = {0, 1, 0, 1};
  machine["devices"][1]["remapped"] = {0, 1, 1, 0};
  machine["devices"][2]["recovery_action"] = 2;
  machine["devices"][3]["errors"] = {{"nvmlDeviceGetEccMode", nvml::kResetRequired}};
  machine["devices"][4]["retired_pending"] = 1;
  machine["devices"][5]["errors"] = {{"*", nvml::kGpuIsLost}};
  machine["devices"][6]["clock_reasons"] = 0x49;
  machine["devices"][7]["recovery_action"] = 77;
  EXPECT_THAT(states(machine),
              UnorderedElementsAre(
                  Pair("nvml.row-remap-failed@0", "could not remap a memory row"),
                  Pair("nvml.row-remap-pending@1", HasSubstr("should be reset")),
                  Pair("nvml.recovery-action@2", "reboot"),
                  Pair("nvml.failed@3", HasSubstr("nvmlDeviceGetEccMode: Unknown Error (16)")),
                  Pair("nvml.pages-pending@4", HasSubstr("pages")),
                  Pair("nvml.lost@5", "has fallen off the bus"),
                  Pair("nvml.thermal@6", HasSubstr("because of heat")),
                  Pair("nvml.recovery-action@7", "action 77")));
}

TEST_F(NvmlSignals, SlowedByPowerOrSoftwareIsNotThermal) {
  Json machine = pcie_pair();
  machine["devices"][0]["clock_reasons"] = 0x8 | 0x20 | 0x80;
  EXPECT_THAT(states(machine), IsEmpty());
}

TEST_F(NvmlSignals, FabricReportsWhatIsWrong) {
  Json machine = hgx_h100();
  machine["devices"][0]["fabric"] = {{"state", 3}, {"health", 2}, {"mask", 0x11 | (5U << 8U)}};
  machine["devices"][1]["fabric"] = {{"state", 3}, {"health", 3}};
  machine["devices"][2]["fabric"] = {{"state", 2}};
  machine["devices"][3]["fabric"] = {{"state", 3}, {"status", 999}};
  machine["devices"][4]["fabric"] = {{"state", 0}, {"status", 3}};
  machine["devices"][5]["fabric"] = {{"state", 3}, {"health", 1}, {"mask", 0x4 | 0x40}};
  // All "false", none wrong, no partition assigned: healthy.
  machine["devices"][6]["fabric"] = {{"state", 3}, {"health", 1}, {"mask", 0x21aa}};
  machine["devices"][7]["fabric"] = {{"state", 200}, {"mask", 0xf00}};
  EXPECT_THAT(states(machine),
              UnorderedElementsAre(
                  Pair("nvml.fabric-unhealthy@0",
                       "degraded bandwidth, route unhealthy, incorrect configuration: insufficient "
                       "NVLinks"),
                  Pair("nvml.fabric-degraded@0", HasSubstr("insufficient NVLinks")),
                  Pair("nvml.fabric-limited@1", "has limited capacity"),
                  Pair("nvml.fabric-incomplete@2", "registration in progress, status 0"),
                  Pair("nvml.fabric-incomplete@3", "registration completed, status 999"),
                  Pair("nvml.fabric-degraded@5", "route recovery, access timeout recovery"),
                  Pair("nvml.fabric-incomplete@7", "registration state 200, status 0"),
                  Pair("nvml.fabric-degraded@7", "incorrect configuration: number 15")));
}

TEST_F(NvmlSignals, ErrorsAreCountedFromZeroOn) {
  Json machine = pcie_pair();
  machine["devices"][0]["uncorrected_errors"] = 2;
  machine["devices"][0]["links"] = Json::array({link_to(0, 1)});
  machine["devices"][0]["links"][0]["crc"] = 9;
  machine["devices"][1].erase("corrected_errors");
  std::vector<std::string> seen;
  for (const Signal& signal : signals(machine)) {
    EXPECT_EQ(signal.kind, SignalKind::counter) << signal.code;
    seen.push_back(signal.code + "@" + std::to_string(signal.chip.value().value) +
                   (signal.port ? ":" + std::to_string(*signal.port) : "") + "=" +
                   std::to_string(static_cast<int>(signal.value)));
  }
  EXPECT_THAT(
      seen, ElementsAre("nvml.ecc-uncorrected@0=2", "nvml.ecc-corrected@0=0", "nvlink.replay@0:0=0",
                        "nvlink.recovery@0:0=0", "nvlink.crc@0:0=9", "nvml.ecc-uncorrected@1=0"));
}

TEST_F(NvmlSignals, MigModeNamesItsInstancesAndWhatFollows) {
  Json machine = hgx_h100();
  machine["devices"][1]["mig"] = {1, 1};
  machine["devices"][2]["mig"] = {1, 1};
  machine["devices"][2]["mig_devices"] = {
      {{"uuid", "MIG-a"}, {"gi", 1}, {"ci", 0}, {"slices", 1}, {"memory_mib", 9984}},
      nullptr,
      {{"uuid", "MIG-b"}, {"gi", 2}, {"ci", 0}, {"slices", 3}, {"memory_mib", 40448}}};
  machine["devices"][3]["mig"] = {1, 1};
  machine["devices"][3]["mig_devices"] = {{{"gi", 5}}};
  machine["devices"][4]["mig"] = {1, 1};
  machine["devices"][4]["errors"] = {{"nvmlDeviceGetMaxMigDeviceCount", nvml::kUnknown}};
  EXPECT_THAT(
      states(machine),
      ElementsAre(
          Pair("nvml.mig@1", "is in MIG mode: no instances; whole-GPU pods are not placed on it"),
          Pair(
              "nvml.mig@2",
              "is in MIG mode: 2 instances, 1g.10gb, 3g.40gb; whole-GPU pods are not placed on it"),
          Pair("nvml.mig@3",
               "is in MIG mode: 1 instance, unknown profile; whole-GPU pods are not placed on it"),
          Pair("nvml.mig@4",
               "is in MIG mode: its instances cannot be read; whole-GPU pods are not placed on "
               "it")));
  const auto published = facts(machine);
  EXPECT_EQ(published.at("mig.1"), "no instances");
  EXPECT_EQ(published.at("mig.2"), "1g.10gb 9984 MiB, 3g.40gb 40448 MiB");
  EXPECT_EQ(published.at("mig.2.0"),
            "1g.10gb, 9984 MiB, MIG-a, GPU instance 1, compute instance 0");
  EXPECT_EQ(published.at("mig.2.1"),
            "3g.40gb, 40448 MiB, MIG-b, GPU instance 2, compute instance 0");
  EXPECT_EQ(published.at("mig.3.0"), "unknown profile, GPU instance 5");
  EXPECT_FALSE(published.contains("mig.0"));
  EXPECT_FALSE(published.contains("mig.2.2"));
}

TEST_F(NvmlSignals, ModeThatTheNextResetChangesIsANote) {
  Json machine = pcie_pair();
  machine["devices"][0]["mig"] = {0, 1};
  machine["devices"][1]["mig"] = {1, 0};
  EXPECT_THAT(
      states(machine),
      ElementsAre(Pair("nvml.mig-pending@0", "MIG mode is switched on by its next reset"),
                  Pair("nvml.mig@1", HasSubstr("no instances")),
                  Pair("nvml.mig-pending@1", "MIG mode is switched off by its next reset")));
}

TEST_F(NvmlSignals, WhatIsPublishedAboutInstancesIsBounded) {
  Json machine = hgx_h100();
  const Json instance = {{"uuid", "MIG-" + std::string(36, 'f')},
                         {"gi", 4294967295U},
                         {"ci", 4294967295U},
                         {"slices", 4294967295U},
                         {"memory_mib", 81920}};
  for (Json& gpu : machine["devices"]) {
    gpu["mig"] = {1, 1};
    for (unsigned i = 0; i < kInstances; ++i) gpu["mig_devices"].push_back(instance);
  }
  for (const auto& [code, text] : states(machine)) {
    EXPECT_LE(text.size(), domain::kMaxFaultTextBytes) << code;
    EXPECT_THAT(text, HasSubstr("16 instances, 4294967295g.80gb"));
    EXPECT_THAT(text, HasSubstr("and 8 more; whole-GPU pods"));
  }
  std::size_t single = 0;
  for (const auto& [name, text] : facts(machine)) {
    EXPECT_LE(text.size(), domain::kMaxFaultTextBytes) << name;
    single += name.starts_with("mig.") && std::count(name.begin(), name.end(), '.') == 2 ? 1 : 0;
  }
  EXPECT_EQ(single, kMaxMigFacts);
}

TEST_F(NvmlSignals, FactsAreWhatAllAgreeOn) {
  auto published = facts(hgx_h100());
  EXPECT_EQ(published.at("driver"), "550.54.15");
  EXPECT_EQ(published.at("cuda"), "12.4");
  EXPECT_EQ(published.at("product"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(published.at("memory-mib"), "81920");
  EXPECT_EQ(published.at("sm"), "9.0");
  EXPECT_EQ(published.at("nvlink.version"), "4.0");
  EXPECT_EQ(published.at("module.7"), "8");
  // A machine with a fabric of its own has no cluster.
  EXPECT_FALSE(published.contains("fabric.clique"));
  EXPECT_EQ(facts(dgx1v()).at("nvlink.version"), "2.0");
  EXPECT_EQ(facts(hgx_b200()).at("sm"), "10.0");

  Json mixed = pcie_pair();
  mixed["devices"][1]["name"] = "NVIDIA L4";
  mixed["devices"][1].erase("sm");
  published = facts(mixed);
  EXPECT_FALSE(published.contains("product"));
  EXPECT_FALSE(published.contains("sm"));
  EXPECT_FALSE(published.contains("cuda"));
  EXPECT_TRUE(published.contains("memory-mib"));
}

TEST_F(NvmlSignals, CliqueIsAFactWhenAllHaveJoinedTheSame) {
  const char* clique = "abababab-abab-abab-abab-abababababab.32766";
  EXPECT_EQ(facts(gb200_tray()).at("fabric.clique"), clique);
  Json lost = gb200_tray();
  lost["devices"][3]["errors"] = {{"*", nvml::kGpuIsLost}};
  EXPECT_EQ(facts(lost).at("fabric.clique"), clique);
  Json other = gb200_tray();
  other["devices"][3]["fabric"]["clique"] = 1;
  EXPECT_FALSE(facts(other).contains("fabric.clique"));
  Json late = gb200_tray();
  late["devices"][0]["fabric"]["state"] = 2;
  EXPECT_FALSE(facts(late).contains("fabric.clique"));
  Json failed = gb200_tray();
  failed["devices"][0]["fabric"]["status"] = 999;
  EXPECT_FALSE(facts(failed).contains("fabric.clique"));
}

}  // namespace
}  // namespace chipweave::agent
