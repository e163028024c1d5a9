// The parts that decide alone: when to register, when to list, when the node is open, what a
// container gets with its chips, and how devices are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "common/domain/topology_builder.hpp"
#include "common/io/files.hpp"
#include "node-agent/device_plugin/core/gate.hpp"
#include "node-agent/device_plugin/core/hand_over.hpp"
#include "node-agent/device_plugin/core/list_turn.hpp"
#include "node-agent/device_plugin/core/registration.hpp"
#include "node-agent/device_plugin/core/vendor_devices.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::milliseconds;
using test::kube_pod;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Step = Registration::Step;

Devices devices_of(const std::string& vendor, int count,
                   const std::function<void(domain::Chip&)>& change,
                   const std::string& model = "") {
  domain::TopologyBuilder builder;
  builder.vendor = vendor;
  builder.model = model;
  for (int i = 0; i < count; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    change(chip);
    builder.add_chip(std::move(chip));
  }
  auto built = std::move(builder).build();
  EXPECT_TRUE(built.ok()) << built.error().text();
  return {*built, std::make_shared<solver::Machine>(*built)};
}

TEST(DeviceIds, AreThoseOfTheVendorsPlugin) {
  const auto uuid = [](domain::Chip& c) { c.id = "GPU-" + std::to_string(c.index.value); };
  EXPECT_THAT(devices_of("nvidia", 2, uuid).ids({0, 1}), ElementsAre("GPU-0", "GPU-1"));
  const auto pci = [](domain::Chip& c) {
    c.id = "0xabc" + std::to_string(c.index.value);
    c.pci = "0000:0" + std::to_string(c.index.value) + ":00.0";
  };
  EXPECT_THAT(devices_of("amd", 2, pci).ids({1}), ElementsAre("0000:01:00.0"));
  const auto physical = [](domain::Chip& c) { c.physical_id = 7 - c.index.value; };
  EXPECT_THAT(devices_of("ascend", 2, physical, "Ascend910A").ids({0, 1}),
              ElementsAre("Ascend910-7", "Ascend910-6"));
}

TEST(DeviceIds, AreIndicesWhereTheOthersDoNotTellApart) {
  const auto odd = [](domain::Chip& c) { c.id = c.index.value == 0 ? "GPU,0" : "GPU-1"; };
  EXPECT_THAT(devices_of("nvidia", 2, odd).ids({0, 1}), ElementsAre("0", "1"));
  EXPECT_THAT(devices_of("nvidia", 2, [](domain::Chip&) {}).ids({0, 1}), ElementsAre("0", "1"));
  // The kubelet keeps ids and environment variables carry them.
  const auto longest = [](domain::Chip& c) { c.id = std::string(253, 'x'); };
  EXPECT_EQ(devices_of("nvidia", 1, longest).id(0).size(), 253U);
  const auto too_long = [](domain::Chip& c) { c.id = std::string(254, 'x'); };
  EXPECT_EQ(devices_of("nvidia", 1, too_long).id(0), "0");
}

TEST(VendorDevicesTest, AreFoundByAnyNameOfAChip) {
  const Devices devices = devices_of("nvidia", 4, [](domain::Chip& c) {
    c.id = "GPU-a" + std::to_string(c.index.value);
    c.pci = "0000:0" + std::to_string(c.index.value) + ":00.0";
  });
  const VendorDevices seen = vendor_devices(devices.topology(), {{"GPU-a2", true},
                                                                 {"0000:00:00.0", false},
                                                                 {"3", true},
                                                                 {"GPU-A2", true},
                                                                 {"MIG-1", true},
                                                                 {"GPU-a1::0", true},
                                                                 {"", true}});
  EXPECT_THAT(seen.ids, ElementsAre("0000:00:00.0", "", "GPU-a2", "3"));
  EXPECT_EQ(seen.healthy, (domain::ChipSet{2, 3}));
  EXPECT_THAT(seen.unknown, ElementsAre("GPU-A2", "MIG-1", "GPU-a1::0", ""));
  const Devices offers(devices.topology(), std::make_shared<solver::Machine>(devices.topology()),
                       seen.ids, seen.healthy);
  EXPECT_EQ(offers.slot("3"), 3);
  EXPECT_FALSE(offers.slot("")) << "a chip that is not offered has no name";
  EXPECT_EQ(offers.healthy(), (domain::ChipSet{2, 3}));
  EXPECT_EQ(offered(offers, true),
            (std::vector<OfferedDevice>{{"0000:00:00.0", false}, {"GPU-a2", true}, {"3", true}}));
}

TEST(VendorDevicesTest, ANameOfTwoChipsIsThatOfNone) {
  const Devices devices = devices_of(
      "nvidia", 2, [](domain::Chip& c) { c.id = c.index.value == 0 ? "GPU-a" : "GPU-A"; });
  EXPECT_THAT(vendor_devices(devices.topology(), {{"GPU-a", true}}).ids, ElementsAre("", ""));
}

TEST(VendorDevicesTest, ADeviceWithoutANameIsNoChipWithoutOne) {
  const Devices devices = devices_of("nvidia", 2, [](domain::Chip& c) {
    if (c.index.value == 0) c.id = "GPU-a";
  });
  const VendorDevices seen = vendor_devices(devices.topology(), {{"", true}});
  EXPECT_THAT(seen.unknown, ElementsAre(""));
  EXPECT_TRUE(seen.healthy.empty());
}

TEST(OfferedDevices, WhatIsNotKnownIsUnhealthy) {
  const Devices devices = devices_of("nvidia", 2, [](domain::Chip& c) {
    if (c.index.value == 1) c.health = domain::Health::unhealthy;
  });
  EXPECT_THAT(offered(devices, true),
              ElementsAre(OfferedDevice{"0", true}, OfferedDevice{"1", false}));
  EXPECT_THAT(offered(devices, false),
              ElementsAre(OfferedDevice{"0", false}, OfferedDevice{"1", false}));
}

const std::set<std::string> kOptionalNodes = {"/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                                              "/dev/nvidia-modeset", "/dev/devmm_svm",
                                              "/dev/hisi_hdc"};

TEST(HandOver, IsThatOfTheVendor) {
  const Devices devices = devices_of("nvidia", 3, [](domain::Chip& c) {
    c.id = "GPU-" + std::to_string(c.index.value);
    c.physical_id = c.index.value + 4;
    c.pci = "0000:1" + std::to_string(c.index.value) + ":00.0";
  });
  const auto all = vendor_hand_over("nvidia", "env,cdi,devices");
  ASSERT_TRUE(all.ok());
  agent::FakeHost host;
  host.missing = kOptionalNodes;
  host.minors = {{"0000:10:00.0", 3}, {"0000:12:00.0", 1}};
  host.drm = {{"0000:11:00.0", {"/dev/dri/renderD129"}}};
  const Handed got = hand_over(*all, {0, 2}, devices, host).value();
  EXPECT_THAT(got.environment, ElementsAre(std::pair<const std::string, std::string>(
                                   "NVIDIA_VISIBLE_DEVICES", "GPU-0,GPU-2")));
  EXPECT_THAT(got.cdi, ElementsAre("nvidia.com/gpu=GPU-0", "nvidia.com/gpu=GPU-2"));
  EXPECT_THAT(got.nodes, ElementsAre("/dev/nvidia3", "/dev/nvidia1", "/dev/nvidiactl"));
  EXPECT_THAT(
      hand_over(*vendor_hand_over("ascend", ""), {1, 2}, devices, host)->environment,
      ElementsAre(std::pair<const std::string, std::string>("ASCEND_VISIBLE_DEVICES", "5,6")));
  EXPECT_THAT(hand_over(*vendor_hand_over("ascend", "devices"), {1}, devices, host)->nodes,
              ElementsAre("/dev/davinci5", "/dev/davinci_manager"));
  EXPECT_THAT(hand_over(*vendor_hand_over("amd", ""), {1}, devices, host)->nodes,
              ElementsAre("/dev/dri/renderD129", "/dev/kfd"));
}

TEST(HandOver, OptionalNodesAreThoseThatExistNow) {
  const Devices devices =
      devices_of("nvidia", 2, [](domain::Chip& c) { c.pci = std::to_string(c.index.value); });
  agent::FakeHost host;
  host.minors = {{"0", 0}, {"1", 1}};
  const auto nodes = [&](const HandOver& how, const std::set<std::string>& there) {
    host.missing = kOptionalNodes;
    host.missing.insert({"/dev/a0", "/dev/a1"});
    for (const std::string& node : there) host.missing.erase(node);
    return hand_over(how, {0, 1}, devices, host)->nodes;
  };
  const HandOver nvidia = *vendor_hand_over("nvidia", "devices");
  EXPECT_THAT(nodes(nvidia, {"/dev/nvidia-uvm", "/dev/nvidia-modeset"}),
              ElementsAre("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm",
                          "/dev/nvidia-modeset"));
  EXPECT_THAT(
      nodes(*vendor_hand_over("ascend", "devices"), {"/dev/hisi_hdc"}),
      ElementsAre("/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/hisi_hdc"));
  HandOver own;
  own.nodes = {parse_node("/dev/a{index}?"), parse_node("/dev/b{index}")};
  EXPECT_EQ(own.nodes,
            (std::vector<HandOver::Node>{{"/dev/a{index}", true}, {"/dev/b{index}", false}}));
  EXPECT_THAT(nodes(own, {"/dev/a1"}), ElementsAre("/dev/b0", "/dev/a1", "/dev/b1"));
}

// Nodes are numbered as the driver found the chips, which need not be their order on the bus.
TEST(HandOver, AChipWithoutAMinorNumberIsNotHandedOver) {
  const Devices devices =
      devices_of("nvidia", 3, [](domain::Chip& c) { c.pci = std::to_string(c.index.value); });
  agent::FakeHost host;
  host.minors = {{"0", 2}};
  const HandOver nvidia = *vendor_hand_over("nvidia", "devices");
  EXPECT_THAT(hand_over(nvidia, {0}, devices, host)->nodes, Contains("/dev/nvidia2"));
  EXPECT_THAT(hand_over(nvidia, {0, 1}, devices, host).error().text(),
              HasSubstr("the minor number of chip 1 is not known"));
  HandOver own;
  own.cdi = {"example.com/gpu={minor}"};
  EXPECT_THAT(hand_over(own, {0}, devices, host)->cdi, ElementsAre("example.com/gpu=2"));
  EXPECT_FALSE(hand_over(own, {2}, devices, host).ok());
  EXPECT_TRUE(hand_over(*vendor_hand_over("nvidia", "env"), {1}, devices, host).ok());
}

TEST(HandOver, WhatIsNotKnownIsRefused) {
  EXPECT_FALSE(vendor_hand_over("", "").ok());
  EXPECT_FALSE(vendor_hand_over("amd", "env").ok());
  EXPECT_FALSE(vendor_hand_over("nvidia", "env,nri").ok());
  EXPECT_FALSE(check_placeholders("/dev/x{uuid}", false).ok());
  EXPECT_FALSE(check_placeholders("{id}", true).ok());
  EXPECT_TRUE(check_placeholders("/dev/x{index}y{", false).ok());
}

TEST(HandOver, TextsHaveAnyNameOfAChip) {
  const Devices devices = devices_of("nvidia", 3, [](domain::Chip& c) {
    c.id = "GPU-" + std::to_string(c.index.value);
    c.pci = "0000:0" + std::to_string(c.index.value) + ":00.0";
    c.physical_id = c.index.value + 4;
  });
  HandOver own;
  own.environment = {{"ALL", "{ids} {indices} {physicals}"}};
  own.cdi = {"{id} {index} {physical} {pci}", "}{index}{"};
  agent::FakeHost host;
  host.drm = {{"0000:01:00.0", {"/dev/dri/card0"}}};
  const Handed got = hand_over(own, {1, 2}, devices, host).value();
  EXPECT_THAT(got.nodes, testing::IsEmpty());
  EXPECT_EQ(got.environment.at("ALL"), "GPU-1,GPU-2 1,2 5,6");
  EXPECT_THAT(got.cdi,
              ElementsAre("GPU-1 1 5 0000:01:00.0", "}1{", "GPU-2 2 6 0000:02:00.0", "}2{"));
  EXPECT_TRUE(check_placeholders("{ids} {indices} {physicals}", true).ok());
  EXPECT_TRUE(check_placeholders("{id} {index} {physical} {pci}", false).ok());
}

class RegistrationTest : public testing::Test {
 protected:
  Registration::Time now_{};
  Registration registration_{{milliseconds(100), milliseconds(10'000)}};

  void serve_and_enrol() {
    ASSERT_EQ(registration_.due(now_), Step::serve);
    registration_.served(true, now_);
    ASSERT_EQ(registration_.due(now_), Step::enrol);
    registration_.sent();
    ASSERT_EQ(registration_.due(now_), Step::none) << "never twice at once";
    registration_.answered(true, now_);
  }
};

TEST_F(RegistrationTest, OnceForEachKubelet) {
  EXPECT_FALSE(registration_.look(std::nullopt, false));
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_TRUE(registration_.look(SocketId{1, 1}, false));
  serve_and_enrol();
  EXPECT_FALSE(registration_.registered()) << "until its stream is there";
  registration_.stream_opened();
  EXPECT_TRUE(registration_.registered());
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(registration_.look(SocketId{1, 1}, true));
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_TRUE(registration_.look(std::nullopt, true));
  EXPECT_FALSE(registration_.registered());
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_TRUE(registration_.look(SocketId{1, 2}, false)) << "the inode is used again";
  serve_and_enrol();
  EXPECT_FALSE(registration_.registered()) << "the stream was that of the former kubelet";
}

TEST_F(RegistrationTest, AgainWhenTheKubeletDropsUs) {
  registration_.look(SocketId{1, 1}, false);
  serve_and_enrol();
  registration_.stream_opened();
  EXPECT_TRUE(registration_.stream_ended(now_));
  EXPECT_EQ(registration_.due(now_), Step::none);
  now_ += milliseconds(100);
  EXPECT_EQ(registration_.due(now_), Step::enrol);
}

TEST_F(RegistrationTest, AgainWhenItsStreamNeverComes) {
  registration_.look(SocketId{1, 1}, false);
  serve_and_enrol();
  now_ += milliseconds(9'999);
  EXPECT_EQ(registration_.due(now_), Step::none);
  now_ += milliseconds(1);
  EXPECT_EQ(registration_.due(now_), Step::enrol);
}

TEST_F(RegistrationTest, AnAnswerOfAFormerKubeletIsNone) {
  registration_.look(SocketId{1, 1}, false);
  registration_.served(true, now_);
  registration_.sent();
  registration_.look(SocketId{2, 2}, false);
  EXPECT_EQ(registration_.due(now_), Step::none) << "one is still under way";
  registration_.answered(true, now_);
  now_ += milliseconds(100);
  serve_and_enrol();
}

TEST_F(RegistrationTest, AFailureDuringARestartOfTheKubeletDoesNotCountForTheNextOne) {
  registration_.look(SocketId{1, 1}, false);
  registration_.served(true, now_);
  registration_.sent();
  registration_.look(SocketId{2, 2}, false);
  registration_.answered(false, now_);
  now_ += milliseconds(100);
  serve_and_enrol();
  registration_.stream_opened();
  EXPECT_TRUE(registration_.registered());
  now_ += milliseconds(100);
  EXPECT_EQ(registration_.due(now_), Step::none) << "it would drop both";
}

TEST_F(RegistrationTest, ASocketThatCannotBeMadeIsTriedAgainLaterOrWithTheNextKubelet) {
  registration_.look(SocketId{1, 1}, false);
  registration_.served(false, now_);
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_EQ(registration_.due(now_ + milliseconds(100)), Step::serve);
  registration_.look(SocketId{2, 2}, false);
  EXPECT_EQ(registration_.due(now_), Step::serve);
}

// A kubelet that connects again opens its new stream before the old one has ended.
TEST_F(RegistrationTest, IsKeptWhileAnyStreamIsOpen) {
  registration_.look(SocketId{1, 1}, false);
  serve_and_enrol();
  registration_.stream_opened();
  registration_.stream_opened();
  EXPECT_FALSE(registration_.stream_ended(now_));
  EXPECT_TRUE(registration_.registered());
  now_ += std::chrono::hours(1);
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_TRUE(registration_.stream_ended(now_));
  EXPECT_FALSE(registration_.registered());
}

TEST_F(RegistrationTest, ASocketThatSomebodyRemovedIsMadeAnewUnlessTheKubeletIsConnected) {
  registration_.look(SocketId{1, 1}, false);
  serve_and_enrol();
  registration_.stream_opened();
  registration_.look(SocketId{1, 1}, false);
  EXPECT_EQ(registration_.due(now_), Step::none);
  EXPECT_TRUE(registration_.registered());
  now_ += std::chrono::hours(1);
  registration_.stream_ended(now_);
  EXPECT_EQ(registration_.due(now_), Step::none);
  now_ += milliseconds(100);
  EXPECT_EQ(registration_.due(now_), Step::serve);
}

TEST(ListTurn, IsNeverWhileTheKubeletAllocates) {
  ListTurn::Time now{};
  ListTurn turn({milliseconds(1000), milliseconds(200)});
  EXPECT_TRUE(turn.open(now));
  turn.preferred(now);
  EXPECT_FALSE(turn.open(now + milliseconds(999)));
  EXPECT_TRUE(turn.open(now + milliseconds(1000))) << "the pod may have been refused";
  now += milliseconds(500);
  turn.allocated(now);
  EXPECT_FALSE(turn.open(now + milliseconds(199)));
  EXPECT_TRUE(turn.open(now + milliseconds(200)));
}

TEST(ListTurn, ANextQuestionDoesNotShortenTheTimeInWhichAnAllocationIsRecorded) {
  const ListTurn::Time now{};
  ListTurn turn({milliseconds(100), milliseconds(1000)});
  turn.allocated(now);
  turn.preferred(now);
  EXPECT_FALSE(turn.open(now + milliseconds(999)));
}

TEST(Gate, IsOpenOnceRegisteredAndAllRunningPodsAreListed) {
  Gate gate;
  EXPECT_FALSE(gate.open());
  gate.complete();
  EXPECT_FALSE(gate.open()) << "not registered";
  gate.registered();
  EXPECT_TRUE(gate.wants_list());
  gate.complete();
  EXPECT_TRUE(gate.open());
  gate.kubelet_lost();
  EXPECT_FALSE(gate.open());
  gate.complete();
  EXPECT_FALSE(gate.open()) << "the list is that of the former kubelet";
  gate.registered();
  EXPECT_FALSE(gate.open());
  gate.complete();
  EXPECT_TRUE(gate.open());
  gate.close();
  EXPECT_FALSE(gate.open());
  gate.kubelet_lost();
  gate.registered();
  EXPECT_FALSE(gate.wants_list()) << "the plugin ends";
}

TEST(Gate, IsClosedWithoutTheVendorsPluginAndWhileThePodsAreNotWatched) {
  Gate gate;
  gate.registered();
  gate.complete();
  gate.vendor(false);
  EXPECT_FALSE(gate.open());
  gate.pods_stale(true);
  gate.vendor(true);
  EXPECT_FALSE(gate.open());
  gate.pods_stale(false);
  EXPECT_TRUE(gate.open());
}

TEST(Gate, WaitsForRunningPodsOnly) {
  const test::PodSpec pod{"a", "u", {{"init", 1, true}, {"x", 1}, {"y", 1}}};
  test::SimKubelet kubelet(8);
  PodBook book(test::kNode, test::kGpu);
  book.take(kube_pod(pod, "", "Pending"));
  EXPECT_EQ(missing_in(kubelet.list(), book), "");
  book.take(kube_pod(pod, "", "Running"));
  EXPECT_EQ(missing_in(kubelet.list(), book), "default/a");
  kubelet.give(pod, "x", {"0"});
  EXPECT_EQ(missing_in(kubelet.list(), book), "default/a") << "half";
  kubelet.give(pod, "y", {"1"});
  EXPECT_EQ(missing_in(kubelet.list(), book), "");
  book.take(kube_pod({"n", "v", {{"x", 0}}}, "", "Running"));
  book.take(kube_pod({"i", "w", {{"init", 1, true}, {"x", 0}}}, "", "Running"));
  EXPECT_EQ(missing_in(kubelet.list(), book), "") << "these want no chips any more";
  codec::KubePod ending = kube_pod({"e", "x", {{"main", 1}}}, "", "Running");
  book.take(ending);
  EXPECT_EQ(missing_in(kubelet.list(), book), "default/e");
  ending.ending = true;
  book.take(ending);
  EXPECT_EQ(missing_in(kubelet.list(), book), "") << "its containers may have ended";
}

}  // namespace
}  // namespace chipweave::device_plugin
