#include "scheduler-plugin/kube/pod_request.hpp"

#include <gtest/gtest.h>

namespace chipweave::sched {
namespace {

CountedRequest count(const std::string& spec, const std::string& labels = "{}") {
  auto pod = codec::read_pod(R"({"metadata":{"name":"p","namespace":"ns","labels":)" + labels +
                             R"(},"spec":)" + spec + "}");
  if (!pod) throw std::runtime_error(pod.error().text());
  return count_request(*pod, ResourceTable{});
}
std::string container(const std::string& resources) {
  return R"({"containers":[{"name":"c","resources":)" + resources + "}]}";
}

TEST(PodRequest, ReadsTheAcceleratorAndItsChips) {
  const auto c = count(container(R"({"limits":{"cpu":"1","huawei.com/Ascend910":"8"}})"));
  EXPECT_EQ(c.refused, "");
  EXPECT_EQ(c.request.resource, "huawei.com/Ascend910");
  EXPECT_EQ(c.request.chips, 8);
}

TEST(PodRequest, NoAcceleratorIsZeroChips) {
  const auto c = count(container(R"({"requests":{"cpu":"500m","memory":"1Gi"}})"));
  EXPECT_EQ(c.refused, "");
  EXPECT_EQ(c.request.chips, 0);
  EXPECT_EQ(count(container(R"({"limits":{"nvidia.com/gpu":"0"}})")).request.chips, 0);
}

TEST(PodRequest, RefusesPartsOfChipsInASentence) {
  for (const char* resource : {"aliyun.com/gpu-mem", "nvidia.com/gpu.shared",
                               "nvidia.com/mig-1g.5gb", "huawei.com/npu-core"}) {
    const auto c = count(container(std::string(R"({"limits":{")") + resource + R"(":"1"}})"));
    EXPECT_NE(c.refused.find(resource), std::string::npos) << c.refused;
    EXPECT_EQ(c.request.chips, 0);
  }
  const auto half = count(container(R"({"limits":{"nvidia.com/gpu":"500m"}})"));
  EXPECT_NE(half.refused.find("500m"), std::string::npos) << half.refused;
}

TEST(PodRequest, RefusesTwoKindsOfAcceleratorInOnePod) {
  const auto c = count(container(R"({"limits":{"nvidia.com/gpu":"1","amd.com/gpu":"1"}})"));
  EXPECT_NE(c.refused.find("one kind of accelerator"), std::string::npos) << c.refused;
}

TEST(PodRequest, ReadsTheAckGroup) {
  const auto spec = container(R"({"limits":{"aliyun.com/gpu":1}})");
  const auto c = count(spec, R"({"gpu-topology":"job","gpu-topology-replica":"4"})");
  ASSERT_TRUE(c.request.group.has_value());
  EXPECT_EQ(c.request.group->name, "job");
  EXPECT_EQ(c.request.group->replicas, 4);
  EXPECT_TRUE(c.request.distributed);
  EXPECT_NE(count(spec, R"({"gpu-topology":"job","gpu-topology-replica":"many"})").refused, "");
}

}  // namespace
}  // namespace chipweave::sched
