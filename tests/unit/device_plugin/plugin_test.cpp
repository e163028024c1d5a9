// The plugin with a kubelet that admits, restarts, drops it, refuses and floods.
#include "node-agent/device_plugin/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "tests/unit/device_plugin/quick_plugin.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::milliseconds;
using test::PodSpec;
using testing::ElementsAre;
using testing::HasSubstr;

PodSpec plain_pod(const std::string& name, int count) {
  return {name, "uid-" + name, {{"main", count}}};
}

class PluginTest : public test::QuickPluginTest {
 public:
  // `correction_` must outlive the plugin's answers.
  ~PluginTest() override { end_plugin(); }

 protected:
  PluginTest() { options_.hand_over = *vendor_hand_over("nvidia", ""); }

  void begin() {
    PluginEvents events;
    events.correct = [this](const PodRecord& pod, const std::string& placement,
                            const std::function<void(Result<void>)>& done) {
      corrected_.add({pod.uid, placement});
      done(correction_);
    };
    start_plugin(std::move(events));
  }

  Journal<std::pair<std::string, std::string>> corrected_;
  Result<void> correction_;
};

TEST_F(PluginTest, RegistersOffersAndOpens) {
  kubelet_.start();
  begin();
  EXPECT_TRUE(kubelet_.devices(
      [](const auto& list) { return list.size() == 8 && list[3] == "3 Healthy"; }));
  EXPECT_EQ(gate_.at(0), true);
  EXPECT_EQ(kubelet_.registrations(), 1);
  grpc::ClientContext context;
  ::v1beta1::DevicePluginOptions options;
  ASSERT_TRUE(kubelet_.plugin()->GetDevicePluginOptions(&context, {}, &options).ok());
  EXPECT_TRUE(options.pre_start_required());
  EXPECT_TRUE(options.get_preferred_allocation_available());
}

TEST_F(PluginTest, PodsThatCannotBeWatchedCloseTheGate) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  post_and_wait(thread_.loop, [this] { plugin_->pods_stale(); });
  EXPECT_EQ(gate_.at(1), false);
  const PodSpec pod = plain_pod("known", 1);
  bind(pod, {{"", {5}}});
  EXPECT_TRUE(kubelet_.admit(pod)) << "what is known holds";
  EXPECT_THAT(kubelet_.of(pod, "main"), ElementsAre("5"));
  post_and_wait(thread_.loop, [this] { plugin_->pods_listed(); });
  EXPECT_EQ(gate_.at(2), true);
}

TEST_F(PluginTest, AListIsWantedForAPodThatIsNeverShown) {
  Journal<int> wanted;
  PluginEvents events;
  events.wants_list = [&] { wanted.add(0); };
  kubelet_.start();
  start_plugin(std::move(events));
  ASSERT_EQ(gate_.at(0), true);
  EXPECT_FALSE(kubelet_.admit({"s-0", "never shown", {{"main", 2}}}));
  EXPECT_EQ(wanted.at(0), 0);
  post_and_wait(thread_.loop, [this] {
    plugin_->list_requested();
    plugin_->pods_listed();
  });
  const PodSpec pod{"s-0", "next", {{"main", 2}}};
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(kubelet_.admit(pod));
  EXPECT_THAT(kubelet_.of(pod, "main"), ElementsAre("5", "6"));
  end_plugin();
}

TEST_F(PluginTest, PodsGetTheChipsOfTheirDecisions) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  for (int round = 0; round < 5; ++round) {
    std::vector<PodSpec> pods;
    for (int i = 0; i < 8; ++i) {
      pods.push_back(plain_pod("p" + std::to_string(round) + "-" + std::to_string(i), 1));
      bind(pods.back(), {{"", {(i * 5 + round) % 8}}});
    }
    for (int i = 7; i >= 0; --i) {
      const PodSpec& pod = pods[static_cast<std::size_t>(i)];
      ASSERT_TRUE(kubelet_.admit(pod));
      const std::string id = std::to_string((i * 5 + round) % 8);
      EXPECT_THAT(kubelet_.of(pod, "main"), ElementsAre(id));
      EXPECT_EQ(kubelet_.allocated().container_responses(0).envs().at("NVIDIA_VISIBLE_DEVICES"),
                id);
      EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
    }
    for (const PodSpec& pod : pods) remove(pod);
  }
  EXPECT_FALSE(kubelet_.listed_badly());
}

TEST_F(PluginTest, OptionalDeviceNodesAreThoseOfTheMoment) {
  options_.hand_over = *vendor_hand_over("nvidia", "devices");
  options_.hand_over.nodes = {parse_node("/dev/nvidia{index}")};
  options_.device_root = folder_.path();
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const auto nodes_of = [this](const std::string& name) {
    const PodSpec pod = plain_pod(name, 1);
    bind(pod, {{"", {5}}});
    EXPECT_TRUE(kubelet_.admit(pod));
    remove(pod);
    std::vector<std::string> out;
    const auto answer = kubelet_.allocated();
    for (const auto& node : answer.container_responses(0).devices())
      out.push_back(node.host_path());
    return out;
  };
  EXPECT_THAT(nodes_of("before"), ElementsAre("/dev/nvidia5", "/dev/nvidiactl"));
  folder_.put("dev/nvidia-uvm", "");
  EXPECT_THAT(nodes_of("after"), ElementsAre("/dev/nvidia5", "/dev/nvidiactl", "/dev/nvidia-uvm"));
}

TEST_F(PluginTest, APodThatComesLateIsWaitedFor) {
  options_.wait_for_pod = milliseconds(20'000);
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod{"late", "u", {{"x", 2}, {"y", 1}}};
  std::thread admission([&] { EXPECT_TRUE(kubelet_.admit(pod)); });
  const int before = kubelet_.lists();
  while (kubelet_.lists() == before) std::this_thread::sleep_for(milliseconds(1));
  bind(pod, {{"x", {2, 7}}, {"y", {3}}});
  admission.join();
  EXPECT_THAT(kubelet_.of(pod, "x"), ElementsAre("2", "7"));
  EXPECT_THAT(kubelet_.of(pod, "y"), ElementsAre("3"));
}

TEST_F(PluginTest, APodThatIsNeverShownFails) {
  options_.wait_for_pod = milliseconds(30);
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  EXPECT_FALSE(kubelet_.admit(plain_pod("ghost", 2)));
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}});
  EXPECT_TRUE(kubelet_.admit(pod));
}

TEST_F(PluginTest, RegistersWithEachKubeletOnceAndClosesMeanwhile) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}});
  ASSERT_TRUE(kubelet_.admit(pod));
  bind(pod, {{"", {5, 6}}}, "Running");
  std::size_t seen = 1;
  for (int restart = 1; restart <= 10; ++restart) {
    kubelet_.stop();
    ASSERT_EQ(gate_.at(seen++), false);
    kubelet_.start();
    ASSERT_TRUE(kubelet_.registered(restart + 1));
    ASSERT_EQ(gate_.at(seen++), true);
    EXPECT_EQ(kubelet_.registrations(), restart + 1);
    EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
  }
}

// A registration that waited for the next kubelet would come before the plugin serves it.
TEST_F(PluginTest, DoesNotRegisterWithAKubeletThatWasKilled) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  std::size_t seen = 1;
  for (int restart = 1; restart <= 5; ++restart) {
    kubelet_.kill();
    ASSERT_EQ(gate_.at(seen++), false);
    for (int looks = 0; looks < 10; ++looks) {
      std::this_thread::sleep_for(options_.look_every);
      post_and_wait(thread_.loop, [] {});
    }
    kubelet_.start();
    ASSERT_EQ(gate_.at(seen++), true);
    EXPECT_EQ(kubelet_.registrations(), restart + 1);
  }
}

TEST_F(PluginTest, StaysClosedUntilTheKubeletListsWhatRuns) {
  kubelet_.start();
  post_and_wait(thread_.loop, [] {});
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}}, "Running");
  kubelet_.stop();
  ASSERT_EQ(gate_.at(1), false);
  kubelet_.start();
  ASSERT_TRUE(kubelet_.registered(2));
  const int before = kubelet_.lists();
  while (kubelet_.lists() < before + 3) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(gate_.size(), 2U);
  kubelet_.give(pod, "main", {"5", "6"});
  EXPECT_EQ(gate_.at(2), true);
  post_and_wait(thread_.loop, [&] { plugin_->close_gate(); });
  EXPECT_EQ(gate_.at(3), false);
}

TEST_F(PluginTest, RegistersAgainWhenTheKubeletDropsIt) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  kubelet_.drop();
  EXPECT_EQ(gate_.at(1), false);
  EXPECT_TRUE(kubelet_.registered(2));
  EXPECT_EQ(gate_.at(2), true);
}

TEST_F(PluginTest, HealthThatChangesIsSent) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  domain::TopologyBuilder builder;
  for (int i = 0; i < 8; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    if (i == 3) chip.health = domain::Health::unhealthy;
    builder.add_chip(std::move(chip));
  }
  const auto sick = std::move(builder).build();
  post_and_wait(thread_.loop, [&] { plugin_->machine(*sick); });
  EXPECT_TRUE(kubelet_.devices(
      [](const auto& list) { return list[3] == "3 Unhealthy" && list[2] == "2 Healthy"; }));
  post_and_wait(thread_.loop, [&] { plugin_->machine_unknown(); });
  EXPECT_TRUE(kubelet_.devices([](const auto& list) { return list[2] == "2 Unhealthy"; }));
  post_and_wait(thread_.loop, [&] { plugin_->machine(topology_); });
  EXPECT_TRUE(kubelet_.devices([](const auto& list) { return list[3] == "3 Healthy"; }));
  EXPECT_EQ(kubelet_.registrations(), 1);
}

TEST_F(PluginTest, OtherChipsAreRefusedAtTheStart) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}});
  kubelet_.give(pod, "main", {"5", "7"});
  const grpc::Status status = kubelet_.start_container(pod, "main");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("5,7"));
  EXPECT_EQ(corrected_.size(), 0U);
}

TEST_F(PluginTest, OrAdoptedWhenTheAnnotationIsCorrected) {
  options_.on_mismatch = OnMismatch::adopt;
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}});
  kubelet_.give(pod, "main", {"5", "7"});
  EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
  const auto first = corrected_.at(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->first, pod.uid);
  EXPECT_THAT(first->second, HasSubstr("\"index\":7"));
  correction_ = make_error(Errc::unavailable, "the API server is away");
  EXPECT_FALSE(kubelet_.start_container(pod, "main").ok()) << "not before it is stored";
}

TEST_F(PluginTest, AKubeletThatDoesNotListIsAMismatch) {
  options_.list_within = milliseconds(50);
  options_.start_within = milliseconds(50);
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  bind(pod, {{"", {5, 6}}});
  kubelet_.refuse_lists(true);
  EXPECT_FALSE(kubelet_.admit(pod));
  EXPECT_FALSE(kubelet_.start_container({"5", "6"}).ok());
}

TEST_F(PluginTest, StartsInAStormOfAdmissionsNeverListDuringAnAllocation) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec running = plain_pod("running", 1);
  bind(running, {{"", {7}}});
  ASSERT_TRUE(kubelet_.admit(running));
  std::atomic<bool> over{false};
  std::thread starts([&] {
    while (!over) EXPECT_TRUE(kubelet_.start_container({"7"}).ok());
  });
  for (int i = 0; i < 40; ++i) {
    const PodSpec pod = plain_pod("p" + std::to_string(i), 2);
    bind(pod, {{"", {i % 3, 3 + i % 4}}});
    EXPECT_TRUE(kubelet_.admit(pod));
    remove(pod);
  }
  over = true;
  starts.join();
  EXPECT_FALSE(kubelet_.listed_badly());
}

TEST_F(PluginTest, MalformedCallsAreRefused) {
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const auto stub = kubelet_.plugin();
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(20);
  {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    ::v1beta1::PreferredAllocationResponse answer;
    EXPECT_EQ(stub->GetPreferredAllocation(&context, {}, &answer).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
  {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    ::v1beta1::AllocateRequest request;
    auto& one = *request.add_container_requests();
    for (int i = 0; i < 5000; ++i) one.add_devices_ids("x");
    ::v1beta1::AllocateResponse answer;
    EXPECT_EQ(stub->Allocate(&context, request, &answer).error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    ::v1beta1::AllocateRequest request;
    request.add_container_requests()->add_devices_ids("GPU-of-another-machine");
    ::v1beta1::AllocateResponse answer;
    EXPECT_EQ(stub->Allocate(&context, request, &answer).error_code(), grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_EQ(kubelet_.start_container(std::vector<std::string>()).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(PluginTest, EndsWhileCallsWait) {
  options_.wait_for_pod = milliseconds(20'000);
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  std::thread admission([&] { EXPECT_FALSE(kubelet_.admit(plain_pod("late", 2))); });
  const int before = kubelet_.lists();
  while (kubelet_.lists() == before) std::this_thread::sleep_for(milliseconds(1));
  end_plugin();
  admission.join();
}

TEST_F(PluginTest, WithoutAClusterEverybodyGetsTheBestSet) {
  options_.follows_pods = false;
  kubelet_.start();
  begin();
  ASSERT_EQ(gate_.at(0), true);
  const PodSpec pod = plain_pod("a", 2);
  EXPECT_TRUE(kubelet_.admit(pod));
  EXPECT_THAT(kubelet_.of(pod, "main"), ElementsAre("0", "3"));
  EXPECT_TRUE(kubelet_.start_container(pod, "main").ok());
  EXPECT_EQ(kubelet_.lists(), 0);
}

}  // namespace
}  // namespace chipweave::device_plugin
