#include "node-agent/publish/compat/mindcluster_content.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/http/sha256.hpp"
#include "tests/fakes/agent/mindcluster_reader.hpp"
#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;
using domain::Chip;
using domain::ChipIndex;
using domain::Effect;
using domain::Health;
const mc::Digest kSha256 = http::sha256;

mc::DeviceInfo info_of(const NodeState& state) {
  return test::device_info_in(device_info_data(state, {}, 1, kSha256).at("DeviceInfoCfg"));
}

TEST(DeviceInfoData, OfAHealthyNodeIsWhatTheDevicePluginPublishes) {
  // As published for a real node.
  EXPECT_EQ(
      device_info_data(profile("ascend-910b-8"), {}, 1763713955, kSha256),
      (codec::StringMap{
          {"DeviceInfoCfg",
           R"({"DeviceInfo":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-0,Ascend910-1,)"
           R"(Ascend910-2,Ascend910-3,Ascend910-4,Ascend910-5,Ascend910-6,Ascend910-7",)"
           R"("huawei.com/Ascend910-Fault":"[]","huawei.com/Ascend910-NetworkUnhealthy":"",)"
           R"("huawei.com/Ascend910-Recovering":"","huawei.com/Ascend910-Unhealthy":""},)"
           R"("UpdateTime":1763713955},"SuperPodID":-2,"ServerIndex":-2,)"
           R"("CheckCode":"e5cc7a2c30df99b05fb3415484369006515105b0228fc26b097744dceede93ca"})"}}));
}

TEST(DeviceInfoData, OfAFaultyNodeHasTheBytesOfTheFormat) {
  NodeState state = chips("ascend", "Ascend910B3", 8, [](Chip& chip) {
    if (chip.index.value == 2) chip.health = Health::network_unhealthy;
    if (chip.index.value == 7) chip.health = Health::unhealthy;
  });
  state.faults = {fault_of(7, "dcmi.80e01801", Effect::unusable)};
  const std::vector<ChipIndex> in_use = {ChipIndex{0}, ChipIndex{3}, ChipIndex{4}, ChipIndex{5},
                                         ChipIndex{6}};
  const std::string text = device_info_data(state, in_use, 1750000001, kSha256).at("DeviceInfoCfg");
  EXPECT_EQ(
      text.substr(0, text.find(R"(,"SuperPodID")")),
      R"({"DeviceInfo":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-1,Ascend910-2",)"
      R"("huawei.com/Ascend910-Fault":"[{\"fault_type\":\"CardUnhealthy\",)"
      R"(\"npu_name\":\"Ascend910-7\",\"large_model_fault_level\":\"SeparateNPU\",)"
      R"(\"fault_level\":\"SeparateNPU\",\"fault_handling\":\"SeparateNPU\",)"
      R"(\"fault_code\":\"80E01801\",\"fault_time_and_level_map\":{\"80E01801\":)"
      R"({\"fault_time\":1750000000000,\"fault_level\":\"SeparateNPU\"}}}]",)"
      R"("huawei.com/Ascend910-NetworkUnhealthy":"Ascend910-2",)"
      R"("huawei.com/Ascend910-Recovering":"","huawei.com/Ascend910-Unhealthy":"Ascend910-7"},)"
      R"("UpdateTime":1750000001})");
}

TEST(DeviceInfoData, NamesByGeneration) {
  EXPECT_EQ(info_of(profile("ascend-910a-8")).prefix, "Ascend910");
  EXPECT_EQ(info_of(profile("ascend-a3-16")).prefix, "Ascend910");
  EXPECT_EQ(info_of(profile("ascend-310p-8")).prefix, "Ascend310P");
  EXPECT_EQ(info_of(profile("ascend-310-card-4")).prefix, "Ascend310");
  EXPECT_EQ(info_of(profile("ascend-a5-8")).prefix, "npu");
  EXPECT_EQ(info_of(chips("ascend", "Ascend950PR", 8)).prefix, "npu");
  EXPECT_TRUE(info_of(profile("ascend-910a-8")).network_unhealthy.has_value());
  EXPECT_FALSE(info_of(profile("ascend-310p-8")).network_unhealthy.has_value());
}

TEST(DeviceInfoData, ChipsAreCalledByTheirPhysicalNumbers) {
  const auto half = [](Chip& chip) { chip.physical_id = chip.index.value + 4; };
  EXPECT_EQ(info_of(chips("ascend", "910B4", 4, half)).available, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(info_of(chips("ascend", "Ascend950DT", 4, half)).available,
            (std::vector<int>{0, 1, 2, 3}));
}

TEST(DeviceInfoData, ThePlaceInASuperPod) {
  const auto placed = [](const char* model, const char* id, int server) {
    const mc::DeviceInfo info =
        info_of(chips("ascend", model, 2, nullptr, domain::SuperPod{id, server}));
    return std::pair(info.super_pod_id, info.server_index);
  };
  EXPECT_EQ(placed("Ascend910_9392", "3", 1), std::pair(3, 1));
  EXPECT_EQ(placed("Ascend910_9392", "0", 0), std::pair(0, 0));
  EXPECT_EQ(placed("Ascend910_9392", "4294967295", -1), std::pair(-1, -1));
  EXPECT_EQ(placed("Ascend910_9392", "pod a", 1), std::pair(-2, 1));
  EXPECT_EQ(placed("Ascend910B3", "3", 1), std::pair(-2, -2));
}

TEST(DeviceInfoData, RacksAreOfA5) {
  NodeState state = chips("ascend", "Ascend950PR", 2);
  EXPECT_FALSE(info_of(state).rack_id.has_value());
  state.facts["ascend.rack"] = "6";
  EXPECT_EQ(info_of(state).rack_id, 6);
  state.facts["ascend.rack"] = "six";
  EXPECT_FALSE(info_of(state).rack_id.has_value());
  NodeState a2 = chips("ascend", "910B3", 2);
  a2.facts["ascend.rack"] = "6";
  EXPECT_FALSE(info_of(a2).rack_id.has_value());
}

TEST(DeviceInfoData, RecoveringIsWhoIsOnlyHeldForATime) {
  NodeState state =
      chips("ascend", "910B3", 3, [](Chip& chip) { chip.health = Health::unhealthy; });
  const auto held = [](int chip, std::int64_t until) {
    domain::Fault out = fault_of(chip, "dcmi.1", Effect::unusable);
    out.held_until = until;
    return out;
  };
  state.faults = {held(0, 1760000000000), held(1, 1760000000000), held(1, 0), held(2, -1)};
  const mc::DeviceInfo info = info_of(state);
  EXPECT_EQ(info.unhealthy, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(info.recovering, (std::vector<int>{0}));
}

TEST(DeviceInfoData, AnUnusableChipMayHaveABrokenPortToo) {
  NodeState state =
      chips("ascend", "910B3", 2, [](Chip& chip) { chip.health = Health::unhealthy; });
  state.faults = {fault_of(1, "hccn.down", Effect::network)};
  EXPECT_EQ(info_of(state).network_unhealthy, (std::vector<int>{1}));
}

TEST(DeviceInfoData, SwitchesAreOfA3AndA5) {
  for (const char* name : {"ascend-a3-16", "ascend-a5-8"}) {
    const auto data = device_info_data(profile(name), {}, 9, kSha256);
    ASSERT_TRUE(data.contains("SwitchInfoCfg")) << name;
    EXPECT_EQ(data.at("SwitchInfoCfg"),
              R"({"FaultCode":[],"FaultLevel":"","UpdateTime":9,"NodeStatus":"Healthy",)"
              R"("FaultTimeAndLevelMap":{}})");
  }
  EXPECT_EQ(device_info_data(profile("ascend-910b-16"), {}, 9, kSha256).size(), 1U);
}

TEST(DeviceInfoData, OnlyOfAscend) {
  const NodeState other = profile("hgx-h100-8");
  EXPECT_TRUE(device_info_data(other, {}, 1, kSha256).empty());
  EXPECT_FALSE(node_info_data(other, kSha256).has_value());
  EXPECT_EQ(mindcluster_metadata(other), NodeMetadata());
}

TEST(NodeInfoData, IsThereWhileTheMachineHasFaults) {
  NodeState state = profile("ascend-910b-8");
  EXPECT_FALSE(node_info_data(state, kSha256).has_value());
  domain::Fault cpu = fault_of(0, "node.cpu.0000001d", Effect::network);
  cpu.chip.reset();
  state.faults = {cpu};
  const auto data = node_info_data(state, kSha256);
  ASSERT_TRUE(data.has_value());
  const std::string& text = data->at("NodeInfo");
  EXPECT_EQ(text.substr(0, text.find(R"(,"CheckCode")")),
            R"({"NodeInfo":{"FaultDevList":[{"DeviceType":"CPU","DeviceId":0,)"
            R"("FaultCode":["0000001D"],"FaultLevel":"PreSeparateFault"}],)"
            R"("NodeStatus":"PreSeparate"})");
}

TEST(MindclusterMetadata, OfAnA2) {
  NodeState state = chips("ascend", "Ascend910B3", 2, [](Chip& chip) {
    chip.memory_bytes = std::uint64_t{64} << 30U;
    if (chip.index.value == 0) chip.device_ips = {"192.0.2.12", "192.0.2.13"};
  });
  state.facts["aicore"] = "20";
  const NodeMetadata metadata = mindcluster_metadata(state);
  EXPECT_EQ(metadata.labels, (codec::StringMap{{"accelerator", "huawei-Ascend910"},
                                               {"node.kubernetes.io/npu.chip.name", "910B3"},
                                               {"servertype", "Ascend910B-20"},
                                               {"mind-cluster/npu-chip-memory", "64G"}}));
  EXPECT_EQ(metadata.annotations,
            (codec::StringMap{{"baseDeviceInfos",
                               R"({"Ascend910-0":{"IP":"192.0.2.12"},"Ascend910-1":{"IP":""}})"},
                              {"serverIndex", "-2"},
                              {"serverType", ""},
                              {"superPodID", "-2"}}));
}

TEST(MindclusterMetadata, OfAnA3InItsSuperPod) {
  const NodeState state = chips(
      "ascend", "Ascend910_9392", 16,
      [](Chip& chip) {
        if (chip.index.value == 2) {
          chip.device_ips = {"192.0.2.12"};
          chip.super_device_id = 262146;
        }
      },
      domain::SuperPod{"5", 1});
  const NodeMetadata metadata = mindcluster_metadata(state);
  EXPECT_EQ(metadata.annotations.at("serverType"), "A3");
  EXPECT_EQ(metadata.annotations.at("superPodID"), "5");
  EXPECT_EQ(metadata.annotations.at("serverIndex"), "1");
  const std::string devices = metadata.annotations.at("baseDeviceInfos");
  EXPECT_EQ(nlohmann::json::parse(devices).size(), 16U);
  EXPECT_NE(devices.find(R"("Ascend910-2":{"IP":"192.0.2.12","SuperDeviceID":262146})"),
            std::string::npos);
  EXPECT_EQ(metadata.labels.at("node.kubernetes.io/npu.chip.name"), "910_9392");
  EXPECT_FALSE(metadata.labels.contains("servertype")) << "its card type is undefined";
}

TEST(MindclusterMetadata, OfAnA5) {
  NodeState state = chips("ascend", "Ascend950PR", 8);
  state.facts = {{"aicore", "36"}, {"ascend.rack", "6"}};
  const NodeMetadata metadata = mindcluster_metadata(state);
  EXPECT_EQ(metadata.labels, (codec::StringMap{{"accelerator", "huawei-npu"},
                                               {"node.kubernetes.io/npu.chip.name", "Ascend950PR"},
                                               {"servertype", "npu-36"}}));
  EXPECT_EQ(metadata.annotations.at("serverType"), "npu");
  EXPECT_EQ(metadata.annotations.at("rackID"), "6");
}

TEST(ManuallySeparated, AreChipsByTheNamesOfMindcluster) {
  const NodeState state =
      chips("ascend", "910B4", 4, [](Chip& chip) { chip.physical_id = chip.index.value + 4; });
  EXPECT_EQ(*manually_separated(state, "Ascend910-5, Ascend910-7"),
            (std::vector<ChipIndex>{{1}, {3}}));
  EXPECT_TRUE(manually_separated(state, "")->empty());
  EXPECT_TRUE(manually_separated(state, "Ascend910-0")->empty()) << "no such chip here";
  const auto bad = manually_separated(state, "Ascend910-5,chip 7");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().text().find("ManuallySeparateNPU"), std::string::npos);
  EXPECT_TRUE(manually_separated(profile("hgx-h100-8"), "anything")->empty());
}

}  // namespace
}  // namespace chipweave::agent
