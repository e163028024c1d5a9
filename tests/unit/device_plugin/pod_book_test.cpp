// What is read of pods and of their annotations, and which pods are remembered.
#include "node-agent/device_plugin/core/pod_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin {
namespace {

using test::kGpu;
using test::kNode;
using test::kube_pod;
using testing::HasSubstr;
using testing::IsEmpty;

class PodBookTest : public testing::Test {
 protected:
  void take(const std::string& name, const std::string& uid = "u") {
    book_.take(kube_pod({name, uid, {{"main", 1}}}, ""));
  }
  // uuids: of the machine's two chips, or none.
  static Result<Decision> decision(const std::string& chips, bool uuids) {
    domain::TopologyBuilder builder;
    builder.vendor = "nvidia";
    for (int i = 0; i < 2; ++i) {
      domain::Chip chip;
      chip.index = domain::ChipIndex{i};
      if (uuids) chip.id = "GPU-" + std::to_string(i);
      builder.add_chip(std::move(chip));
    }
    const auto topology = std::move(builder).build();
    const Devices devices(*topology, std::make_shared<solver::Machine>(*topology));
    PodRecord pod;
    pod.uid = "u";
    pod.placement = R"({"v":1,"node":")" + kNode + R"(","podUid":"u","resource":")" + kGpu +
                    R"(","chips":[)" + chips + "]}";
    return read_decision(pod, kNode, kGpu, devices);
  }

  PodBook book_{kNode, kGpu};
};

TEST_F(PodBookTest, AChipThatWasReplacedIsNoLongerThatOfTheDecision) {
  EXPECT_TRUE(decision(R"({"index":1,"id":"GPU-1"})", true).ok());
  const auto replaced = decision(R"({"index":1,"id":"GPU-before"})", true);
  ASSERT_FALSE(replaced.ok());
  EXPECT_THAT(replaced.error().text(), HasSubstr("GPU-before"));
  EXPECT_TRUE(decision(R"({"index":1})", true).ok()) << "the annotation has no ids";
  EXPECT_TRUE(decision(R"({"index":1,"id":"GPU-1"})", false).ok()) << "the machine has none";
}

TEST_F(PodBookTest, ADecisionWithoutChipsIsNone) {
  const auto none = decision("", true);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("names no chips"));
}

TEST_F(PodBookTest, RequestsThatNoNodeCanAdmitAreNone) {
  const auto containers = [this](const std::string& quantity) {
    codec::KubePod pod = kube_pod({"p", "u", {{"main", 1}}}, "");
    pod.containers[0].limits[kGpu] = quantity;
    book_.take(pod);
    return book_.find("default/p")->containers;
  };
  EXPECT_EQ(containers(std::to_string(limits::kMaxChips)).size(), 1U);
  EXPECT_THAT(containers(std::to_string(limits::kMaxChips + 1)), IsEmpty());
  EXPECT_THAT(containers("500m"), IsEmpty());
  EXPECT_THAT(containers("many"), IsEmpty());
}

TEST_F(PodBookTest, AnAnnotationThatIsLongerThanKubernetesAllowsIsNotKept) {
  const std::string most(limits::kMaxAnnotationBytes, 'x');
  book_.take(kube_pod({"p", "u", {{"main", 1}}}, most));
  EXPECT_EQ(book_.find("default/p")->placement, most);
  book_.take(kube_pod({"p", "u", {{"main", 1}}}, most + "x"));
  EXPECT_EQ(book_.find("default/p")->placement, "");
}

TEST_F(PodBookTest, TheNewestPodsThatAreGoneAreRemembered) {
  for (std::size_t i = 0; i <= kMaxGonePods; ++i) {
    take("p" + std::to_string(i));
    book_.drop("default/p" + std::to_string(i));
  }
  EXPECT_EQ(book_.find("default/p0"), nullptr);
  for (const std::string& key :
       {std::string("default/p1"), "default/p" + std::to_string(kMaxGonePods)}) {
    ASSERT_NE(book_.find(key), nullptr) << key;
    EXPECT_TRUE(book_.find(key)->gone);
  }
}

// A StatefulSet whose pod fails again and again.
TEST_F(PodBookTest, ANameThatIsUsedAgainAndAgainDoesNotPushOthersOut) {
  take("p");
  book_.drop("default/p");
  for (std::size_t i = 0; i <= 2 * kMaxGonePods; ++i) {
    take("s-0", std::to_string(i));
    book_.drop("default/s-0");
  }
  EXPECT_NE(book_.find("default/p"), nullptr);
  ASSERT_NE(book_.find("default/s-0"), nullptr);
  EXPECT_EQ(book_.find("default/s-0")->uid, std::to_string(2 * kMaxGonePods));
}

}  // namespace
}  // namespace chipweave::device_plugin
