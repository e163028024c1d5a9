#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/topology_builder.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

// Two chips whose physical ids are the reverse of their order.
Node ascend_node(bool with_ips) {
  domain::TopologyBuilder b;
  b.vendor = "ascend";
  for (int i = 0; i < 2; ++i) {
    domain::Chip chip;
    chip.index = {i};
    chip.physical_id = 9 - i;
    if (with_ips) chip.device_ips = {"192.0.2." + std::to_string(i + 1)};
    chip.super_device_id = 1000U + static_cast<unsigned>(i);
    b.add_chip(chip);
  }
  b.add_link({0}, {1}, domain::LinkKind::hccs);
  Node node;
  node.name = "n1";
  node.topology = std::move(b).build().value();
  return node;
}

Decision decision(const std::string& resource) {
  Decision d;
  d.id = "d-000007";
  d.pod = {"ns", "w-0"};
  d.uid = "u-1";
  d.resource = resource;
  d.chips = ChipSet::first(2);
  d.gbps = 40;
  d.distributed = true;
  d.time = ManualClock().wall();
  d.predicate_time = 1234567890123456789;
  return d;
}

TEST(Annotations, PlacementHasTheAgreedKeys) {
  const auto written = annotations_of(decision("nvidia.com/gpu"), ascend_node(false));
  ASSERT_EQ(written.size(), 1U);
  const Json j = Json::parse(written.at("chipweave.dev/placement"));
  EXPECT_EQ(j, Json::parse(R"({"v":1,"node":"n1","podUid":"u-1","resource":"nvidia.com/gpu",
    "chips":[{"index":0,"id":""},{"index":1,"id":""}],"gbps":40.0,"decision":"d-000007",
    "time":"2026-01-02T03:04:05Z"})"));
}

TEST(Annotations, AscendNamesChipsByPhysicalIdWithoutBlanks) {
  const auto written = annotations_of(decision("huawei.com/Ascend910"), ascend_node(true));
  EXPECT_EQ(written.at("huawei.com/Ascend910"), "Ascend910-8,Ascend910-9");
  EXPECT_EQ(written.at("predicate-time"), "1234567890123456789");
  EXPECT_EQ(written.at("distributed-job"), "true");
  const Json j = Json::parse(written.at("ascend.kubectl.kubernetes.io/ascend-910-configuration"));
  EXPECT_EQ(j["devices"],
            Json::parse(R"([{"device_id":"8","device_ip":"192.0.2.2","super_device_id":"1001"},
                                          {"device_id":"9","device_ip":"192.0.2.1","super_device_id":"1000"}])"));
  EXPECT_EQ(j["pod_name"], "w-0");
  EXPECT_EQ(j["server_id"], "u-1");
}

TEST(Annotations, AscendConfigurationOnlyWhenEveryAddressIsKnown) {
  const auto written = annotations_of(decision("huawei.com/Ascend910"), ascend_node(false));
  EXPECT_EQ(written.count("ascend.kubectl.kubernetes.io/ascend-910-configuration"), 0U);
  EXPECT_EQ(annotations_of(decision("huawei.com/npu"), ascend_node(true)).at("huawei.com/npu"),
            "npu-8,npu-9");
  EXPECT_EQ(annotations_of(decision("huawei.com/npu"), ascend_node(true))
                .count("ascend.kubectl.kubernetes.io/ascend-npu-configuration"),
            1U);
  EXPECT_EQ(annotations_of(decision("huawei.com/Ascend310P"), ascend_node(false))
                .at("huawei.com/Ascend310P"),
            "Ascend310P-8,Ascend310P-9");
}

TEST(Annotations, PredicateTimeRisesStrictlyOnANodeWhileTheClockStands) {
  World w;
  w.add_node("n1", "ascend-910b-8");
  std::uint64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    const auto a = w.submit("p" + std::to_string(i), 2, "huawei.com/Ascend910");
    ASSERT_TRUE(w.bind(a, "n1").ok());
    const std::uint64_t now = std::stoull(w.cluster.written(a.key).at("predicate-time"));
    EXPECT_GT(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace chipweave::sched::test
