#include "node-agent/probes/ascend/dcmi/dcmi_reader.hpp"

#include <gmock/gmock.h>

#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DcmiReader : public FakeDcmi {};

TEST_F(DcmiReader, ReadsEveryFact) {
  Json machine = atlas_a3();
  Json& die = device_at(machine, 5);
  die["codes"] = {0x80e01801U, 0x40f84e00U, 0x80e01801U};
  die["texts"] = {{"80e01801", "chip memory multi-bit ECC"}};
  die["health"] = 2;
  die["sent"] = {0, 10, 0, 4};
  die["crc"] = {0, 7};
  die["retry"] = {0, 9, 1};
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.driver, "25.0.rc1");
  EXPECT_EQ(seen.devices_per_card, 2);
  EXPECT_THAT(seen.notes, IsEmpty());
  ASSERT_THAT(seen.devices, SizeIs(16));
  EXPECT_THAT(seen.pairs, SizeIs(120));
  const DcmiDevice& npu = seen.devices[5];
  EXPECT_EQ(npu.sample.place, (DcmiPlace{false, 2, 1}));
  EXPECT_EQ(npu.logic_id, 5);
  EXPECT_EQ(npu.physical_id, 5);
  EXPECT_EQ(npu.chip_name, "Ascend910");
  EXPECT_EQ(npu.ai_cores, 24);
  EXPECT_EQ(npu.board, 40U);
  EXPECT_EQ(npu.sample.health, 2U);
  EXPECT_EQ(npu.sample.network, 0);
  EXPECT_EQ(npu.sample.pcs, 0U);
  EXPECT_EQ(npu.sample.hdlc, 3U);
  EXPECT_THAT(npu.sample.errors, ElementsAre(0x40f84e00U, 0x80e01801U));
  ASSERT_THAT(npu.errors, SizeIs(2));
  EXPECT_EQ(npu.errors[0].text, "");
  EXPECT_EQ(npu.errors[1].text, "chip memory multi-bit ECC");
  EXPECT_THAT(npu.addresses, ElementsAre("192.0.2.15"));
  ASSERT_TRUE(npu.super_pod);
  EXPECT_EQ(npu.super_pod->sdid, (4U << 22U) | (2U << 18U) | (1U << 16U) | 5U);
  EXPECT_EQ(npu.super_pod->size, 384);
  EXPECT_EQ(npu.super_pod->id, 2);
  EXPECT_EQ(npu.super_pod->server_index, 4);
  EXPECT_EQ(npu.super_pod->type, -1);
  EXPECT_EQ(npu.cpus, "0-23");
  ASSERT_THAT(npu.counters, SizeIs(3));
  EXPECT_EQ(npu.counters[0].pcs, 1);
  EXPECT_EQ(npu.counters[0].crc_errors, 7U);
  EXPECT_EQ(npu.counters[0].retries, 9U);
  EXPECT_EQ(npu.counters[1].pcs, 2);
  EXPECT_EQ(npu.counters[2].pcs, 3);
  EXPECT_THAT(npu.notes, IsEmpty());
}

TEST_F(DcmiReader, SamplesAreThoseOfTheSnapshot) {
  Json machine = atlas_a2(8);
  device_at(machine, 3)["network"] = 5;
  device_at(machine, 4)["health"] = dcmi::kNone;
  play(machine);
  auto library = DcmiLibrary::open({current()});
  ASSERT_TRUE(library.ok());
  const auto samples = read_dcmi_samples(*library);
  const auto whole = read_dcmi(*library);
  ASSERT_TRUE(samples.ok() && whole.ok());
  ASSERT_EQ(samples->size(), whole->devices.size());
  for (std::size_t i = 0; i < samples->size(); ++i) {
    EXPECT_EQ((*samples)[i], whole->devices[i].sample) << i;
  }
  EXPECT_TRUE((*samples)[3].network_bad());
  EXPECT_TRUE((*samples)[4].gone);
}

TEST_F(DcmiReader, McuAndCpuOfACardAreNoNpus) {
  Json machine = duo_310p();
  // As a card that also counts its MCU and CPU.
  machine["cards"][0]["device_id_max"] = 4;
  machine["cards"][0]["cpu"] = 3;
  EXPECT_THAT(snapshot(machine).devices, SizeIs(8));
}

TEST_F(DcmiReader, OldDriverLosesFactsAndNothingElse) {
  const DcmiSnapshot seen = snapshot(duo_310p(), old());
  // The counted MCU has no logic id.
  ASSERT_THAT(seen.devices, SizeIs(8));
  EXPECT_EQ(seen.devices_per_card, 2);
  EXPECT_EQ(seen.devices[7].physical_id, 7);
  EXPECT_EQ(seen.devices[7].chip_name, "310P3");
  EXPECT_EQ(seen.devices[7].board, std::nullopt);
  EXPECT_EQ(seen.devices[7].cpus, "");
  EXPECT_THAT(seen.pairs, IsEmpty());
  EXPECT_THAT(seen.notes, Contains("this driver has no dcmi_get_topo_info_by_device_id"));
  EXPECT_THAT(seen.devices[7].notes, IsEmpty());
}

TEST_F(DcmiReader, FlatFamilyIsReadAlike) {
  const DcmiSnapshot seen = snapshot(atlas_a5(8), flat());
  EXPECT_TRUE(seen.flat);
  ASSERT_THAT(seen.devices, SizeIs(8));
  EXPECT_THAT(seen.pairs, SizeIs(28));
  EXPECT_EQ(seen.devices[3].chip_name, "Ascend950PR");
  EXPECT_EQ(seen.devices[3].logic_id, 3);
  EXPECT_EQ(seen.devices[3].physical_id, 3);
  EXPECT_EQ(seen.devices[3].sample.health, 0U);
  EXPECT_THAT(seen.notes, IsEmpty());
}

TEST_F(DcmiReader, AFailedCallLeavesItsFieldEmptyAndANote) {
  Json machine = atlas_a2(8);
  device_at(machine, 1)["errors"] = {{"dcmi_get_device_chip_info_v2", dcmi::kTimeout},
                                     {"dcmi_get_device_ip", dcmi::kInvalidId}};
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.devices[1].chip_name, "");
  EXPECT_EQ(seen.devices[1].ai_cores, std::nullopt);
  EXPECT_THAT(seen.devices[1].addresses, IsEmpty());
  EXPECT_FALSE(seen.devices[1].sample.gone);
  EXPECT_THAT(seen.devices[1].notes, ElementsAre("dcmi_get_device_chip_info_v2: timeout (-8006)",
                                                 "dcmi_get_device_ip: no such device (-8007)"));
}

TEST_F(DcmiReader, DeviceThatDoesNotTellItsHealthIsGone) {
  Json machine = atlas_a2(8);
  device_at(machine, 2)["health"] = dcmi::kNone;
  device_at(machine, 3)["errors"] = {{"*", dcmi::kNotPresent}};
  device_at(machine, 4)["errors"] = {{"dcmi_get_device_health", dcmi::kNotSupported}};
  device_at(machine, 5)["errors"] = {{"dcmi_get_device_health", dcmi::kNoPermission}};
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_TRUE(seen.devices[2].sample.gone);
  EXPECT_TRUE(seen.devices[3].sample.gone);
  EXPECT_FALSE(seen.devices[4].sample.gone);
  EXPECT_FALSE(seen.devices[5].sample.gone);
  EXPECT_EQ(seen.devices[5].sample.health, std::nullopt);
  for (const DcmiPair& pair : seen.pairs) {
    EXPECT_FALSE(pair.a == 2 || pair.b == 2 || pair.a == 3 || pair.b == 3);
  }
}

TEST_F(DcmiReader, DeviceThatDoesNotAnswerYetIsNotGone) {
  for (const dcmi::Code code :
       {dcmi::kTimeout, dcmi::kNotReady, dcmi::kUpgrading, dcmi::kOccupied}) {
    Json machine = atlas_a2(8);
    device_at(machine, 3)["errors"] = {{"dcmi_get_device_health", code}};
    device_at(machine, 3)["codes"] = {0x80e01801U};
    const DcmiDevice npu = snapshot(machine).devices[3];
    EXPECT_FALSE(npu.sample.gone) << code;
    EXPECT_TRUE(npu.sample.not_responding()) << code;
    EXPECT_EQ(npu.sample.answer, code);
    // The rest is read.
    EXPECT_THAT(npu.sample.errors, ElementsAre(0x80e01801U)) << code;
    EXPECT_EQ(npu.physical_id, 3) << code;
    EXPECT_EQ(npu.chip_name, "910B3") << code;
  }
}

TEST_F(DcmiReader, DeviceThatLetsCallsTimeOutIsNotAskedForTheRest) {
  Json machine = atlas_a2(8);
  device_at(machine, 3)["errors"] = {{"*", dcmi::kTimeout}};
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.devices[3].notes,
              ElementsAre("dcmi_get_device_health: timeout (-8006)",
                          "dcmi_get_device_network_health: timeout (-8006)"));
  EXPECT_THAT(seen.devices[3].sample.unanswered,
              ElementsAre(DcmiFact::health, DcmiFact::network, DcmiFact::errors, DcmiFact::hccs));
  EXPECT_THAT(
      seen.devices[3].unanswered,
      ElementsAre(DcmiFact::logic_id, DcmiFact::physical_id, DcmiFact::chip, DcmiFact::board,
                  DcmiFact::addresses, DcmiFact::super_pod, DcmiFact::counters, DcmiFact::cpus));
  EXPECT_TRUE(seen.pairs_unanswered);
  EXPECT_THAT(seen.pairs, SizeIs(21));
  EXPECT_THAT(seen.devices[4].unanswered, IsEmpty());
}

TEST_F(DcmiReader, CardThatIsNotListedInTimeIsToldFromOneThatIsGone) {
  Json machine = atlas_a2(8);
  machine["cards"][2]["errors"] = {{"*", dcmi::kNotReady}};
  machine["cards"][5]["errors"] = {{"*", dcmi::kNotPresent}};
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.devices, SizeIs(6));
  EXPECT_THAT(seen.unlisted, ElementsAre(testing::Pair(2, dcmi::kNotReady)));
}

TEST_F(DcmiReader, Ipv6IsTakenWhereThereIsNoIpv4) {
  Json machine = atlas_a2(8);
  device_at(machine, 0).erase("ip");
  device_at(machine, 0)["ip6"] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  device_at(machine, 1).erase("ip");
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.devices[0].addresses, ElementsAre("2001:db8::1"));
  EXPECT_THAT(seen.devices[1].addresses, IsEmpty());
  EXPECT_THAT(seen.devices[1].notes, IsEmpty());
}

TEST_F(DcmiReader, NumbersThatTheDriverHasNotAreNone) {
  Json machine = atlas_a3();
  device_at(machine, 0)["spod"] = {dcmi::kNone, dcmi::kNone, dcmi::kNone, dcmi::kNone, 0U, 0U};
  device_at(machine, 1).erase("spod");
  const DcmiSnapshot seen = snapshot(machine);
  ASSERT_TRUE(seen.devices[0].super_pod);
  EXPECT_EQ(seen.devices[0].super_pod->sdid, std::nullopt);
  EXPECT_EQ(seen.devices[0].super_pod->id, -1);
  EXPECT_EQ(seen.devices[0].super_pod->server_index, -1);
  EXPECT_FALSE(seen.devices[1].super_pod);
}

TEST_F(DcmiReader, GarbageCountsAreBounded) {
  Json machine = atlas_a2(8);
  machine["card_count"] = 2147483647;
  DcmiSnapshot seen = snapshot(machine);
  EXPECT_THAT(seen.devices, SizeIs(8));
  EXPECT_THAT(seen.notes, Contains(HasSubstr("the driver counts 2147483647")));
  machine = atlas_a2(8);
  machine["cards"][0]["device_id_max"] = 1000000;
  device_at(machine, 1)["code_count"] = -5;
  device_at(machine, 2)["code_count"] = 1 << 30;
  seen = snapshot(machine);
  EXPECT_LE(seen.devices.size(), 64U);
  EXPECT_THAT(seen.notes, Contains(HasSubstr("lists more devices than are read")));
}

TEST_F(DcmiReader, GarbageAnswersBecomeNotes) {
  Json machine = atlas_a2(8);
  Json& npu = device_at(machine, 0);
  npu["health"] = 77;
  npu["network"] = -3;
  npu["physical"] = 4000000000U;
  npu["chip"] = {"", std::string(500, 'x'), "", 4000000000U, "\x01\x02"};
  npu["cpus"] = std::string(5000, '7');
  npu["driver"] = std::string(500, 'd');
  const DcmiSnapshot seen = snapshot(machine);
  EXPECT_EQ(seen.devices[0].sample.health, std::nullopt);
  EXPECT_EQ(seen.devices[0].sample.network, std::nullopt);
  EXPECT_FALSE(seen.devices[0].sample.network_bad());
  EXPECT_EQ(seen.devices[0].physical_id, std::nullopt);
  EXPECT_EQ(seen.devices[0].chip_name, std::string(32, 'x'));
  EXPECT_EQ(seen.devices[0].npu_name, "??");
  EXPECT_EQ(seen.devices[0].ai_cores, std::nullopt);
  EXPECT_THAT(seen.devices[0].notes, Contains("dcmi_get_device_health: unknown health 77"));
  EXPECT_THAT(seen.devices[0].notes, Contains("dcmi_get_device_network_health: unknown state -3"));
}

TEST_F(DcmiReader, DevicesThatCannotBeListedAreAnError) {
  Json machine = atlas_a2(8);
  machine["errors"]["dcmi_get_card_list"] = -8999;
  const auto seen = read(machine);
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::unavailable);
  EXPECT_THAT(seen.error().message, HasSubstr("dcmi_get_card_list: DCMI error (-8999)"));
}

}  // namespace
}  // namespace chipweave::agent
