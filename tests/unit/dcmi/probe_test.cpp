#include "node-agent/probes/ascend/ascend_probe.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/codec/topology/import.hpp"
#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::Observation;
using domain::Signal;
using domain::SignalKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

// "state dcmi.gone 3" or, with a port and a value, "counter hccs.crc 3/1 = 7".
std::vector<std::string> listed(const Observation& seen) {
  std::vector<std::string> out;
  for (const Signal& signal : seen.signals) {
    std::string text = signal.kind == SignalKind::counter ? "counter " : "state ";
    text += signal.code + " " + std::to_string(signal.chip.value_or(domain::ChipIndex{-1}).value);
    if (signal.port) text += "/" + std::to_string(*signal.port);
    if (signal.value != 0) text += " = " + std::to_string(static_cast<int>(signal.value));
    out.push_back(text);
  }
  return out;
}

std::string text_of(const Observation& seen) { return codec::export_topology_json(seen.topology); }

class AscendProbeTest : public FakeDcmi {
 protected:
  static Observation look(AscendProbe& probe) {
    auto seen = probe.discover();
    EXPECT_TRUE(seen.ok()) << seen.error().text();
    return std::move(seen).value();
  }
  // An accelerator of Huawei on the bus.
  void put_npu(const std::string& address, const std::string& device) const {
    const std::string at = "root/sys/bus/pci/devices/" + address;
    folder_.put(at + "/class", "0x120000\n");
    folder_.put(at + "/vendor", "0x19e5\n");
    folder_.put(at + "/device", device + "\n");
  }
};

TEST_F(AscendProbeTest, HealthyMachineHasNoSignals) {
  const Observation seen = observe(atlas_a2(8));
  EXPECT_EQ(seen.machine, "Ascend910B");
  EXPECT_THAT(seen.signals, IsEmpty());
  EXPECT_THAT(seen.warnings, IsEmpty());
  EXPECT_THAT(seen.ports, IsEmpty());
  EXPECT_THAT(seen.facts, IsSupersetOf({Pair("driver", "24.1.rc3"), Pair("generation", "A2"),
                                        Pair("chip-name", "910B3"), Pair("aicore", "20"),
                                        Pair("card-type", "Ascend910B")}));
  EXPECT_THAT(seen.facts, Not(Contains(Key("server-type"))));
  EXPECT_THAT(seen.facts, Not(Contains(Key("super-pod-id"))));
}

TEST_F(AscendProbeTest, SuperPodIsAFactEvenWithoutANumber) {
  Json machine = atlas_a3();
  EXPECT_THAT(observe(machine).facts,
              IsSupersetOf({Pair("server-type", "A3"), Pair("super-pod-id", "2"),
                            Pair("server-index", "4"), Pair("generation", "A3")}));
  for (int i = 0; i < 16; ++i) {
    device_at(machine, i)["spod"][2] = dcmi::kNone;
    device_at(machine, i)["spod"][3] = dcmi::kNone;
  }
  EXPECT_THAT(observe(machine).facts,
              IsSupersetOf({Pair("super-pod-id", "-1"), Pair("server-index", "-1")}));
}

TEST_F(AscendProbeTest, ReportsWhatIsWrongWithEachChip) {
  Json machine = atlas_a2(8);
  device_at(machine, 0)["codes"] = {0x81078603U, 0x0000001dU};
  device_at(machine, 0)["texts"] = {{"81078603", "link down"}};
  device_at(machine, 1)["health"] = 1;
  device_at(machine, 2)["health"] = 2;
  device_at(machine, 3)["health"] = 3;
  device_at(machine, 4)["network"] = 2;
  device_at(machine, 5)["hccs"] = {4, 3};
  device_at(machine, 6)["health"] = dcmi::kNone;
  device_at(machine, 7)["sent"] = {0, 100};
  device_at(machine, 7)["crc"] = {0, 7};
  device_at(machine, 7)["retry"] = {0, 9};
  const Observation seen = observe(machine);
  EXPECT_THAT(
      listed(seen),
      ElementsAre("state dcmi.0000001d 0", "state dcmi.81078603 0", "state dcmi.health.minor 1 = 1",
                  "state dcmi.health.major 2 = 2", "state dcmi.health.critical 3 = 3",
                  "state hccn.net-health 4 = 2", "state hccs.down 5", "state dcmi.gone 6",
                  "counter hccs.crc 7/1 = 7", "counter hccs.retry 7/1 = 9"));
  EXPECT_EQ(seen.signals[1].text, "link down");
  EXPECT_EQ(seen.signals[5].text, "receive timeout");
  EXPECT_EQ(seen.signals[6].text, "PCS 0x00000004, HDLC 0x00000003");
  EXPECT_EQ(seen.signals[7].text, "no such device");
}

TEST_F(AscendProbeTest, HccsIsNoNewsWhereItsAnswerIsNotLaidDown) {
  for (Json machine : {duo_310p(), atlas_910a()}) {
    device_at(machine, 0)["hccs"] = {1, 0};
    EXPECT_THAT(observe(machine).signals, IsEmpty());
  }
}

TEST_F(AscendProbeTest, ChangesReportsEachStateAndNothingElse) {
  Json machine = atlas_a2(8);
  play(machine);
  AscendProbe probe(options());
  EXPECT_TRUE(probe.changes());
  look(probe);
  EXPECT_FALSE(probe.changes());
  const auto expect_change = [&](const char* key, const Json& value) {
    const Json before = device_at(machine, 3)[key];
    device_at(machine, 3)[key] = value;
    play(machine);
    EXPECT_TRUE(probe.changes()) << key;
    look(probe);
    EXPECT_FALSE(probe.changes()) << key;
    device_at(machine, 3)[key] = before;
    play(machine);
    EXPECT_TRUE(probe.changes()) << key;
    look(probe);
  };
  expect_change("health", 2);
  expect_change("network", 5);
  expect_change("codes", {0x80e01801U});
  expect_change("hccs", {0, 2});
  // Facts that do not change while a machine runs are only read again by the next discovery.
  device_at(machine, 3)["board"] = 41;
  play(machine);
  EXPECT_FALSE(probe.changes());
  folder_.put("hccn.conf", "address_0=192.0.2.99\n");
  EXPECT_TRUE(probe.changes());
}

TEST_F(AscendProbeTest, MissingDeviceStaysAsAChipThatIsGone) {
  Json machine = atlas_a2(8);
  play(machine);
  AscendProbe probe(options());
  look(probe);
  const Json whole = machine;
  machine["cards"].erase(machine["cards"].begin() + 3);
  // The pairs are named by position, and the positions have shifted.
  machine["pairs"] = Json::array();
  machine["topo"] = dcmi::kTopoHccs;
  play(machine);
  EXPECT_TRUE(probe.changes());
  Observation seen = look(probe);
  ASSERT_EQ(seen.topology.chip_count(), 8);
  EXPECT_THAT(listed(seen), ElementsAre("state dcmi.gone 3"));
  EXPECT_NE(seen.topology.link(0, 3), nullptr);
  EXPECT_EQ(seen.topology.chip(3).model, "910B3");
  EXPECT_FALSE(probe.changes());
  // It stays known while it is missing.
  EXPECT_EQ(look(probe).topology.chip_count(), 8);
  play(whole);
  EXPECT_TRUE(probe.changes());
  seen = look(probe);
  EXPECT_THAT(seen.signals, IsEmpty());
  EXPECT_EQ(seen.topology.links().size(), 28U);
}

TEST_F(AscendProbeTest, DeviceThatLosesItsNumbersKeepsThem) {
  Json machine = atlas_a3();
  play(machine);
  AscendProbe probe(options());
  look(probe);
  device_at(machine, 15)["errors"] = {{"*", dcmi::kNotPresent}};
  play(machine);
  const Observation seen = look(probe);
  ASSERT_EQ(seen.topology.chip_count(), 16);
  EXPECT_THAT(listed(seen), ElementsAre("state dcmi.gone 15"));
  EXPECT_EQ(seen.topology.link(14, 15)->kind, domain::LinkKind::sio);
  EXPECT_THAT(seen.topology.switches()[0].ports, SizeIs(16));
  EXPECT_EQ(seen.topology.rule().kind, domain::RuleKind::ascend_a3);
}

TEST_F(AscendProbeTest, OneTimeoutLosesNothing) {
  Json machine = atlas_a2(8);
  Json& npu = device_at(machine, 3);
  npu["health"] = 2;
  npu["codes"] = {0x80e01801U};
  npu["texts"] = {{"80e01801", "multi-bit ECC"}};
  npu["sent"] = {0, 100};
  npu["crc"] = {0, 7};
  play(machine);
  AscendProbe probe(options());
  const Observation before = look(probe);
  for (const dcmi::Code code : {dcmi::kTimeout, dcmi::kNotReady}) {
    npu["errors"] = {{"*", code}};
    play(machine);
    EXPECT_TRUE(probe.changes());
    const Observation seen = look(probe);
    EXPECT_THAT(listed(seen), ElementsAre("state dcmi.not-responding 3", "state dcmi.80e01801 3",
                                          "state dcmi.health.major 3 = 2",
                                          "counter hccs.crc 3/1 = 7", "counter hccs.retry 3/1"));
    EXPECT_EQ(seen.signals[1].text, "multi-bit ECC");
    EXPECT_EQ(text_of(seen), text_of(before));
    EXPECT_THAT(seen.warnings, Contains(HasSubstr("NPU 3: dcmi_get_device_health")));
  }
  npu.erase("errors");
  play(machine);
  EXPECT_TRUE(probe.changes());
  const Observation after = look(probe);
  EXPECT_EQ(listed(after), listed(before));
  EXPECT_THAT(after.warnings, IsEmpty());
}

TEST_F(AscendProbeTest, WhatADeviceAnswersIsTakenThoughOtherCallsTimeOut) {
  Json machine = atlas_a2(8);
  device_at(machine, 3)["health"] = 2;
  play(machine);
  AscendProbe probe(options());
  look(probe);
  device_at(machine, 3)["errors"] = {{"dcmi_get_device_health", dcmi::kTimeout},
                                     {"dcmi_get_device_chip_info_v2", dcmi::kNotReady}};
  device_at(machine, 3)["network"] = 2;
  play(machine);
  EXPECT_TRUE(probe.changes());
  Observation seen = look(probe);
  EXPECT_THAT(listed(seen),
              ElementsAre("state dcmi.not-responding 3", "state dcmi.health.major 3 = 2",
                          "state hccn.net-health 3 = 2"));
  EXPECT_EQ(seen.topology.chip(3).model, "910B3");
  // Every device answers its health: nothing but a fact is missing.
  device_at(machine, 3)["errors"].erase("dcmi_get_device_health");
  play(machine);
  EXPECT_TRUE(probe.changes());
  EXPECT_THAT(listed(look(probe)),
              ElementsAre("state dcmi.health.major 3 = 2", "state hccn.net-health 3 = 2"));
}

TEST_F(AscendProbeTest, FactsThatDidNotComeInTimeAreAskedForAgain) {
  Json machine = atlas_a2(8);
  machine["errors"]["dcmi_get_topo_info_by_device_id"] = dcmi::kTimeout;
  device_at(machine, 3)["errors"] = {{"dcmi_get_device_phyid_from_logicid", dcmi::kNotReady},
                                     {"dcmi_get_device_chip_info_v2", dcmi::kNotReady}};
  play(machine);
  AscendProbe probe(options());
  const Observation seen = look(probe);
  EXPECT_EQ(seen.topology.chip(3).model, "");
  EXPECT_THAT(seen.topology.links(), IsEmpty());
  EXPECT_FALSE(probe.changes());
  device_at(machine, 3).erase("errors");
  machine["errors"].clear();
  play(machine);
  int polls = 1;
  while (!probe.changes()) ASSERT_LT(++polls, 10);
  EXPECT_EQ(polls, 3);
  EXPECT_EQ(look(probe).topology.chip(3).model, "910B3");
  EXPECT_EQ(look(probe).topology.links().size(), 28U);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(probe.changes());
}

TEST_F(AscendProbeTest, CardThatIsNotListedInTimeKeepsItsDevices) {
  Json machine = atlas_a3();
  play(machine);
  AscendProbe probe(options());
  const Observation before = look(probe);
  machine["cards"][2]["errors"] = {{"*", dcmi::kTimeout}};
  play(machine);
  EXPECT_TRUE(probe.changes());
  const Observation seen = look(probe);
  EXPECT_THAT(listed(seen),
              ElementsAre("state dcmi.not-responding 4", "state dcmi.not-responding 5"));
  EXPECT_EQ(seen.topology.chip_count(), 16);
  EXPECT_EQ(seen.topology.link(4, 5)->kind, domain::LinkKind::sio);
  EXPECT_THAT(seen.topology.switches()[0].ports, SizeIs(16));
  machine["cards"][2].erase("errors");
  play(machine);
  EXPECT_TRUE(probe.changes());
  EXPECT_EQ(text_of(look(probe)), text_of(before));
}

TEST_F(AscendProbeTest, DeviceKeepsItsNumberWhereTheDriverNoLongerReportsIt) {
  Json machine = atlas_a2(8);
  for (int i = 0; i < 8; ++i) device_at(machine, i)["physical"] = 7 - i;
  play(machine);
  AscendProbe probe(options());
  look(probe);
  device_at(machine, 1)["errors"] = {{"dcmi_get_device_logic_id", dcmi::kNoPermission}};
  play(machine);
  const Observation seen = look(probe);
  EXPECT_EQ(seen.topology.chip(6).physical_id, 6);
  EXPECT_THAT(seen.topology.chip(6).device_ips, ElementsAre("192.0.2.11"));
  EXPECT_THAT(seen.signals, IsEmpty());
}

TEST_F(AscendProbeTest, NumbersThatTheDriverDoesNotReportAreUnknown) {
  Json machine = atlas_a2(8);
  device_at(machine, 3).erase("physical");
  folder_.put("hccn.conf", "address_3=192.0.2.103\n");
  device_at(machine, 3).erase("ip");
  Observation seen = observe(machine);
  EXPECT_THAT(listed(seen), ElementsAre("state ascend.identity-unknown 3"));
  EXPECT_EQ(seen.topology.chip(3).id, "npu-at-card-3-0");
  // The configuration is by physical id.
  EXPECT_THAT(seen.topology.chip(3).device_ips, IsEmpty());
  EXPECT_THAT(seen.facts, Not(Contains(Key("identity"))));
  for (int i = 0; i < 8; ++i) device_at(machine, i).erase("physical");
  seen = observe(machine);
  EXPECT_THAT(listed(seen), ElementsAre("state ascend.identity-unknown -1"));
  EXPECT_THAT(seen.signals[0].text, HasSubstr("--probe profile:NAME"));
  EXPECT_THAT(seen.facts, Contains(Pair("identity", "unknown")));
}

TEST_F(AscendProbeTest, DriverThatStopsListingIsAnErrorOnce) {
  Json machine = atlas_a2(8);
  play(machine);
  AscendProbe probe(options());
  look(probe);
  machine["errors"]["dcmi_get_card_list"] = dcmi::kNotReady;
  play(machine);
  EXPECT_TRUE(probe.changes());
  const auto seen = probe.discover();
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::unavailable);
  EXPECT_FALSE(probe.changes());
  machine["errors"].clear();
  play(machine);
  EXPECT_TRUE(probe.changes());
  EXPECT_THAT(look(probe).signals, IsEmpty());
}

TEST_F(AscendProbeTest, AddressesComeFromTheConfigurationWhereTheDriverHasNone) {
  Json machine = atlas_a2(8);
  device_at(machine, 1).erase("ip");
  device_at(machine, 2).erase("ip");
  folder_.put("hccn.conf", "address_0=192.0.2.100\naddress_1=192.0.2.101\n");
  const Observation seen = observe(machine);
  EXPECT_THAT(seen.topology.chip(0).device_ips, ElementsAre("192.0.2.10"));
  EXPECT_THAT(seen.topology.chip(1).device_ips, ElementsAre("192.0.2.101"));
  EXPECT_THAT(seen.topology.chip(2).device_ips, IsEmpty());
  folder_.put("hccn.conf", "address_1=nonsense\n");
  EXPECT_THAT(observe(machine).warnings, Contains(HasSubstr("hccn.conf")));
}

TEST_F(AscendProbeTest, NothingHereIsNotFound) {
  AscendProbe probe(options(folder_.at("libdcmi.so")));
  const auto seen = probe.discover();
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::not_found);
  EXPECT_FALSE(probe.changes());
  folder_.put("root/dev/davinci0", "");
  EXPECT_TRUE(probe.changes());
}

TEST_F(AscendProbeTest, ALibraryThatComesLaterIsFound) {
  play(atlas_a2(8));
  AscendProbe probe(options(folder_.at("libdcmi.so")));
  EXPECT_FALSE(probe.discover().ok());
  std::filesystem::create_symlink(current(), folder_.at("libdcmi.so"));
  EXPECT_TRUE(probe.changes());
  EXPECT_EQ(look(probe).topology.chip_count(), 8);
}

TEST_F(AscendProbeTest, WithoutLibraryTheDeviceFilesAreSeen) {
  for (const char* name : {"davinci10", "davinci2", "davinci_manager", "davinci0", "davinciX"}) {
    folder_.put(std::string("root/dev/") + name, "");
  }
  put_npu("0000:c1:00.0", "0xd802");
  folder_.put("hccn.conf", "address_2=192.0.2.102\n");
  AscendProbe probe(options(folder_.at("libdcmi.so")));
  const Observation seen = look(probe);
  EXPECT_THAT(seen.topology.indices(seen.topology.all()), ElementsAre(0, 2, 10));
  EXPECT_EQ(seen.topology.vendor(), "ascend");
  EXPECT_THAT(seen.topology.chip(1).device_ips, ElementsAre("192.0.2.102"));
  EXPECT_EQ(seen.topology.chip(1).physical_id, 2);
  EXPECT_THAT(seen.topology.links(), IsEmpty());
  EXPECT_THAT(seen.signals, IsEmpty());
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("no Ascend driver here")));
  EXPECT_THAT(seen.warnings, Contains(HasSubstr("model, links and health")));
}

// On A5 the device files have logic ids. It has another PCI id, or is not on the bus at all.
TEST_F(AscendProbeTest, DeviceFilesHavePhysicalIdsOnlyUpToA3) {
  folder_.put("root/dev/davinci0", "");
  const auto expect_unknown = [&] {
    AscendProbe probe(options(folder_.at("libdcmi.so")));
    const Observation seen = look(probe);
    EXPECT_THAT(listed(seen), ElementsAre("state ascend.identity-unknown -1"));
    EXPECT_THAT(seen.signals[0].text, HasSubstr("run the agent as root"));
    EXPECT_THAT(seen.facts, Contains(Pair("identity", "unknown")));
    EXPECT_EQ(seen.topology.chip(0).physical_id, std::nullopt);
    EXPECT_EQ(seen.topology.chip(0).id, "npu-at-davinci0");
  };
  expect_unknown();
  put_npu("0000:c1:00.0", "0xd806");
  expect_unknown();
}

TEST_F(AscendProbeTest, ADriverThatDoesNotStartIsAProblemOnlyWhereNothingElseIsSeen) {
  Json machine = atlas_a2(8);
  machine["errors"]["dcmi_init"] = dcmi::kNoPermission;
  play(machine);
  const auto seen = AscendProbe(options()).discover();
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::unavailable);
  folder_.put("root/dev/davinci0", "");
  EXPECT_THAT(observe(machine).warnings, Contains(HasSubstr("no permission (-8002); run it as")));
}

// A tool that returns scripted outputs and counts its calls.
class ScriptedTool {
 public:
  HccnWatch::RunTool ask() {
    return [this](const std::vector<std::string>& arguments) -> Result<std::string> {
      ++asked_;
      if (arguments[2] == "-link") {
        return std::string(down_ ? "link status: DOWN\n" : "link status: UP\n");
      }
      if (arguments[2] == "-ip") return "ipaddr:198.51.100." + arguments[1] + "\n";
      return std::string("Port ID TLV\n\tIfname: 400GE1/1/20:2\nSystem Name TLV\n\tleaf-7\n");
    };
  }
  std::atomic<bool> down_ = false;
  std::atomic<int> asked_ = 0;
};

// The probe's thread decides when; the timeout allows for a loaded machine.
template <class Done>
bool eventually(const Done& done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_F(AscendProbeTest, ToolReportsWhatTheDriverDoesNot) {
  Json machine = atlas_a2(8);
  for (int i = 0; i < 8; ++i) {
    device_at(machine, i).erase("network");
    if (i > 0) device_at(machine, i).erase("ip");
  }
  play(machine);
  ScriptedTool tool;
  tool.down_ = true;
  AscendProbe probe(options(), tool.ask());
  // All calls of the first round: 8 links, 7 addresses, 8 switches.
  look(probe);
  ASSERT_TRUE(eventually([&] { return tool.asked_ >= 23 && probe.changes(); }));
  ASSERT_TRUE(eventually([&] { return look(probe).neighbours.size() == 8; }));
  const Observation seen = look(probe);
  EXPECT_THAT(listed(seen), Contains("state hccn.link-down 7"));
  EXPECT_THAT(seen.topology.chip(0).device_ips, ElementsAre("192.0.2.10"));
  EXPECT_THAT(seen.topology.chip(7).device_ips, ElementsAre("198.51.100.7"));
  EXPECT_EQ(seen.neighbours[7].chip, domain::ChipIndex{7});
  EXPECT_EQ(seen.neighbours[7].system, "leaf-7");
  EXPECT_EQ(seen.neighbours[7].port, "400GE1/1/20:2");
  EXPECT_EQ(seen.neighbours[7].nic, "");
}

TEST_F(AscendProbeTest, ToolIsNotRunForLinksThatTheDriverReports) {
  play(atlas_a2(8));
  ScriptedTool tool;
  tool.down_ = true;
  AscendProbe probe(options(), tool.ask());
  look(probe);
  ASSERT_TRUE(eventually([&] { return look(probe).neighbours.size() == 8; }));
  EXPECT_THAT(look(probe).signals, IsEmpty());
  EXPECT_EQ(tool.asked_, 8);
}

TEST_F(AscendProbeTest, ToolThatHangsDelaysNobody) {
  Json machine = atlas_a2(8);
  play(machine);
  std::atomic<bool> release = false;
  AscendProbe probe(options(), [&](const std::vector<std::string>&) -> Result<std::string> {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return make_error(Errc::deadline, "hccn_tool did not end");
  });
  look(probe);
  device_at(machine, 0)["health"] = 3;
  play(machine);
  EXPECT_TRUE(probe.changes());
  EXPECT_THAT(listed(look(probe)), ElementsAre("state dcmi.health.critical 0 = 3"));
  release = true;
}

}  // namespace
}  // namespace chipweave::agent
