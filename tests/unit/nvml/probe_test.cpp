#include "node-agent/probes/nvidia/nvidia_probe.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Observation;
using domain::Port;
using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr milliseconds kSoon{20};

class NvidiaProbeTest : public FakeDriver {
 protected:
  static NvidiaProbeOptions with(const std::string& library) {
    NvidiaProbeOptions out;
    out.library = library;
    return out;
  }
  Observation see(NvidiaProbe& probe, const Json& scenario) const {
    play(scenario);
    return see(probe);
  }
  // Events first, as the loop takes them.
  static Observation see(NvidiaProbe& probe) {
    std::vector<Signal> signals = probe.take_events();
    auto seen = probe.discover();
    EXPECT_TRUE(seen.ok()) << seen.error().text();
    for (const auto& more : {probe.take_events(), seen->signals}) {
      signals.insert(signals.end(), more.begin(), more.end());
    }
    seen->signals = std::move(signals);
    return std::move(seen).value();
  }
  // "code@chip" of states and events.
  static std::vector<std::string> codes(const Observation& seen) {
    std::vector<std::string> out;
    for (const Signal& signal : seen.signals) {
      if (signal.kind == SignalKind::counter) continue;
      out.push_back(signal.code +
                    (signal.chip ? "@" + std::to_string(signal.chip->value) : std::string()));
    }
    return out;
  }
  static std::vector<Port> ports_of(const Observation& seen, int chip) {
    std::vector<Port> out;
    std::copy_if(seen.ports.begin(), seen.ports.end(), std::back_inserter(out),
                 [chip](const Port& port) { return port.chip == ChipIndex{chip}; });
    return out;
  }
  static long down(const std::vector<Port>& ports) {
    return std::count_if(ports.begin(), ports.end(), [](const Port& port) { return !port.up; });
  }

  NvidiaProbe probe_{with(current())};
};

TEST_F(NvidiaProbeTest, HgxH100) {
  const Observation seen = see(probe_, hgx_h100());
  EXPECT_EQ(seen.machine, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(seen.topology.switches(), SizeIs(1));
  EXPECT_THAT(seen.ports, SizeIs(144));
  for (const Port& port : seen.ports) EXPECT_TRUE(port.up && !port.peer);
  EXPECT_THAT(codes(seen), IsEmpty());
  EXPECT_THAT(seen.signals, SizeIs(8 * 2 + 144 * 3));  // counters from zero on
  EXPECT_THAT(seen.warnings, IsEmpty());
  EXPECT_EQ(seen.facts.at("cuda"), "12.4");
  EXPECT_FALSE(probe_.changes());
}

TEST_F(NvidiaProbeTest, Dgx1PortsNameTheirPeers) {
  const Observation seen = see(probe_, dgx1v());
  EXPECT_THAT(seen.ports, SizeIs(48));
  const auto ports = ports_of(seen, 0);
  ASSERT_THAT(ports, SizeIs(6));
  std::vector<int> peers;
  peers.reserve(ports.size());
  for (const Port& port : ports) peers.push_back(port.peer.value().value);
  EXPECT_THAT(peers, ElementsAre(1, 2, 3, 3, 4, 4));
  EXPECT_EQ(ports[5].number, 5);
}

TEST_F(NvidiaProbeTest, BridgedCards) {
  const Observation seen = see(probe_, a100_bridged());
  EXPECT_THAT(seen.ports, SizeIs(48));
  ASSERT_NE(seen.topology.link(0, 1), nullptr);
  EXPECT_EQ(seen.topology.link(0, 1)->lanes, 12);
  EXPECT_EQ(seen.topology.link(1, 2), nullptr);
  EXPECT_THAT(codes(seen), IsEmpty());
}

TEST_F(NvidiaProbeTest, BlackwellAndItsTrays) {
  const Observation board = see(probe_, hgx_b200());
  EXPECT_THAT(board.ports, SizeIs(144));
  EXPECT_EQ(board.facts.at("nvlink.version"), "5.0");
  EXPECT_THAT(board.signals, SizeIs(8 * 2 + 144));  // links report only recoveries
  const Observation tray = see(probe_, gb200_tray());
  EXPECT_EQ(tray.topology.chip_count(), 4);
  EXPECT_EQ(tray.facts.at("fabric.clique"), "abababab-abab-abab-abab-abababababab.32766");
  EXPECT_THAT(codes(tray), IsEmpty());
}

TEST_F(NvidiaProbeTest, SixtyFourGpus) {
  Json machine = {{"driver", "550.54.15"}, {"level", 50}, {"devices", Json::array()}};
  for (int i = 0; i < 64; ++i) {
    Json gpu = device(i, "NVIDIA X", i / 32);
    gpu["sm"] = {9, 0};
    for (int link = 0; link < 36; ++link) gpu["links"].push_back(link_to_switch(link));
    machine["devices"].push_back(std::move(gpu));
  }
  const Observation seen = see(probe_, machine);
  EXPECT_EQ(seen.topology.chip_count(), 64);
  EXPECT_THAT(seen.ports, SizeIs(64 * 36));
  EXPECT_EQ(seen.topology.chip(63).pci, "0000:4f:00.0");
  EXPECT_FALSE(probe_.changes());
}

TEST_F(NvidiaProbeTest, GpuWithMigHasInstancesAndNoPorts) {
  Json machine = hgx_h100();
  machine["devices"][2]["mig"] = {1, 1};
  machine["devices"][2]["mig_devices"] = {{{"uuid", "MIG-a"}, {"gi", 1}, {"ci", 0}}};
  const Observation seen = see(probe_, machine);
  EXPECT_THAT(codes(seen), ElementsAre("nvml.mig@2"));
  EXPECT_THAT(seen.facts.at("mig.2.0"), HasSubstr("MIG-a"));
  EXPECT_THAT(ports_of(seen, 2), IsEmpty());
  EXPECT_THAT(seen.ports, SizeIs(126));
}

TEST_F(NvidiaProbeTest, LostGpuKeepsItsPlaceAndComesBackAsReset) {
  const Json whole = dgx1v();
  const Observation before = see(probe_, whole);
  Json machine = whole;
  machine["devices"][5]["errors"] = {{"*", nvml::kGpuIsLost}};
  play(machine);
  EXPECT_TRUE(probe_.changes());
  const Observation lost = see(probe_);
  EXPECT_THAT(codes(lost), ElementsAre("nvml.lost@5"));
  EXPECT_EQ(lost.topology.chip(5).id, "GPU-5");
  EXPECT_EQ(lost.topology.chip(5).pci, "0000:15:00.0");
  EXPECT_EQ(lost.topology.chip(5).numa, 1);
  EXPECT_EQ(lost.topology.host_path(4, 5), before.topology.host_path(4, 5));
  for (const domain::DirectLink& link : before.topology.links()) {
    const domain::DirectLink* now = lost.topology.link(link.a, link.b);
    ASSERT_NE(now, nullptr) << link.a << "-" << link.b;
    EXPECT_EQ(now->lanes, link.lanes);
    EXPECT_EQ(now->lanes_down, link.a == 5 || link.b == 5 ? link.lanes : 0);
  }
  EXPECT_EQ(down(ports_of(lost, 5)), 6);
  EXPECT_FALSE(probe_.changes());

  play(whole);
  EXPECT_TRUE(probe_.changes());
  const Observation after = see(probe_);
  EXPECT_THAT(codes(after), ElementsAre("nvml.reset@5"));
  expect_same_wiring(after.topology, before.topology);
  EXPECT_THAT(codes(see(probe_)), IsEmpty());
}

TEST_F(NvidiaProbeTest, EventsOfAGpuThatWasResetAreDeliveredAgain) {
  Json machine = pcie_pair();
  machine["devices"][1]["errors"] = {{"*", nvml::kGpuIsLost}};
  (void)see(probe_, machine);
  machine = pcie_pair();
  EXPECT_THAT(codes(see(probe_, machine)), ElementsAre("nvml.reset@1"));
  machine["events"] = {{{"device", 1}, {"type", 8}, {"data", 63}}};
  play(machine);
  probe_.wait(kSoon);
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(codes(see(probe_)), ElementsAre("xid.63@1"));
}

TEST_F(NvidiaProbeTest, RowRemapAndItsEnd) {
  Json machine = hgx_h100();
  (void)see(probe_, machine);
  machine["devices"][1]["remapped"] = {0, 1, 0, 1};
  EXPECT_THAT(codes(see(probe_, machine)), ElementsAre("nvml.row-remap-failed@1"));
  EXPECT_THAT(codes(see(probe_, hgx_h100())), IsEmpty());
}

TEST_F(NvidiaProbeTest, OneSidedLinkIsUpAtOneEndOnly) {
  Json machine = dgx1v();
  take_down(machine, 0, 2);  // its first link to 3
  const Observation seen = see(probe_, machine);
  EXPECT_EQ(down(ports_of(seen, 0)), 1);
  EXPECT_EQ(down(ports_of(seen, 3)), 0);
  EXPECT_EQ(seen.topology.link(0, 3)->lanes_down, 1);
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("taken as 1")));
}

// The driver does not report where a link that is down leads.
TEST_F(NvidiaProbeTest, LinkThatWentDownIsStillThatLink) {
  Json machine = dgx1v();
  (void)see(probe_, machine);
  Json& link = machine["devices"][0]["links"][2];
  link = {{"link", 2}, {"state", 0}};
  const Observation seen = see(probe_, machine);
  const auto ports = ports_of(seen, 0);
  ASSERT_THAT(ports, SizeIs(6));
  EXPECT_EQ(ports[2].peer, ChipIndex{3});
  EXPECT_FALSE(ports[2].up);
  EXPECT_EQ(seen.topology.link(0, 3)->lanes_down, 1);
}

TEST_F(NvidiaProbeTest, SwitchLanesDownArePortsDown) {
  Json machine = hgx_h100();
  (void)see(probe_, machine);
  take_down(machine, 4, 9);
  machine["devices"][4]["links"][10] = {{"link", 10}, {"state", 0}, {"field_state", 0}};
  play(machine);
  EXPECT_TRUE(probe_.changes());
  const Observation seen = see(probe_);
  const auto ports = ports_of(seen, 4);
  ASSERT_THAT(ports, SizeIs(18));
  EXPECT_EQ(down(ports), 2);
  EXPECT_FALSE(ports[9].up || ports[10].up);
  EXPECT_EQ(seen.topology.switches()[0].ports[4].lanes_down, 2);
  // A probe that has never seen them up derives the same.
  NvidiaProbe other(with(current()));
  EXPECT_EQ(down(ports_of(see(other), 4)), 2);
}

TEST_F(NvidiaProbeTest, AnXidAsksForAReadingAndDoesNotWaitForIt) {
  Json machine = hgx_h100();
  const Observation before = see(probe_, machine);
  probe_.wait(milliseconds(1));
  EXPECT_FALSE(probe_.changes());
  machine["events"] = {{{"device", 6}, {"type", 8}, {"data", 74}}};
  play(machine);
  probe_.wait(kSoon);
  EXPECT_TRUE(probe_.changes());
  const auto events = probe_.take_events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].code, "xid.74");
  EXPECT_EQ(events[0].text, "NVLink error");
  EXPECT_EQ(events[0].chip, ChipIndex{6});
  EXPECT_EQ(events[0].pci, before.topology.chip(6).pci);
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(codes(see(probe_)), IsEmpty());
  EXPECT_FALSE(probe_.changes());
}

TEST_F(NvidiaProbeTest, EventsComeAgainAfterWaitingForThemHasFailed) {
  Json machine = hgx_h100();
  (void)see(probe_, machine);
  machine["errors"]["nvmlEventSetWait_v2"] = nvml::kUnknown;
  play(machine);
  probe_.wait(milliseconds(1));
  EXPECT_THAT(codes(see(probe_)), ElementsAre("nvml.events-failed"));
  machine.erase("errors");
  (void)see(probe_, machine);
  machine["events"] = {{{"device", 1}, {"type", 8}, {"data", 79}}};
  play(machine);
  probe_.wait(kSoon);
  EXPECT_THAT(codes(see(probe_)), ElementsAre("xid.79@1"));
}

TEST_F(NvidiaProbeTest, DriverThatIsReloadedIsOpenedAnewAndCountsAsReset) {
  Json machine = hgx_h100();
  (void)see(probe_, machine);
  machine["boot"] = 1;
  play(machine);
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(codes(see(probe_)), ElementsAre("nvml.reset"));
  EXPECT_THAT(codes(see(probe_)), IsEmpty());
  EXPECT_FALSE(probe_.changes());
}

TEST_F(NvidiaProbeTest, DriverThatIsGoneForAWhileIsLookedForNowAndThen) {
  Json machine = pcie_pair();
  (void)see(probe_, machine);
  Json gone = machine;
  gone["boot"] = 1;
  gone["errors"]["nvmlInitWithFlags"] = nvml::kDriverNotLoaded;
  play(gone);
  EXPECT_TRUE(probe_.changes());
  const auto none = probe_.discover();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::unavailable);
  EXPECT_THAT(none.error().message, HasSubstr("Driver Not Loaded"));
  int asks = 0;
  for (int i = 0; i < 20; ++i) asks += probe_.changes() ? 1 : 0;
  EXPECT_EQ(asks, 2);
  EXPECT_THAT(codes(see(probe_, machine)), ElementsAre("nvml.reset"));
}

TEST_F(NvidiaProbeTest, LibraryOfWhichNoDeviceAnswersIsOpenedAnew) {
  Json machine = pcie_pair();
  (void)see(probe_, machine);
  for (Json& gpu : machine["devices"]) gpu["errors"] = {{"*", nvml::kGpuIsLost}};
  // That does not help here: both are lost, together with what was known about them.
  EXPECT_THAT(codes(see(probe_, machine)), ElementsAre("nvml.lost@0", "nvml.lost@1"));
  machine["devices"][0].erase("errors");
  EXPECT_THAT(codes(see(probe_, machine)), ElementsAre("nvml.reset@0", "nvml.lost@1"));
}

TEST_F(NvidiaProbeTest, NoDriverAndNoGpuAreNotFound) {
  NvidiaProbeOptions options = with("libchipweave-has-no-such.so.1");
  options.driver_root = folder_.path();
  NvidiaProbe nowhere(options);
  const auto none = nowhere.discover();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::not_found);
  EXPECT_THAT(none.error().message, HasSubstr(folder_.at("usr/lib64")));
  play({{"devices", Json::array()}});
  const auto empty = probe_.discover();
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, Errc::not_found);
}

TEST_F(NvidiaProbeTest, LibraryIsFoundInTheDriverRoot) {
  for (const std::string sub :
       {"", "usr/lib64/", "usr/lib/x86_64-linux-gnu/", "usr/lib/aarch64-linux-gnu/"}) {
    const std::string name = "libfound-by-root.so.1";
    const std::string path =
        folder_.put("root" + std::to_string(sub.size()) + "/" + sub + name, "");
    std::filesystem::remove(path);
    std::filesystem::create_symlink(current(), path);
    NvidiaProbeOptions options = with(name);
    options.driver_root = folder_.at("root" + std::to_string(sub.size()));
    NvidiaProbe probe(options);
    EXPECT_EQ(see(probe, pcie_pair()).topology.chip_count(), 2) << sub;
  }
}

TEST_F(NvidiaProbeTest, GarbageIsWarnedOfAndSurvived) {
  Json machine = pcie_pair();
  machine["count"] = 4294967295U;
  machine["level"] = 77;
  machine["cuda"] = -2147483647;
  machine["driver"] = std::string(300, '\n');
  Json& gpu = machine["devices"][0];
  gpu["name"] = std::string(500, 'x');
  gpu["uuid"] = std::string(500, '\x7f');
  gpu["bus"] = "";
  gpu["sm"] = {2147483647, -5};
  gpu["module"] = 4294967295U;
  gpu["recovery_action"] = 4294967295U;
  gpu["fabric"] = {{"state", 255}, {"status", -2147483647}, {"mask", 4294967295U}, {"health", 255}};
  gpu["mig"] = {0, 4294967295U};
  gpu["uncorrected_errors"] = 0xffffffffffffffffU;
  gpu["links"] = {{{"link", 0}, {"state", -9}},
                  {{"link", 1},
                   {"state", 1},
                   {"type", -1},
                   {"version", 4294967295U},
                   {"remote", std::string(100, ':')}},
                  {{"link", 4294967295U}, {"state", 1}}};
  const Observation seen = see(probe_, machine);
  EXPECT_EQ(seen.topology.chip_count(), 2);
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("unknown state -9")));
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("at most 64 are read")));
  EXPECT_THAT(codes(seen), Contains("nvml.recovery-action@0"));
  EXPECT_THAT(ports_of(seen, 0), SizeIs(1));
  EXPECT_FALSE(seen.facts.contains("cuda"));
  EXPECT_FALSE(probe_.changes());
}

TEST_F(NvidiaProbeTest, AnAnswerThatIsMissingOnceDoesNotMakeAnotherDevice) {
  Json machine = dgx1v();
  const Observation before = see(probe_, machine);
  machine["devices"][0]["uuid"] = std::string(5000, 'x');
  machine["devices"][1]["bus"] = "nonsense";
  machine["devices"][3]["numa_mask"] = 0xffffffff;
  const Observation now = see(probe_, machine);
  for (int slot = 0; slot < 8; ++slot) {
    EXPECT_EQ(now.topology.chip(slot).id, before.topology.chip(slot).id);
    EXPECT_EQ(now.topology.chip(slot).pci, before.topology.chip(slot).pci);
    EXPECT_EQ(now.topology.chip(slot).numa, before.topology.chip(slot).numa);
  }
  EXPECT_THAT(now.ports, SizeIs(before.ports.size()));
  EXPECT_THAT(now.warnings, Contains(HasSubstr("no bus id")));
  // Another card in the same slot inherits nothing from the previous one.
  machine["devices"][1]["uuid"] = "GPU-other";
  EXPECT_EQ(see(probe_, machine).topology.chip(1).pci, "");
}

// Neither does the GPU leave, nor does what was wrong with it or its MIG mode end.
TEST_F(NvidiaProbeTest, LastAnswersStandWhereAQueryFails) {
  Json machine = dgx1v();
  machine["devices"][1]["remapped"] = {0, 1, 0, 1};
  machine["devices"][1]["retired_pending"] = 1;
  machine["devices"][1]["recovery_action"] = 2;
  machine["devices"][1]["fabric"] = {{"state", 2}};
  machine["devices"][2]["mig"] = {1, 1};
  machine["devices"][2]["mig_devices"] = {{{"uuid", "MIG-a"}}};
  const Observation before = see(probe_, machine);
  Json errors = Json::object();
  for (const char* call :
       {"ModuleId", "MinorNumber", "MemoryAffinity", "CudaComputeCapability", "Name", "UUID",
        "MigMode", "RemappedRows", "RetiredPagesPendingStatus", "GpuFabricInfoV", "FieldValues",
        "NvLinkRemoteDeviceType", "NvLinkRemotePciInfo_v2", "NvLinkCapability"}) {
    errors[std::string("nvmlDeviceGet") + call] = nvml::kUnknown;
  }
  for (const int gpu : {0, 1, 2})
    machine["devices"][static_cast<std::size_t>(gpu)]["errors"] = errors;
  const Observation now = see(probe_, machine);
  EXPECT_EQ(codes(now), codes(before));
  EXPECT_EQ(codes(now), (std::vector<std::string>{"nvml.row-remap-failed@1", "nvml.pages-pending@1",
                                                  "nvml.recovery-action@1",
                                                  "nvml.fabric-incomplete@1", "nvml.mig@2"}));
  EXPECT_EQ(now.facts, before.facts);
  expect_same_wiring(now.topology, before.topology);
  EXPECT_EQ(now.topology.chip(0).id, "GPU-0");
  EXPECT_EQ(now.topology.chip(0).numa, before.topology.chip(0).numa);
  EXPECT_THAT(now.warnings, Contains(HasSubstr("GPU 0: nvmlDeviceGetModuleId: Unknown Error")));
  // The next good answers replace them.
  machine = dgx1v();
  EXPECT_THAT(codes(see(probe_, machine)), IsEmpty());
}

TEST_F(NvidiaProbeTest, LinkWhoseStateCannotBeReadIsDownAndItsGpuIsNot) {
  Json machine = dgx1v();
  (void)see(probe_, machine);
  machine["devices"][0]["errors"] = {{"nvmlDeviceGetNvLinkState", nvml::kUnknown}};
  const Observation seen = see(probe_, machine);
  EXPECT_THAT(codes(seen), IsEmpty());
  EXPECT_THAT(ports_of(seen, 0), SizeIs(6));
  EXPECT_EQ(down(ports_of(seen, 0)), 6);
  EXPECT_EQ(seen.topology.link(0, 3)->lanes_down, 2);
  EXPECT_EQ(down(ports_of(see(probe_, dgx1v()), 0)), 0);
}

TEST_F(NvidiaProbeTest, GpuThatNoLongerSaysWhichItIsHasFailedAndKeepsItsPlace) {
  Json machine = pcie_pair();
  (void)see(probe_, machine);
  machine["devices"][1]["errors"] = {{"nvmlDeviceGetUUID", nvml::kUnknown},
                                     {"nvmlDeviceGetPciInfo_v3", nvml::kUnknown}};
  const Observation seen = see(probe_, machine);
  EXPECT_THAT(codes(seen), ElementsAre("nvml.failed@1"));
  EXPECT_EQ(seen.topology.chip(1).id, "GPU-1");
  EXPECT_EQ(seen.topology.chip(1).pci, "0000:11:00.0");
}

TEST_F(NvidiaProbeTest, WithoutEventsPollingDoes) {
  Json machine = hgx_h100();
  for (Json& gpu : machine["devices"]) gpu.erase("event_types");
  const Observation first = see(probe_, machine);
  EXPECT_THAT(first.warnings, ElementsAre(HasSubstr("no events from GPU 0, 1, 2")));
  EXPECT_THAT(see(probe_).warnings, IsEmpty());
  probe_.wait(milliseconds(1));
  EXPECT_FALSE(probe_.changes());
  take_down(machine, 0, 0);
  play(machine);
  EXPECT_TRUE(probe_.changes());
}

TEST_F(NvidiaProbeTest, OldDriverStillHasItsMeshAndItsErrors) {
  NvidiaProbe probe(with(old()));
  Json machine = dgx1v();
  machine["cuda"] = 10010;
  machine["devices"][0]["links"][1]["crc"] = 4;
  const Observation seen = see(probe, machine);
  EXPECT_THAT(seen.ports, SizeIs(48));
  EXPECT_EQ(seen.facts.at("cuda"), "10.1");
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("this driver has no events")));
  EXPECT_THAT(codes(seen), IsEmpty());
  const auto crc = std::find_if(seen.signals.begin(), seen.signals.end(), [](const Signal& s) {
    return s.code == "nvlink.crc" && s.chip == ChipIndex{0} && s.port == 1;
  });
  ASSERT_NE(crc, seen.signals.end());
  EXPECT_EQ(crc->value, 4);
  take_down(machine, 3, 0);
  play(machine);
  EXPECT_TRUE(probe.changes());
}

TEST_F(NvidiaProbeTest, PartitionsAreTheOperatorsToSay) {
  NvidiaProbeOptions options = with(current());
  options.partitions = FabricPartitions::hgx8;
  NvidiaProbe probe(options);
  EXPECT_THAT(see(probe, hgx_h100()).topology.partitions(), SizeIs(15));
  EXPECT_THAT(see(probe_).topology.partitions(), IsEmpty());
}

}  // namespace
}  // namespace chipweave::agent
