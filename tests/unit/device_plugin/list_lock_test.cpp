// The agent's requests for the kubelet's list and the plugin's answers, both real, with one
// kubelet: none of the first while chips are given away.
#include "node-agent/sources/list_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <atomic>

#include "node-agent/kubelet/pod_resources_client.hpp"
#include "tests/unit/device_plugin/quick_plugin.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::milliseconds;
using test::PodSpec;
using testing::HasSubstr;

PodSpec pod_of_one(const std::string& name) { return {name, "uid-" + name, {{"main", 1}}}; }

class ListLockTest : public test::QuickPluginTest {
 public:
  ~ListLockTest() override {
    kubelet_.hold_lists(false);
    post_and_wait(thread_.loop, [this] { agent_.reset(); });
  }

 protected:
  ListLockTest() {
    options_.hand_over = *vendor_hand_over("nvidia", "");
    options_.list_lock = file_;
    options_.wait_for_lists = milliseconds(20'000);
    options_.lists_again = milliseconds(1);
    asking_.socket = options_.pod_resources;
    asking_.gaps = {milliseconds(0), milliseconds(0), milliseconds(1)};
    asking_.permit = [this] { return agent::permit_to_list(file_); };
    asking_.permit_again = milliseconds(1);
    asking_.deadline = milliseconds(30'000);
  }

  void begin_plugin() {
    kubelet_.start();
    start_plugin();
    ASSERT_EQ(gate_.at(0), true);
  }
  void begin_agent() {
    post_and_wait(thread_.loop, [this] {
      agent_ = std::make_unique<agent::PodResourcesClient>(thread_.loop, asking_,
                                                           agent::PodResourcesEvents{});
      agent_->start();
    });
  }
  void bind_to(const PodSpec& pod, int chip) { bind(pod, {{"", {chip}}}); }
  bool may_list() { return agent::permit_to_list(file_) != nullptr; }

  std::string file_ = agent::list_lock_path(folder_.at("gate"));
  agent::PodResourcesOptions asking_;
  std::unique_ptr<agent::PodResourcesClient> agent_;
};

TEST_F(ListLockTest, BothInAStormOfAdmissions) {
  begin_plugin();
  begin_agent();
  for (int i = 0; i < 10; ++i) {
    const PodSpec pod = pod_of_one("p" + std::to_string(i));
    bind_to(pod, i % 8);
    ASSERT_TRUE(kubelet_.admit(pod));
    EXPECT_THAT(kubelet_.of(pod, "main"), testing::ElementsAre(std::to_string(i % 8)));
    remove(pod);
    const int before = kubelet_.lists();
    while (kubelet_.lists() < before + 3) std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_FALSE(kubelet_.listed_badly());
}

TEST_F(ListLockTest, NoChipsAreNamedWhileTheAgentsListIsInFlight) {
  options_.follows_pods = false;  // so that every list is the agent's
  begin_plugin();
  kubelet_.hold_lists(true);
  begin_agent();
  while (kubelet_.held_lists() == 0) std::this_thread::sleep_for(milliseconds(1));
  std::atomic<bool> admitted{false};
  std::thread admission([&] {
    EXPECT_TRUE(kubelet_.admit(pod_of_one("p")));
    admitted = true;
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(admitted);
  kubelet_.hold_lists(false);
  admission.join();
  EXPECT_FALSE(kubelet_.listed_badly());
}

TEST_F(ListLockTest, AListThatDoesNotEndHoldsUpNothingForLong) {
  options_.wait_for_lists = milliseconds(30);
  options_.turn = {milliseconds(20'000), milliseconds(20'000)};
  begin_plugin();
  auto permit = agent::permit_to_list(file_);
  ASSERT_NE(permit, nullptr);
  testing::internal::CaptureStderr();
  const PodSpec first = pod_of_one("first");
  bind_to(first, 3);
  EXPECT_TRUE(kubelet_.admit(first));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("does not end"));
  permit.reset();
  EXPECT_TRUE(may_list()) << "the lock was not to be had";
  const PodSpec second = pod_of_one("second");
  bind_to(second, 4);
  EXPECT_TRUE(kubelet_.admit(second));
  EXPECT_FALSE(may_list());
}

TEST_F(ListLockTest, TheAgentMayListAgainWhenAllIsRecorded) {
  options_.turn = {milliseconds(20'000), milliseconds(1)};
  begin_plugin();
  EXPECT_TRUE(may_list());
  const PodSpec pod = pod_of_one("p");
  bind_to(pod, 3);
  ASSERT_TRUE(kubelet_.admit(pod));
  while (!may_list()) std::this_thread::sleep_for(milliseconds(1));
}

// As the kubelet does where it gives a container the chips of an init container.
TEST_F(ListLockTest, AnAllocationWithoutAQuestionIsOneToo) {
  options_.turn = {milliseconds(20'000), milliseconds(20'000)};
  begin_plugin();
  grpc::ClientContext context;
  ::v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids("3");
  ::v1beta1::AllocateResponse answer;
  ASSERT_TRUE(kubelet_.plugin()->Allocate(&context, request, &answer).ok());
  EXPECT_FALSE(may_list());
}

TEST_F(ListLockTest, ARefusedPodHoldsUpNobody) {
  options_.wait_for_pod = milliseconds(0);
  begin_plugin();
  EXPECT_FALSE(kubelet_.admit(pod_of_one("ghost")));
  EXPECT_TRUE(may_list());
}

TEST_F(ListLockTest, TheAgentAsksWhenThePluginLetsIt) {
  auto lock = agent::ListLock::open(file_);
  ASSERT_TRUE(lock.ok());
  ASSERT_TRUE(lock->take());
  kubelet_.start();
  begin_agent();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(kubelet_.lists(), 0);
  lock->give_back();
  EXPECT_FALSE(lock->taken());
  while (kubelet_.lists() == 0) std::this_thread::sleep_for(milliseconds(1));
}

TEST_F(ListLockTest, EndsWithWhoeverHasIt) {
  EXPECT_TRUE(may_list()) << "there is no plugin";
  {
    auto lock = agent::ListLock::open(file_);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(may_list());
    ASSERT_TRUE(lock->take());
    EXPECT_TRUE(lock->take()) << "twice is once";
    EXPECT_FALSE(may_list());
  }
  const auto one = agent::permit_to_list(file_);
  EXPECT_NE(one, nullptr);
  EXPECT_TRUE(may_list()) << "agents do not exclude each other";
  EXPECT_FALSE(agent::ListLock::open(file_)->take());
  struct stat found {};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_FALSE(agent::ListLock::open(folder_.at("missing/lists")).ok());
}

TEST_F(ListLockTest, ThePluginDoesNotStartWithoutItsFile) {
  options_.list_lock = folder_.at("missing/lists");
  post_and_wait(thread_.loop, [this] {
    plugin_ = std::make_unique<Plugin>(thread_.loop, options_, PluginEvents());
    EXPECT_FALSE(plugin_->start().ok());
  });
}

}  // namespace
}  // namespace chipweave::device_plugin
