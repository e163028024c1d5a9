// The vendor's own plugin behind ours: what it offers and answers passes through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/sources/list_lock.hpp"
#include "tests/unit/device_plugin/fake_vendor.hpp"
#include "tests/unit/device_plugin/quick_plugin.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::milliseconds;
using test::PodSpec;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

using Offered = std::vector<std::pair<std::string, bool>>;

class VendorTest : public test::QuickPluginTest {
 public:
  ~VendorTest() override { end_plugin(); }

 protected:
  explicit VendorTest(ListTurn::Gaps turn = {milliseconds(20'000), milliseconds(50)}) {
    options_.vendor_folder = folder_.at("vendor");
    options_.turn = turn;
    options_.list_lock = folder_.at("lists");
    kubelet_.start();
    start_plugin();
    vendor_.offer(all(true));
  }
  static Offered all(bool healthy) {
    Offered out;
    for (int i = 0; i < 8; ++i) out.emplace_back(std::to_string(i), healthy);
    return out;
  }
  void begin() {
    vendor_.start();
    ASSERT_TRUE(vendor_.enrol().ok());
    ASSERT_EQ(gate_.at(0), true);
  }

  test::FakeVendor vendor_{folder_.at("vendor")};
};

TEST_F(VendorTest, ItsDevicesAndAnswersPassThrough) {
  EXPECT_EQ(kubelet_.registrations(), 0) << "the ids are the vendor's, and not known yet";
  begin();
  EXPECT_TRUE(kubelet_.devices([](const auto& list) { return list.size() == 8; }));
  const PodSpec pod{"p", "uid-p", {{"main", 2}}};
  bind(pod, {{"", {2, 6}}});
  ASSERT_TRUE(kubelet_.admit(pod));
  EXPECT_THAT(kubelet_.of(pod, "main"), ElementsAre("2", "6"));
  const auto answer = kubelet_.allocated().container_responses(0);
  EXPECT_EQ(answer.envs().at("VENDOR_DEVICES"), "2+6");
  EXPECT_EQ(answer.envs().size(), 1U) << "nothing of ours";
  EXPECT_EQ(answer.annotations().at("vendor"), "yes");
  ASSERT_EQ(answer.mounts_size(), 1);
  EXPECT_EQ(answer.mounts(0).host_path(), "/opt/vendor");
  EXPECT_TRUE(answer.mounts(0).read_only());
  EXPECT_EQ(answer.cdi_devices(0).name(), "vendor.com/gpu=2+6");
  EXPECT_EQ(answer.devices(0).host_path(), "/dev/vendor");
  EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
  EXPECT_EQ(vendor_.pre_starts(), 0);
}

TEST_F(VendorTest, ItsHealthPassesThrough) {
  begin();
  Offered devices = all(true);
  devices[3].second = false;
  devices.pop_back();
  vendor_.offer(devices);
  EXPECT_TRUE(kubelet_.devices(
      [](const auto& list) { return list.size() == 7 && list[3] == "3 Unhealthy"; }));
  const PodSpec pod{"p", "uid-p", {{"main", 1}}};
  bind(pod, {{"", {3}}});
  EXPECT_FALSE(kubelet_.admit(pod)) << "the vendor's plugin calls it unhealthy";
}

TEST_F(VendorTest, WhileItIsAwayAllIsUnhealthyAndTheNodeIsClosed) {
  begin();
  vendor_.stop();
  EXPECT_TRUE(kubelet_.devices([](const auto& list) {
    return list.size() == 8 && testing::Value(list, Each(EndsWith(" Unhealthy")));
  }));
  EXPECT_EQ(gate_.at(1), false);
  vendor_.start();
  ASSERT_TRUE(vendor_.enrol().ok());
  EXPECT_TRUE(kubelet_.devices(
      [](const auto& list) { return testing::Value(list, Each(EndsWith(" Healthy"))); }));
  EXPECT_EQ(gate_.at(2), true);
  EXPECT_EQ(kubelet_.registrations(), 1) << "the kubelet's plugin was there all the time";
}

// One that does not notice that its kubelet has lost it.
TEST_F(VendorTest, IsConnectedAgainWithoutARegistration) {
  begin();
  vendor_.stop();
  EXPECT_EQ(gate_.at(1), false);
  vendor_.start();
  EXPECT_EQ(gate_.at(2), true);
}

TEST_F(VendorTest, TheKubeletIsNotAskedForItsListWhileTheVendorAllocates) {
  begin();
  const PodSpec first{"first", "uid-first", {{"main", 1}}};
  bind(first, {{"", {0}}});
  ASSERT_TRUE(kubelet_.admit(first));
  vendor_.set_allocate(grpc::Status::OK, milliseconds(300));
  const PodSpec second{"second", "uid-second", {{"main", 1}}};
  bind(second, {{"", {1}}});
  const int lists = kubelet_.lists();
  std::thread admission([&] { EXPECT_TRUE(kubelet_.admit(second)); });
  while (kubelet_.lists() == lists) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(kubelet_.start_container(first, "main").ok());
  admission.join();
  EXPECT_FALSE(kubelet_.listed_badly());
}

class SlowVendorTest : public VendorTest {
 protected:
  SlowVendorTest() : VendorTest({milliseconds(100), milliseconds(20'000)}) {}
};

TEST_F(SlowVendorTest, TheAgentDoesNotListEither) {
  vendor_.set_allocate(grpc::Status::OK, milliseconds(400));
  begin();
  const PodSpec pod{"p", "uid-p", {{"main", 1}}};
  bind(pod, {{"", {1}}});
  ASSERT_TRUE(kubelet_.admit(pod));
  EXPECT_EQ(agent::permit_to_list(options_.list_lock), nullptr)
      << "from the preferred set on without a gap";
}

TEST_F(VendorTest, ItsErrorIsThePodsEnd) {
  begin();
  vendor_.set_allocate({grpc::StatusCode::INTERNAL, "no such GPU"}, milliseconds(0));
  const PodSpec pod{"p", "uid-p", {{"main", 1}}};
  bind(pod, {{"", {1}}});
  EXPECT_FALSE(kubelet_.admit(pod));
}

TEST_F(VendorTest, ItIsAskedBeforeAContainerStartsIfItWantsTo) {
  vendor_.set_pre_start({grpc::StatusCode::UNAVAILABLE, "resetting"});
  begin();
  const PodSpec pod{"p", "uid-p", {{"main", 1}}};
  bind(pod, {{"", {1}}});
  ASSERT_TRUE(kubelet_.admit(pod));
  // Its options may come after the first list.
  grpc::Status status;
  for (int i = 0; i < 1000 && vendor_.pre_starts() == 0; ++i)
    status = kubelet_.start_container(pod, "main");
  EXPECT_THAT(status.error_message(), HasSubstr("resetting"));
  vendor_.set_pre_start(grpc::Status::OK);
  EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
}

TEST_F(VendorTest, WhatItMayNotRegisterIsRefusedWithWords) {
  EXPECT_THAT(vendor_.enrol("amd.com/gpu").error_message(), HasSubstr("takes no other resource"));
  EXPECT_THAT(vendor_.enrol(test::kGpu, "v1alpha1").error_message(), HasSubstr("v1beta1"));
  for (const char* endpoint : {"", "../x.sock", "kubelet.sock", ".hidden"})
    EXPECT_FALSE(vendor_.enrol(test::kGpu, "v1beta1", endpoint).ok()) << endpoint;
  begin();
}

}  // namespace
}  // namespace chipweave::device_plugin
