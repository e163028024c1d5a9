#include "node-agent/publish/compat/ack_content.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;

TEST(AckContent, OfTwoPairsWithBridges) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  b.host_bandwidth = domain::HostBandwidth{20, 20, 18, 16, 12, 10};
  for (int i = 0; i < 3; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    if (i == 2) chip.health = domain::Health::unhealthy;
    b.add_chip(std::move(chip));
  }
  b.add_link(domain::ChipIndex{0}, domain::ChipIndex{1}, domain::LinkKind::nvlink, 4, 20, 1);
  b.add_link(domain::ChipIndex{0}, domain::ChipIndex{2}, domain::LinkKind::board);
  const NodeState state{"box", {}, *std::move(b).build()};
  const auto data = ack_data(state);
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(*data, (codec::StringMap{
                       {"devices", R"({"0":"Healthy","1":"Healthy","2":"Unhealthy"})"},
                       {"linkType", R"([["X","NV3","PIX"],["NV3","X","SYS"],["PIX","SYS","X"]])"},
                       {"bandwidth", "[[0.0,60.0,20.0],[60.0,0.0,10.0],[20.0,10.0,0.0]]"}}));
}

TEST(AckContent, ThroughSwitchesAndOverTheHost) {
  const auto switched = ack_data(profile("hgx-h100-8"));
  ASSERT_TRUE(switched.has_value());
  const Json links = Json::parse(switched->at("linkType"));
  const Json speeds = Json::parse(switched->at("bandwidth"));
  ASSERT_EQ(links.size(), 8U);
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      EXPECT_EQ(links[a][b], a == b ? "X" : "NV18");
      EXPECT_NEAR(speeds[a][b].get<double>(), a == b ? 0 : 370.8, 1e-9);
    }
  }
  const Json host = Json::parse(ack_data(profile("pcie-8"))->at("linkType"));
  EXPECT_EQ(host[0][1], "NODE");
  EXPECT_EQ(host[0][4], "SYS");
}

TEST(AckContent, ALinkThatIsDownIsTheHostPath) {
  NodeState state = profile("pcie-nvlink-bridge-8");
  EXPECT_EQ(Json::parse(ack_data(state)->at("linkType"))[0][1], "NV12");
  ASSERT_TRUE(state.topology.take_down(0, 1, 64));
  EXPECT_EQ(Json::parse(ack_data(state)->at("linkType"))[0][1], "NODE");
}

TEST(AckContent, ChipsByTheNumbersPeopleUse) {
  const NodeState state = chips("nvidia", "T4", 2, [](domain::Chip& chip) {
    chip.index = domain::ChipIndex{chip.index.value * 2 + 1};
  });
  EXPECT_EQ(ack_data(state)->at("devices"), R"({"1":"Healthy","3":"Healthy"})");
}

TEST(AckContent, OnlyOfNvidia) { EXPECT_FALSE(ack_data(profile("mi300x-8")).has_value()); }

TEST(AckContent, ItsLabelsNameTheNode) {
  EXPECT_EQ(*ack_labels("cn-beijing.10.0.0.7"),
            (codec::StringMap{{"ack.node.gpu.schedule", "topology"},
                              {"nodename", "cn-beijing.10.0.0.7"}}));
  EXPECT_FALSE(ack_labels(std::string(64, 'n')).has_value());
}

}  // namespace
}  // namespace chipweave::agent
