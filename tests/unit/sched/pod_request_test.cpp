#include "scheduler-plugin/kube/pod_request.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

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

TEST(PodRequest, TheMarkOfAGangHasItsTopologyRequest) {
  codec::KubePod pod;
  pod.ns = "team";
  pod.annotations["chipweave.dev/gang-required-level"] = "rack";
  EXPECT_EQ(gang_mark_of(pod), nullptr);
  pod.labels["chipweave.dev/gang"] = "g";
  ASSERT_NE(gang_mark_of(pod), nullptr);
  EXPECT_EQ(gang_mark_of(pod)->topology.required, std::vector<std::string>{"rack"});
  EXPECT_EQ(gang_mark_of(pod)->problem, "");
  pod.annotations["chipweave.dev/gang-slice"] = "rack";
  EXPECT_NE(gang_mark_of(pod)->problem.find("chipweave.dev/gang-slice"), std::string::npos);
}

TEST(PodRequest, NoAcceleratorIsZeroChips) {
  const auto c = count(container(R"({"requests":{"cpu":"500m","memory":"1Gi"}})"));
  EXPECT_EQ(c.refused, "");
  EXPECT_EQ(c.request.chips, 0);
  EXPECT_EQ(count(container(R"({"limits":{"nvidia.com/gpu":"0"}})")).request.chips, 0);
}

TEST(PodRequest, ReadsWhatItsChipsAreChosenFor) {
  const auto with = [](const std::string& objective) {
    auto pod = codec::read_pod(
        R"({"metadata":{"name":"p","namespace":"ns","annotations":{"chipweave.dev/objective":")" +
        objective + R"("}},"spec":)" + container(R"({"limits":{"nvidia.com/gpu":"2"}})") + "}");
    if (!pod) throw std::runtime_error(pod.error().text());
    return count_request(*pod, ResourceTable{});
  };
  EXPECT_EQ(with("latency").request.objective, domain::Objective::latency);
  EXPECT_EQ(with("all_to_all").request.objective, domain::Objective::all_to_all);
  EXPECT_EQ(with("bandwidth").refused, "");
  for (const char* wrong : {"", "Latency", "fast"}) {
    EXPECT_NE(with(wrong).refused.find("chipweave.dev/objective"), std::string::npos) << wrong;
  }
}

TEST(PodRequest, ReadsTheDeclaredNeed) {
  const auto with_need = [](const std::string& need) {
    auto pod = codec::read_pod(
        R"({"metadata":{"name":"p","namespace":"ns","annotations":{"chipweave.dev/needs-gbps":")" +
        need + R"("}},"spec":)" + container(R"({"limits":{"nvidia.com/gpu":"2"}})") + "}");
    if (!pod) throw std::runtime_error(pod.error().text());
    return count_request(*pod, ResourceTable{});
  };
  EXPECT_DOUBLE_EQ(with_need("37.5").request.needs_gbps, 37.5);
  EXPECT_EQ(with_need("37.5").refused, "");
  for (const char* wrong : {"", "0", "-1", "much", "nan", "inf", "1e9", "5 GB/s"}) {
    const auto c = with_need(wrong);
    EXPECT_NE(c.refused.find("chipweave.dev/needs-gbps"), std::string::npos) << wrong;
    EXPECT_EQ(c.request.chips, 0);
  }
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

TEST(PodRequest, OtherResourcesAsKubeSchedulerCountsThem) {
  const auto pod = codec::read_pod(R"({"metadata":{"name":"p","namespace":"ns"},"spec":{
    "initContainers":[
      {"name":"side","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
      {"name":"init","resources":{"requests":{"cpu":"2","memory":"1500m"}}}],
    "containers":[
      {"name":"a","resources":{"requests":{"cpu":"1.5","memory":"1Gi"},
                               "limits":{"nvidia.com/gpu":"2","rdma/hca":"1","cpu":"64"}}},
      {"name":"b","resources":{"limits":{"memory":"1e3","ephemeral-storage":"2Ei",
                                         "hugepages-2Mi":"0","x/y":"many"}}}]}})");
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  const OtherResources others = other_resources(*pod, ResourceTable{});
  EXPECT_EQ(others.milli_cpu, 2100);
  EXPECT_EQ(others.memory, (1 << 30) + 1000);
  EXPECT_GT(others.ephemeral_storage, std::int64_t{1} << 50U);
  EXPECT_EQ(others.named, (std::map<std::string, std::int64_t>{{"rdma/hca", 1}}));
}

TEST(PodRequest, CpuAndMemoryWithOverheadAndWhatThePodAsAWholeRequests) {
  const auto needs = [](const std::string& more) {
    const auto pod =
        codec::read_pod(R"({"metadata":{"name":"p","namespace":"ns"},"spec":{)" + more +
                        R"("containers":[{"name":"a","resources":{
      "requests":{"cpu":"1500m","memory":"1025Mi"},"limits":{"nvidia.com/gpu":"1"}}}]}})");
    EXPECT_TRUE(pod.ok()) << pod.error().text();
    return count_request(*pod, ResourceTable{}).request.needs;
  };
  using solver::Room;
  EXPECT_EQ(needs(""), (Room{true, 2, 2}));
  EXPECT_EQ(needs(R"("overhead":{"cpu":"600m","memory":"2Gi"},)"), (Room{true, 3, 4}));
  EXPECT_EQ(needs(R"("resources":{"requests":{"cpu":"7"}},)"), (Room{true, 7, 2}));
  EXPECT_EQ(needs(R"("overhead":{"cpu":"1"},"resources":{"requests":{"cpu":"7"}},)"),
            (Room{true, 8, 2}));
}

// What a bound pod uses although its request is refused: never nothing.
TEST(PodRequest, CountsTheChipsThatARefusedRequestUses) {
  const auto used = [](const std::string& limits) {
    const auto c = count(container(R"({"limits":{)" + limits + "}}"));
    EXPECT_NE(c.refused, "") << limits;
    EXPECT_EQ(c.request.chips, 0) << limits;
    return c.used;
  };
  const struct {
    const char* limits;
    int chips;
    bool parts;
  } cases[] = {
      {R"("nvidia.com/gpu":2,"nvidia.com/gpumem":3000)", 2, true},
      {R"("nvidia.com/gpu":"500m")", 1, false},
      {R"("nvidia.com/gpu":2,"amd.com/gpu":1)", 3, false},
      {R"("nvidia.com/gpu":1000001)", limits::kMaxChipsOfPod, false},
      {R"("nvidia.com/gpumem":30000,"nvidia.com/gpucores":30)", 1, true},
      {R"("nvidia.com/gpumem-percentage":50)", 1, true},
      {R"("nvidia.com/vgpu":3,"nvidia.com/gpumem":2000)", 3, true},
      {R"("nvidia.com/gpu.shared":2)", 2, true},
      {R"("nvidia.com/mig-1g.5gb":7)", 1, true},
      {R"("nvidia.com/mig-3g.20gb":2,"nvidia.com/mig-2g.10gb":1)", 2, true},
      {R"("nvidia.com/mig-9999999999g.x":9)", 9, true},
      {R"("nvidia.com/gpu":1,"nvidia.com/mig-1g.5gb":1)", 2, true},
      {R"("koordinator.sh/gpu-core":200,"koordinator.sh/gpu-memory-ratio":250)", 3, true},
      {R"("koordinator.sh/gpu":100)", 1, true},
      {R"("aliyun.com/gpu-mem":8)", 1, true},
      {R"("huawei.com/npu-core":4)", 1, true},
      {R"("huawei.com/Ascend910-4c":2)", 2, true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(used(c.limits).chips, c.chips) << c.limits;
    EXPECT_EQ(used(c.limits).parts, c.parts) << c.limits;
  }
  EXPECT_EQ(used(R"("nvidia.com/gpu":2,"nvidia.com/gpumem":3000)").resource, "nvidia.com/gpu");
  EXPECT_EQ(used(R"("nvidia.com/gpumem":3000)").resource, "nvidia.com/gpumem");
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
