// The plugins of nvidia.com/gpu and aliyun.com/gpu on a node of ACK, whose label chooses one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/files.hpp"
#include "node-agent/device_plugin/plugin_set.hpp"
#include "tests/unit/device_plugin/ack_kubelet.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::device_plugin {
namespace {

using std::chrono::milliseconds;
using test::AckKubelet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kUsual = kUsualResource;
const std::string kAck = kAckResource;

// With a decision for these chips; none: without.
codec::KubePod ack_pod(const std::string& resource, const std::string& name,
                       const std::vector<int>& chips, const std::string& phase = "Running",
                       int count = 1) {
  codec::KubePod out;
  out.ns = "default";
  out.name = name;
  out.uid = "uid-" + name;
  out.node_name = test::kNode;
  out.phase = phase;
  codec::KubeContainer main;
  main.name = "main";
  main.limits[resource] = std::to_string(chips.empty() ? count : static_cast<int>(chips.size()));
  out.containers.push_back(main);
  std::string list;
  for (const int chip : chips)
    list += (list.empty() ? "" : ",") + std::string(R"({"index":)") + std::to_string(chip) + "}";
  if (!chips.empty()) {
    out.annotations[kPlacementAnnotation] =
        R"({"v":1,"node":")" + test::kNode + R"(","podUid":")" + out.uid + R"(","resource":")" +
        resource + R"(","chips":[)" + list + R"(],"gbps":40.0,"decision":"d-000001"})";
  }
  return out;
}

class AckLabel : public testing::Test {
 protected:
  AckLabel() {
    options_.node = test::kNode;
    options_.resource = kUsual;
    options_.folder = folder_.path();
    options_.pod_resources = folder_.at("pods.sock");
    options_.hand_over = *vendor_hand_over("nvidia", "");
    options_.list_again = milliseconds(5);
    options_.look_every = milliseconds(10);
    options_.held_again = milliseconds(20);
    options_.start_within = milliseconds(20'000);
    options_.list_within = milliseconds(20'000);
    options_.turn = {milliseconds(20'000), milliseconds(50)};
    options_.waits = {milliseconds(10), milliseconds(10'000)};
    kubelet_.start();
  }
  void TearDown() override { end(); }

  // pods: that the API server shows first.
  void begin(const std::vector<codec::KubePod>& pods = {}) {
    on_loop([&] {
      PluginEvents events;
      events.gate = [this](bool open) { gate_.add(open); };
      set_ = std::make_unique<PluginSet>(thread_.loop, options_, true, std::move(events));
      set_->machine(topology_);
      EXPECT_TRUE(set_->start().ok());
      for (const codec::KubePod& pod : pods) set_->pod_seen(pod);
      set_->pods_listed();
    });
  }
  void end() {
    on_loop([&] { set_.reset(); });
  }
  template <class Task>
  void on_loop(const Task& task) {
    post_and_wait(thread_.loop, task);
  }
  void label(const std::optional<std::string>& value) {
    on_loop([&] { set_->node_label(value); });
  }
  void show(const codec::KubePod& pod) {
    on_loop([&] { set_->pod_seen(pod); });
  }
  void forget(const std::string& pod) {
    kubelet_.remove(pod);
    on_loop([&] { set_->pod_gone("default/" + pod); });
  }
  // A running pod with these chips.
  void run(const std::string& resource, const std::string& name, const std::vector<int>& chips) {
    show(ack_pod(resource, name, chips, "Pending"));
    ASSERT_TRUE(kubelet_.admit(resource, name, static_cast<int>(chips.size())));
    std::set<std::string> ids;
    for (const int chip : chips) ids.insert(std::to_string(chip));
    EXPECT_EQ(kubelet_.of(name), ids);
    show(ack_pod(resource, name, chips));
  }
  static AckKubelet::Devices all_but(const std::set<std::string>& held) {
    AckKubelet::Devices out;
    for (int i = 0; i < 8; ++i) out[std::to_string(i)] = !held.contains(std::to_string(i));
    return out;
  }

  io::TempFolder folder_;
  PluginOptions options_;
  domain::NodeTopology topology_ = io::load_machine("hgx-v100-8")->topology;
  Journal<bool> gate_;
  LoopThread thread_;
  std::unique_ptr<PluginSet> set_;
  AckKubelet kubelet_{folder_.path()};
};

TEST(AckMode, FollowsTheLabelAndKeepsWhatItWas) {
  using enum AckMode;
  EXPECT_EQ(next_mode(unknown, std::nullopt), usual);
  EXPECT_EQ(next_mode(topology, std::nullopt), topology) << "deleting the label restores nothing";
  EXPECT_EQ(next_mode(foreign, std::nullopt), foreign);
  EXPECT_EQ(next_mode(unknown, "topology"), topology);
  EXPECT_EQ(next_mode(topology, "default"), usual);
  EXPECT_EQ(next_mode(usual, "share"), foreign);
  EXPECT_EQ(next_mode(usual, ""), foreign);
  EXPECT_EQ(resource_of(usual), kUsual);
  EXPECT_EQ(resource_of(topology), kAck);
  EXPECT_EQ(resource_of(foreign), "");
  EXPECT_EQ(resource_of(unknown), "");
}

TEST_F(AckLabel, OffersNothingBeforeItHasSeenTheNode) {
  begin();
  const int before = kubelet_.lists();
  on_loop([] {});
  label(std::nullopt);
  EXPECT_TRUE(kubelet_.offers(kUsual, 8));
  EXPECT_TRUE(kubelet_.offers(kAck, 0));
  EXPECT_EQ(gate_.at(0), true);
  EXPECT_EQ(before, 0) << "there was nothing to know yet";
  // The first lists that came are those.
  EXPECT_THAT(kubelet_.history(kUsual), ElementsAre(all_but({})));
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(IsEmpty()));
}

TEST_F(AckLabel, SwitchesBothWays) {
  begin();
  label("default");
  ASSERT_TRUE(kubelet_.offers(kUsual, 8));
  ASSERT_TRUE(kubelet_.offers(kAck, 0));
  ASSERT_EQ(gate_.at(0), true);
  label("topology");
  EXPECT_TRUE(kubelet_.offers(kUsual, 0));
  EXPECT_TRUE(kubelet_.offers(kAck, 8));
  EXPECT_EQ(gate_.at(1), false) << "until the kubelet's list has come";
  EXPECT_EQ(gate_.at(2), true);
  run(kAck, "job", {4, 5});
  label("topology");
  forget("job");
  label("default");
  EXPECT_TRUE(kubelet_.offers(kAck, 0));
  EXPECT_TRUE(kubelet_.offers(kUsual, 8));
  run(kUsual, "plain", {4, 5});
  EXPECT_EQ(gate_.at(4), true);
  EXPECT_EQ(gate_.size(), 5U) << "the same label again changes nothing";
}

TEST_F(AckLabel, AnotherPluginsModeLeavesNothing) {
  begin();
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 8));
  label("share");
  EXPECT_TRUE(kubelet_.offers(kAck, 0));
  EXPECT_TRUE(kubelet_.offers(kUsual, 0));
  label(std::nullopt);
  label("share");
  EXPECT_EQ(kubelet_.history(kUsual).size(), 1U) << "no list but the first, empty one";
  label("default");
  EXPECT_TRUE(kubelet_.offers(kUsual, 8));
  EXPECT_TRUE(kubelet_.offers(kAck, 0));
}

TEST_F(AckLabel, ADeletedLabelChangesNothing) {
  begin();
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 8));
  label(std::nullopt);
  run(kAck, "job", {0});
  EXPECT_THAT(kubelet_.history(kUsual), ElementsAre(IsEmpty()));
}

TEST_F(AckLabel, ChipsOfTheOtherResourceStayTheirs) {
  begin();
  label("default");
  ASSERT_TRUE(kubelet_.offers(kUsual, 8));
  run(kUsual, "old", {0, 3});
  label("topology");
  EXPECT_TRUE(kubelet_.offers(kAck, 6, 2));
  EXPECT_TRUE(kubelet_.offers(kUsual, 0));
  // At no time were they offered.
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(IsEmpty(), all_but({"0", "3"})));
  show(ack_pod(kAck, "clash", {3, 4}, "Pending"));
  EXPECT_FALSE(kubelet_.admit(kAck, "clash", 2));
  // Nor does the plugin give them to a kubelet that believes they are free.
  EXPECT_THAT(kubelet_.allocate(kAck, {"3"}).error_message(), HasSubstr(kUsual));
  run(kAck, "new", {1, 2});
  EXPECT_TRUE(kubelet_.start_container(kUsual, {"0", "3"}).ok()) << "a container starts again";
  EXPECT_TRUE(kubelet_.start_container(kAck, {"1", "2"}).ok());
  forget("old");
  EXPECT_TRUE(kubelet_.offers(kAck, 8));
}

TEST_F(AckLabel, ChipsAreHeldInBothDirections) {
  begin();
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 8));
  run(kAck, "job", {6, 7});
  label("default");
  EXPECT_TRUE(kubelet_.offers(kUsual, 6, 2));
  EXPECT_THAT(kubelet_.history(kUsual), ElementsAre(IsEmpty(), all_but({"6", "7"})));
  // Back again, while its own pod runs: that one is in the kubelet's books for this resource.
  run(kUsual, "old", {0});
  label("topology");
  EXPECT_TRUE(kubelet_.offers(kAck, 7, 1));
  run(kAck, "more", {5});
}

TEST_F(AckLabel, AfterARestartChipsAreHeldBeforeAnythingIsOffered) {
  kubelet_.give(kUsual, "old", {"1"});
  kubelet_.refuse_lists(true);
  begin({ack_pod(kUsual, "old", {1})});
  label("topology");
  ASSERT_TRUE(kubelet_.lists_after(kubelet_.lists() + 1));
  EXPECT_EQ(gate_.size(), 0U);
  kubelet_.refuse_lists(false);
  EXPECT_TRUE(kubelet_.offers(kAck, 7, 1));
  EXPECT_EQ(gate_.at(0), true);
  // With nothing between: it registers when it knows what to offer.
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(all_but({"1"})));
  end();
  begin({ack_pod(kUsual, "old", {1})});
  label("topology");
  ASSERT_TRUE(kubelet_.listed(kAck, 2));
  forget("old");
  EXPECT_TRUE(kubelet_.offers(kAck, 8));
}

// The kubelet lists its pods bit by bit when it has started.
TEST_F(AckLabel, APodThatIsNotListedHasTheChipsOfItsDecision) {
  begin({ack_pod(kUsual, "old", {2, 5})});
  label("topology");
  EXPECT_TRUE(kubelet_.offers(kAck, 6, 2));
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(all_but({"2", "5"})));
  kubelet_.give(kUsual, "old", {"2", "5"});
  const int before = kubelet_.lists();
  ASSERT_TRUE(kubelet_.lists_after(before + 1));
  forget("old");
  EXPECT_TRUE(kubelet_.offers(kAck, 8));
}

TEST_F(AckLabel, PodsOfTheOtherResourceThatComeLaterTakeNothing) {
  kubelet_.give(kUsual, "old", {"0"});
  begin({ack_pod(kUsual, "old", {0})});
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 7, 1));
  show(ack_pod(kUsual, "late", {}, "Pending"));
  const int before = kubelet_.lists();
  ASSERT_TRUE(kubelet_.lists_after(before + 2)) << "looks at held chips again and again";
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(all_but({"0"})));
  EXPECT_FALSE(kubelet_.admit(kUsual, "late", 1));
}

TEST_F(AckLabel, AnAllocationDuringTheSwitchIsRefused) {
  begin();
  label("default");
  ASSERT_TRUE(kubelet_.offers(kUsual, 8));
  kubelet_.before_allocate([this] { label("topology"); });
  show(ack_pod(kUsual, "unlucky", {0}, "Pending"));
  EXPECT_FALSE(kubelet_.admit(kUsual, "unlucky", 1));
  show(ack_pod(kUsual, "unlucky", {0}, "Failed"));
  EXPECT_TRUE(kubelet_.offers(kAck, 8));
  kubelet_.before_allocate({});
  run(kAck, "job", {0});
}

// It may not have heard yet that there are none.
TEST_F(AckLabel, AKubeletThatStillAsksGetsNothing) {
  begin();
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 8));
  kubelet_.give(kUsual, "late", {});
  show(ack_pod(kUsual, "late", {1}, "Pending"));
  EXPECT_THAT(kubelet_.prefer(kUsual, {"0", "1"}, 1).error_message(), HasSubstr("does not offer"));
  EXPECT_THAT(kubelet_.allocate(kUsual, {"1"}).error_message(), HasSubstr("does not offer"));
}

TEST_F(AckLabel, AKubeletThatRestartsGetsTheSame) {
  begin();
  label("default");
  ASSERT_TRUE(kubelet_.offers(kUsual, 8));
  ASSERT_EQ(gate_.at(0), true);
  run(kUsual, "old", {0});
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 7, 1));
  ASSERT_EQ(gate_.at(2), true);
  kubelet_.stop();
  ASSERT_EQ(gate_.at(3), false);
  kubelet_.start();
  EXPECT_EQ(gate_.at(4), true);
  ASSERT_TRUE(kubelet_.listed(kAck, 3));
  EXPECT_THAT(kubelet_.history(kAck), ElementsAre(IsEmpty(), all_but({"0"}), all_but({"0"})));
  EXPECT_TRUE(kubelet_.offers(kUsual, 0));
}

TEST_F(AckLabel, TheGateClosesForEither) {
  begin();
  label("default");
  ASSERT_EQ(gate_.at(0), true);
  on_loop([this] { set_->pods_stale(); });
  EXPECT_EQ(gate_.at(1), false);
  on_loop([this] { set_->pods_listed(); });
  EXPECT_EQ(gate_.at(2), true);
  // The kubelet ends its connection to the one without devices.
  kubelet_.drop(kAck);
  EXPECT_EQ(gate_.at(3), false);
  EXPECT_EQ(gate_.at(4), true) << "it registers again";
  on_loop([this] { set_->close_gate(); });
  EXPECT_EQ(gate_.at(5), false);
}

// A list would make the kubelet forget what it is giving away, whichever plugin asks for it.
TEST_F(AckLabel, NoPluginListsWhileTheOtherGivesAway) {
  begin();
  label("default");
  ASSERT_TRUE(kubelet_.offers(kUsual, 8));
  run(kUsual, "old", {7});
  label("topology");
  ASSERT_TRUE(kubelet_.offers(kAck, 7, 1));
  std::atomic<bool> done = false;
  std::thread restarts([&] {
    while (!done) EXPECT_TRUE(kubelet_.start_container(kUsual, {"7"}).ok());
  });
  for (int round = 0; round < 20; ++round) {
    const std::string name = "job-" + std::to_string(round);
    run(kAck, name, {round % 7});
    forget(name);
  }
  done = true;
  restarts.join();
  EXPECT_EQ(kubelet_.lists_while_allocating(), 0);
}

}  // namespace
}  // namespace chipweave::device_plugin
