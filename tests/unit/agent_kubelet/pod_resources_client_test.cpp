// The client with a kubelet that answers, restarts, hangs, refuses and returns garbage.
#include "node-agent/kubelet/pod_resources_client.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "common/base/limits.hpp"
#include "tests/unit/agent_kubelet/fake_kubelet.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

const std::string k910 = "huawei.com/Ascend910";

PodList one_pod(const std::vector<std::string>& ids) {
  PodList out;
  add_pod(out, "p", k910, ids);
  return out;
}

// Without the containers that they are for; nullopt stays.
std::optional<AllocatedDevices> devices_of(std::optional<AllocatedDevices> allocated) {
  if (!allocated) return allocated;
  for (AllocatedDevice& device : *allocated) device = {device.resource, device.id};
  return allocated;
}

class PodResources : public testing::Test {
 public:
  ~PodResources() override { end(); }

 protected:
  PodResources() {
    options_.socket = folder_.at("kubelet.sock");
    options_.resources = {"huawei.com/"};
    options_.gaps = {milliseconds(0), milliseconds(2), milliseconds(2)};
  }

  void begin() {
    post_and_wait(thread_.loop, [this] {
      client_ = std::make_unique<PodResourcesClient>(
          thread_.loop, options_,
          PodResourcesEvents{[this](const AllocatedDevices& allocated) { given_.add(allocated); },
                             [this](bool yes) { answers_.add(yes); }});
      client_->start();
      client_->start();
    });
  }
  void end() {
    post_and_wait(thread_.loop, [this] { client_.reset(); });
  }
  // The log after the first answer has timed out.
  std::string first_failure() {
    testing::internal::CaptureStderr();
    begin();
    EXPECT_EQ(answers_.at(0), false);
    end();
    EXPECT_EQ(given_.size(), 0U);
    return testing::internal::GetCapturedStderr();
  }

  io::TempFolder folder_;
  PodResourcesOptions options_;
  LoopThread thread_;
  Journal<AllocatedDevices> given_;
  Journal<bool> answers_;
  std::unique_ptr<PodResourcesClient> client_;
};

TEST_F(PodResources, ReportsAllocatedDevicesWheneverTheyChange) {
  FakeKubelet kubelet(options_.socket);
  ASSERT_TRUE(kubelet.runs());
  begin();
  EXPECT_EQ(given_.at(0), AllocatedDevices{}) << "an empty list is a valid answer";
  EXPECT_EQ(answers_.at(0), true);
  kubelet.set_list(one_pod({"Ascend910-3", "Ascend910-1"}));
  EXPECT_EQ(devices_of(given_.at(1)),
            (AllocatedDevices{{k910, "Ascend910-1"}, {k910, "Ascend910-3"}}));
  PodList more = one_pod({"Ascend910-1", "Ascend910-3"});  // the same in another order
  add_pod(more, "without", k910, {});
  kubelet.set_list(std::move(more));
  kubelet.set_list(one_pod({"Ascend910-3"}));
  EXPECT_EQ(devices_of(given_.at(2)), (AllocatedDevices{{k910, "Ascend910-3"}}));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(PodResources, NamesTheContainers) {
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(one_pod({"Ascend910-3"}));
  begin();
  EXPECT_EQ(given_.at(0), (AllocatedDevices{{k910, "Ascend910-3", "default", "p", "main"}}));
}

TEST_F(PodResources, SixtyFourPodsInEitherForm) {
  PodList list;
  for (int i = 0; i < 64; ++i) {
    if (i % 2 == 0) {
      add_pod(list, "p" + std::to_string(i), k910, {"Ascend910-" + std::to_string(i)});
    } else {
      // As kubelets before 1.36 send it: all devices of a resource in one entry.
      auto& container = *list.add_pod_resources()->add_containers();
      auto& devices = *container.add_devices();
      devices.set_resource_name("huawei.com/Ascend910-2c");
      devices.add_device_ids("Ascend910-2c-100-" + std::to_string(i));
      devices.add_device_ids("Ascend910-2c-101-" + std::to_string(i));
      container.add_devices()->set_resource_name("nvidia.com/gpu");
    }
  }
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(std::move(list));
  begin();
  const auto got = given_.at(0);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 96U);
  EXPECT_TRUE(std::is_sorted(got->begin(), got->end()));
}

TEST_F(PodResources, AKubeletThatComesLaterIsFound) {
  begin();
  EXPECT_EQ(answers_.at(0), false);
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(one_pod({"Ascend910-0"}));
  EXPECT_EQ(answers_.at(1), true);
  EXPECT_EQ(devices_of(given_.at(0)), (AllocatedDevices{{k910, "Ascend910-0"}}));
}

TEST_F(PodResources, ARestartedKubeletIsFoundAgainAndItsLastAnswerStays) {
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(one_pod({"Ascend910-0"}));
  begin();
  ASSERT_EQ(answers_.at(0), true);
  kubelet.stop();
  ASSERT_EQ(answers_.at(1), false);
  kubelet.start();
  ASSERT_EQ(answers_.at(2), true);
  kubelet.stop();
  ASSERT_EQ(answers_.at(3), false);
  EXPECT_EQ(given_.size(), 1U) << "neither an unchanged list nor a timeout is a change";
  kubelet.set_list(one_pod({"Ascend910-1"}));
  kubelet.start();
  EXPECT_EQ(devices_of(given_.at(1)), (AllocatedDevices{{k910, "Ascend910-1"}}));
}

TEST_F(PodResources, ACallThatHangsTimesOutAndIsRepeated) {
  options_.deadline = milliseconds(50);
  FakeKubelet kubelet(options_.socket);
  kubelet.set_hanging(true);
  EXPECT_THAT(first_failure(), HasSubstr("overloaded or hangs"));
  begin();
  kubelet.set_hanging(false);
  EXPECT_TRUE(given_.at(0));
}

TEST_F(PodResources, GoesWhileAKubeletHangs) {
  FakeKubelet kubelet(options_.socket);
  kubelet.set_hanging(true);
  begin();
  end();
  EXPECT_EQ(answers_.size(), 0U);
}

TEST_F(PodResources, LogsOnceThatNobodyListens) {
  const std::string log = first_failure();
  EXPECT_THAT(log, HasSubstr(options_.socket));
  EXPECT_THAT(log, HasSubstr("agent.asRoot"));
  EXPECT_THAT(log, HasSubstr("all are taken as free"));
}

TEST_F(PodResources, AnOutageIsLoggedOnce) {
  FakeKubelet kubelet(options_.socket);
  testing::internal::CaptureStderr();
  begin();
  ASSERT_EQ(answers_.at(0), true);
  kubelet.refuse({grpc::StatusCode::RESOURCE_EXHAUSTED, "rejected by rate limit"});
  ASSERT_EQ(answers_.at(1), false);
  kubelet.refuse({grpc::StatusCode::INTERNAL, "no checkpoint"});
  kubelet.stop();
  kubelet.start();
  kubelet.set_list({});
  ASSERT_EQ(answers_.at(2), true);
  end();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("rejected by rate limit"));
  EXPECT_THAT(log, HasSubstr("100 calls a second"));
  EXPECT_THAT(log, HasSubstr("its last answer stays"));
  EXPECT_EQ(log.find("no checkpoint"), std::string::npos);
  EXPECT_EQ(log.find("does not report"), log.rfind("does not report"));
}

// With the gaps of a real agent, the answer to a change takes seconds; here it is the slow period
// that never comes.
TEST_F(PodResources, AsksWhenTheDevicesOfPodsChange) {
  options_.gaps = {milliseconds(1), milliseconds(5), std::chrono::hours(1)};
  FakeKubelet kubelet(options_.socket);
  begin();
  EXPECT_EQ(given_.at(0), AllocatedDevices{});
  kubelet.set_list(one_pod({"Ascend910-0"}));
  EXPECT_EQ(kubelet.calls(), 1);
  const auto notify = client_->change_notifier();
  notify();
  EXPECT_EQ(devices_of(given_.at(1)), (AllocatedDevices{{k910, "Ascend910-0"}}));
  EXPECT_EQ(kubelet.calls(), 2);
  end();
  notify();  // after its end
}

TEST_F(PodResources, OnlyTheWantedResourcesAreGiven) {
  options_.resources = {"amd.com/", "example.com/chip"};
  PodList list = one_pod({"Ascend910-0"});
  add_pod(list, "amd", "amd.com/gpu", {"0000:01:00.0"});
  add_pod(list, "renamed", "example.com/chip", {"0000:02:00.0"});
  add_pod(list, "other", "example.com/nic", {"0000:03:00.0"});
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(list);
  begin();
  EXPECT_EQ(devices_of(given_.at(0)), (AllocatedDevices{{"amd.com/gpu", "0000:01:00.0"},
                                                        {"example.com/chip", "0000:02:00.0"}}));
}

// A server of another service, such as the device plugins' registration.
TEST_F(PodResources, AServerWithoutTheServiceIsNoKubelet) {
  v1::Inventory::Service other;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + options_.socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&other);
  const auto server = builder.BuildAndStart();
  EXPECT_THAT(first_failure(), HasSubstr("Kubernetes 1.20"));
}

TEST_F(PodResources, AListBeyondSixteenMebibytesIsRefused) {
  PodList list = one_pod({"Ascend910-0"});
  add_pod(list, "large", "example.com/memory",
          {std::string(limits::kMaxPodResourcesBytes - 1000, 'x')});
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(list);
  begin();
  EXPECT_EQ(devices_of(given_.at(0)), (AllocatedDevices{{k910, "Ascend910-0"}}));
  add_pod(list, "more", "example.com/memory", {std::string(2000, 'x')});
  kubelet.set_list(std::move(list));
  EXPECT_EQ(answers_.at(1), false);
  kubelet.set_list(one_pod({"Ascend910-2"}));
  EXPECT_EQ(devices_of(given_.at(1)), (AllocatedDevices{{k910, "Ascend910-2"}}));
}

TEST_F(PodResources, MoreDevicesThanAnyMachineHasAreRefused) {
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(one_pod(std::vector<std::string>(16385, "Ascend910-0")));
  EXPECT_THAT(first_failure(), HasSubstr("16384"));
  kubelet.set_list(one_pod(std::vector<std::string>(16384, "Ascend910-0")));
  begin();
  EXPECT_EQ(devices_of(given_.at(0)), (AllocatedDevices{{k910, "Ascend910-0"}}));
}

// A truncated list would report chips of pods as free.
TEST_F(PodResources, AListThatCannotBeReadToItsEndIsNoAnswer) {
  FakeKubelet kubelet(options_.socket);
  kubelet.set_list(one_pod({"Ascend910-0", "\xff\xfe", "Ascend910-1"}));  // not UTF-8
  EXPECT_THAT(first_failure(), HasSubstr("is not a list of pods"));
}

}  // namespace
}  // namespace chipweave::agent
