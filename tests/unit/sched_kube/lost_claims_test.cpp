// Claims of bound pods that others have ended.
#include <gtest/gtest.h>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LostClaimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.shared->enforcement = domain::Enforcement::dra;
    world_.add_node("n1", "hgx-v100-8");
    for (const auto& [name, chips] : std::map<std::string, int>{{"a", 3}, {"b", 4}}) {
      world_.create(name, chips);
      later(milliseconds(200));
      const auto bound = world_.bind(name, "n1");
      later(seconds(1));
      ASSERT_EQ(*bound, "bound");
    }
    before_ = devices("a");
    ASSERT_EQ(before_.size(), 3U);
  }
  void later(milliseconds time) {
    for (milliseconds passed{0}; passed < time; passed += milliseconds(100)) {
      world_.pass(milliseconds(100));
      world_.api.settle();
    }
  }
  std::string claim(const std::string& pod) const { return "chipweave-" + world_.pod(pod).uid; }
  std::vector<std::string> devices(const std::string& pod) const {
    return world_.api.pod_claims.devices(claim(pod));
  }
  std::uint64_t made_again() const { return world_.kubernetes->stats().lost_claims; }

  KubeWorld world_;
  std::vector<std::string> before_;
};

TEST_F(LostClaimsTest, AreMadeAgainWithTheSameDevices) {
  world_.api.remove_claim(claim("a"));
  later(seconds(4));
  EXPECT_EQ(world_.api.pod_claims.find(claim("a")), nullptr);
  later(seconds(2));
  EXPECT_EQ(devices("a"), before_);
  EXPECT_EQ(made_again(), 1U);
  world_.expect_claims_are_the_annotations();
  world_.expect_ledger_is_the_truth();
  later(seconds(60));
  EXPECT_EQ(made_again(), 1U);
}

TEST_F(LostClaimsTest, AreAllocatedAgain) {
  world_.api.end_allocation(claim("a"));
  later(seconds(6));
  EXPECT_EQ(devices("a"), before_);
  world_.expect_claims_are_the_annotations();
}

TEST_F(LostClaimsTest, AreFoundByTheNextProcess) {
  world_.kill();
  for (const char* name : {"a", "b"}) world_.api.remove_claim(claim(name));
  world_.start();
  later(seconds(7));
  EXPECT_EQ(devices("a"), before_);
  EXPECT_EQ(made_again(), 2U);
  world_.expect_claims_are_the_annotations();
}

TEST_F(LostClaimsTest, AreMadeAgainAsOftenAsTheyAreEnded) {
  for (std::uint64_t times = 1; times <= 3; ++times) {
    world_.api.remove_claim(claim("a"));
    later(seconds(7));
    EXPECT_EQ(made_again(), times);
    EXPECT_EQ(devices("a"), before_);
  }
}

TEST_F(LostClaimsTest, OfPodsThatEndAreLeftAlone) {
  world_.api.controllers = false;
  world_.api.begin_end("ns/a");
  later(milliseconds(100));
  world_.api.remove_claim(claim("a"));
  later(seconds(20));
  EXPECT_TRUE(devices("a").empty());
  // The watch of pods does not show it yet.
  world_.api.remove_claim(claim("b"));
  later(seconds(1));
  world_.api.begin_end("ns/b");
  for (int i = 0; i < 100; ++i) {
    world_.pass(milliseconds(100));
    while (world_.api.waiting() > 0) world_.api.take(0, SimulatedApi::Fate::answered);
  }
  EXPECT_TRUE(devices("b").empty());
  EXPECT_EQ(made_again(), 0U);
}

TEST_F(LostClaimsTest, OfPodsThatWereGivenNoneAreNotMade) {
  ServerPod pod;
  pod.ns = "ns";
  pod.name = "foreign";
  pod.uid = "uid-foreign";
  pod.resource = "nvidia.com/gpu";
  pod.chips = 1;
  pod.claim = "of-another-scheduler";
  world_.api.create(pod);
  world_.api.set_node("ns/foreign", "n1");
  later(seconds(30));
  EXPECT_EQ(world_.api.pod_claims.owners().size(), 2U);
  EXPECT_EQ(made_again(), 0U);
}

TEST_F(LostClaimsTest, OfPodsWhoseStatusNamesAnotherClaimAreNotMade) {
  world_.api.pods.at("ns/a").claim = "of-another-scheduler";
  world_.api.annotate("ns/a", "touched", "");
  world_.api.remove_claim(claim("a"));
  later(seconds(30));
  EXPECT_TRUE(devices("a").empty());
}

TEST_F(LostClaimsTest, AreNotMadeForPodsThatClaimTheChipsOfOthers) {
  ServerPod thief;
  thief.ns = "ns";
  thief.name = "thief";
  thief.uid = "thief";
  thief.resource = "nvidia.com/gpu";
  thief.chips = 1;
  thief.claim = "chipweave-thief";
  thief.mappings = {{"c", "chip-00"}};
  world_.api.create(thief);
  const std::string chip = std::to_string(world_.annotated("a").front());
  world_.api.set_node("ns/thief", "n1",
                      {{"chipweave.dev/placement",
                        R"({"v":1,"node":"n1","podUid":"thief","resource":"nvidia.com/gpu",)"
                        R"("chips":[{"index":)" +
                            chip + R"(,"id":""}]})"}});
  for (int times = 0; times < 6; ++times) {
    world_.api.remove_claim(claim("a"));
    later(seconds(9));
    EXPECT_EQ(world_.api.pod_claims.find("chipweave-thief"), nullptr);
    EXPECT_EQ(devices("a"), before_);
  }
}

TEST_F(LostClaimsTest, AreMadeOnceTheirPodCanBeRead) {
  const auto is_read = [](const kube::Call& call) {
    return call.method == "GET" && call.target.ends_with("/pods/a");
  };
  world_.api.remove_claim(claim("a"));
  bool lost = false;
  for (int i = 0; i < 300 && !lost; ++i) {
    world_.pass(milliseconds(100));
    const auto at = world_.api.find(is_read);
    if (at) world_.api.take(*at, SimulatedApi::Fate::lost_before);
    lost = at.has_value();
    world_.api.settle();
  }
  ASSERT_TRUE(lost);
  later(seconds(8));
  EXPECT_TRUE(devices("a").empty());
  later(seconds(4));
  EXPECT_EQ(devices("a"), before_);
}

// Other clients may write the status of pods.
TEST_F(LostClaimsTest, OfPodsWhoseStatusNamesOtherRequestsAreNotMade) {
  for (const char* request : {"chip-3", "chip-03", "chip-31", "chip-99", "gpu", ""}) {
    world_.api.pods.at("ns/a").mappings = {{"c", "chip-00"}, {"c", request}};
    world_.api.annotate("ns/a", "touched", request);
    if (world_.api.pod_claims.find(claim("a")) != nullptr) world_.api.remove_claim(claim("a"));
    world_.restart();
    later(seconds(8));
    EXPECT_TRUE(devices("a").empty()) << request;
  }
}

TEST_F(LostClaimsTest, WaitUntilTheirDevicesAreFree) {
  world_.api.remove_claim(claim("a"));
  world_.api.set_claim("thief", {{"gpu.nvidia.com", "n1"}});
  later(seconds(12));
  EXPECT_TRUE(devices("a").empty());
  world_.api.set_claim("thief", {});
  later(seconds(30));
  EXPECT_EQ(devices("a"), before_);
}

TEST_F(LostClaimsTest, AreTriedAgainAfterARefusal) {
  world_.api.remove_claim(claim("a"));
  later(seconds(4));
  world_.api.refuse_next_claim(403);
  later(seconds(3));
  EXPECT_TRUE(devices("a").empty());
  later(seconds(12));
  EXPECT_EQ(devices("a"), before_);
}

}  // namespace
}  // namespace chipweave::sched::test
