#include "scheduler-plugin/kube/pod_ask.hpp"

#include <gtest/gtest.h>

namespace chipweave::sched {
namespace {

CountedAsk count(const std::string& spec, const std::string& labels = "{}") {
  auto pod = codec::read_pod(R"({"metadata":{"name":"p","namespace":"ns","labels":)" + labels +
                             R"(},"spec":)" + spec + "}");
  if (!pod) throw std::runtime_error(pod.error().text());
  return count_ask(*pod, ResourceTable{});
}
std::string container(const std::string& resources) {
  return R"({"containers":[{"name":"c","resources":)" + resources + "}]}";
}

TEST(PodAsk, ReadsTheAcceleratorAndItsChips) {
  const auto c = count(container(R"({"limits":{"cpu":"1","huawei.com/Ascend910":"8"}})"));
  EXPECT_EQ(c.refused, "");
  EXPECT_EQ(c.ask.resource, "huawei.com/Ascend910");
  EXPECT_EQ(c.ask.chips, 8);
}

TEST(PodAsk, NoAcceleratorIsZeroChips) {
  const auto c = count(container(R"({"requests":{"cpu":"500m","memory":"1Gi"}})"));
  EXPECT_EQ(c.refused, "");
  EXPECT_EQ(c.ask.chips, 0);
  EXPECT_EQ(count(container(R"({"limits":{"nvidia.com/gpu":"0"}})")).ask.chips, 0);
}

TEST(PodAsk, RefusesPartsOfChipsInASentence) {
  for (const char* resource : {"aliyun.com/gpu-mem", "nvidia.com/gpu.shared",
                               "nvidia.com/mig-1g.5gb", "huawei.com/npu-core"}) {
    const auto c = count(container(std::string(R"({"limits":{")") + resource + R"(":"1"}})"));
    EXPECT_NE(c.refused.find(resource), std::string::npos) << c.refused;
    EXPECT_EQ(c.ask.chips, 0);
  }
  const auto half = count(container(R"({"limits":{"nvidia.com/gpu":"500m"}})"));
  EXPECT_NE(half.refused.find("500m"), std::string::npos) << half.refused;
}

TEST(PodAsk, RefusesTwoKindsOfAcceleratorInOnePod) {
  const auto c = count(container(R"({"limits":{"nvidia.com/gpu":"1","amd.com/gpu":"1"}})"));
  EXPECT_NE(c.refused.find("one kind of accelerator"), std::string::npos) << c.refused;
}

TEST(PodAsk, ReadsTheAckGroup) {
  const auto spec = container(R"({"limits":{"aliyun.com/gpu":1}})");
  const auto c = count(spec, R"({"gpu-topology":"job","gpu-topology-replica":"4"})");
  ASSERT_TRUE(c.ask.group.has_value());
  EXPECT_EQ(c.ask.group->name, "job");
  EXPECT_EQ(c.ask.group->replicas, 4);
  EXPECT_TRUE(c.ask.distributed);
  EXPECT_NE(count(spec, R"({"gpu-topology":"job","gpu-topology-replica":"many"})").refused, "");
}

}  // namespace
}  // namespace chipweave::sched
