// What a scheduler reads of single objects of the cluster: the levels that a Topology names, and
// what a NodeInventory says about the network.
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/network/kubernetes/node_network.hpp"
#include "common/codec/network/kubernetes/topology_levels.hpp"

namespace chipweave::codec {
namespace {

using Levels = std::vector<LabelLevel>;

std::string topology(const std::string& spec, const std::string& kind = "Topology") {
  return R"({"kind":")" + kind + R"(","metadata":{"name":"default"},"spec":)" + spec + "}";
}

std::string error_of(const std::string& object) {
  const auto levels = read_topology_levels(object);
  return levels ? "none" : levels.error().text();
}

TEST(TopologyObjects, NameLevels) {
  EXPECT_EQ(read_topology_levels(topology(R"({"levels":[{"nodeLabel":"a/b"},{"nodeLabel":"c"}]})"))
                .value(),
            (Levels{{"a/b", {"a/b"}}, {"c", {"c"}}}));
  EXPECT_EQ(read_topology_levels(
                topology(R"({"networkTopologySpec":[{"topologyLayer":"Leaf","labelKey":["l","m"],)"
                         R"("parentTopologyLayer":"Spine"},{"topologyLayer":"Spine",)"
                         R"("labelKey":["s"]}]})",
                         "ClusterNetworkTopology"))
                .value(),
            (Levels{{"Spine", {"s"}}, {"Leaf", {"l", "m"}}}));
}

TEST(TopologyObjects, OfBadLevelsAreRefusedByName) {
  std::string many;
  for (std::size_t i = 0; i <= limits::kMaxNetworkLevels; ++i)
    many += (i == 0 ? "" : ",") + (R"({"nodeLabel":"l)" + std::to_string(i)) + "\"}";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {R"({})", "spec.levels"},
      {R"({"levels":[{}]})", "nodeLabel"},
      {R"({"levels":[{"nodeLabel":"a"},{"nodeLabel":"a"}]})", "duplicate level"},
      {R"({"levels":[{"nodeLabel":""}]})", "is empty"},
      {R"({"levels":[{"nodeLabel":")" + std::string(300, 'x') + "\"}]}", "at most 253"},
      {R"({"levels":[{"nodeLabel":"a\u0007"}]})", "control characters"},
      {R"({"levels":[)" + many + "]}", "more than 16 levels"},
  };
  for (const auto& [spec, expected] : bad) {
    const std::string error = error_of(topology(spec));
    EXPECT_NE(error.find(expected), std::string::npos) << spec << ": " << error;
    EXPECT_NE(error.find("default"), std::string::npos) << error;
  }
  EXPECT_NE(error_of("{"), "none");
}

TEST(NodeInventoryObjects, TellSwitchesByRailAndTheInterconnect) {
  const auto network = read_node_network(std::string_view(
      R"({"topology":{"nics":[{"name":"a"},{"name":"b"}],"super_pod":{"id":"7"}},"neighbours":[)"
      R"({"nic":"b","system":"leaf2"},{"nic":"a","address":"10.0.0.1"},{"nic":"a"},)"
      R"({"nic":"b","system":"leaf2"}]})"));
  ASSERT_TRUE(network.ok()) << network.error().text();
  EXPECT_EQ(network->rails, (std::vector<std::string>{"10.0.0.1", "leaf2"}));
  EXPECT_EQ(network->leaves, (std::vector<std::string>{"10.0.0.1", "leaf2"}));
  EXPECT_EQ(network->interconnect, "7");
  EXPECT_EQ(read_node_network(
                std::string_view(
                    R"({"facts":{"fabric.clique":"c"},"topology":{"super_pod":{"id":"7"}}})"))
                ->interconnect,
            "c");
  EXPECT_EQ(read_node_network(std::string_view(R"({"machine":"m"})")).value(),
            domain::NodeNetwork());
}

TEST(NodeInventoryObjects, OfHostileContentAreRefused) {
  EXPECT_FALSE(read_node_network(std::string_view(R"({"neighbours":{}})")).ok());
  EXPECT_FALSE(read_node_network(std::string_view(R"({"neighbours":)")).ok());
  std::string many;
  for (std::size_t i = 0; i <= limits::kMaxNetworkRails; ++i)
    many += (i == 0 ? "" : ",") + (R"({"system":"s)" + std::to_string(i)) + "\"}";
  const std::string status = R"({"neighbours":[)" + many + "]}";
  const auto network = read_node_network(std::string_view(status));
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::codec
