// The network from the API server: labels of Nodes, NodeInventories, HyperNodes, Topology objects
// and a ConfigMap.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/server/network_json.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Names = std::vector<std::string>;
using Labels = std::map<std::string, std::string>;

constexpr const char* kBlock = "cloud.provider.com/topology-block";
constexpr const char* kRack = "cloud.provider.com/topology-rack";
constexpr const char* kNodeLevel = "kubernetes.io/hostname";
constexpr const char* kHyperNodes = "/apis/topology.volcano.sh/v1alpha1/hypernodes";
constexpr const char* kTopologies = "/apis/kueue.x-k8s.io/v1beta2/topologies";
constexpr const char* kOldTopologies = "/apis/kueue.x-k8s.io/v1beta1/topologies";
constexpr const char* kNetworkTopologies =
    "/apis/scheduling.koordinator.sh/v1alpha1/clusternetworktopologies";
constexpr const char* kConfigMaps = "/api/v1/namespaces/team/configmaps";

class KubeNetwork : public ::testing::Test {
 protected:
  void begin(std::vector<NetworkSource> sources) {
    sources.push_back(NetworkSource::labels);
    sources.push_back(NetworkSource::inventories);
    w.options.network.sources = std::move(sources);
    for (int i = 0; i < 4; ++i) {
      const std::string node = "n" + std::to_string(i);
      w.api.create_node(node, 0, {{kBlock, "b0"}, {kRack, "r" + std::to_string(i / 2)}});
      w.add_node(node, "hgx-v100-8");
    }
    w.restart();
    settle();
  }
  void settle() {
    w.api.settle();
    w.pass(std::chrono::seconds(6));
    w.api.settle();
    w.tick();
  }
  Network& network() { return w.scheduler->network(); }
  std::string problem(NetworkSource source) {
    for (const Network::SourceState& state : network().sources()) {
      if (state.source == source) return state.problem;
    }
    return "not used";
  }
  static std::string hypernode(int tier, const Names& members, const std::string& type) {
    std::string list;
    for (const std::string& member : members) {
      list += (list.empty() ? "" : ",") + (R"({"type":")" + type + R"(","selector":{)") +
              (member.front() == '{' ? R"("labelMatch":)" + member
                                     : R"("exactMatch":{"name":")" + member + "\"}") +
              "}}";
    }
    return R"("spec":{"tier":)" + std::to_string(tier) + R"(,"members":[)" + list + "]}";
  }

  KubeWorld w;
};

TEST_F(KubeNetwork, IsThatOfTheNodesLabelsAndFollowsThem) {
  begin({});
  EXPECT_TRUE(network().known());
  EXPECT_EQ(network().levels(), (Names{kBlock, kRack, kNodeLevel}));
  EXPECT_EQ(network().path_of("n3"), (Names{"b0", "r1", "n3"}));
  EXPECT_EQ(network().fabric("nvidia.com/gpu").size(), 4U);
  w.api.create_node("n3", 0, {{kBlock, "b1"}, {kRack, "r1"}});
  w.api.settle();
  EXPECT_EQ(network().path_of("n3"), (Names{"b1", "r1", "n3"}));
  w.api.delete_node("n3");
  w.api.settle();
  EXPECT_EQ(network().path_of("n3"), Names{});
  EXPECT_EQ(network().fabric("nvidia.com/gpu").size(), 3U);
  EXPECT_EQ(network().labels().size(), 3U);
}

TEST_F(KubeNetwork, IsNotKnownBeforeNodesAndInventoriesWereListed) {
  begin({});
  w.restart();
  EXPECT_FALSE(network().known());
  w.api.settle();
  EXPECT_TRUE(network().known());
}

TEST_F(KubeNetwork, ReadsSuperPodsFromAnnotations) {
  begin({});
  for (int i = 0; i < 4; ++i)
    w.api.create_node("n" + std::to_string(i), 0, {}, {{"superPodID", std::to_string(i / 2)}});
  settle();
  EXPECT_EQ(network().path_of("n3"), (Names{"1", "n3"}));
}

TEST_F(KubeNetwork, ReadsSwitchesAndCliquesFromInventories) {
  begin({});
  const NodeTable& nodes = w.scheduler->nodes();
  ASSERT_TRUE(nodes.node(nodes.find("n0")).has_inventory());
  for (int i = 0; i < 4; ++i) w.api.create_node("n" + std::to_string(i));  // no labels
  const std::string topology =
      R"({"chips":[{"index":0}],"nics":[{"name":"eth0"},{"name":"eth1"}]})";
  for (int i = 0; i < 4; ++i) {
    const std::string unit = std::to_string(i / 2);
    w.api.set_inventory(
        "n" + std::to_string(i),
        R"({"bootId":"b","sequence":1,"machine":"m","resources":["nvidia.com/gpu"],"topology":)" +
            topology +
            R"(,"facts":{"fabric.clique":"c1"},"neighbours":[{"nic":"eth1","system":"leaf)" + unit +
            R"(b"},{"nic":"eth0","system":"leaf)" + unit + R"(a"}]})");
  }
  settle();
  EXPECT_EQ(network().levels(), (Names{"domain", "leaf", kNodeLevel}));
  EXPECT_EQ(network().path_of("n2"), (Names{"c1", "leaf1a", "n2"}));
  ASSERT_NE(network().rails_of("n2"), nullptr);
  EXPECT_EQ(*network().rails_of("n2"), (Names{"leaf1a", "leaf1b"}));
}

TEST_F(KubeNetwork, OfHyperNodesTakesPrecedenceAndFollowsThem) {
  w.api.serve(kHyperNodes);
  w.api.set_document(kHyperNodes, "s0", hypernode(1, {"n0", "n2"}, "Node"));
  w.api.set_document(kHyperNodes, "s1", hypernode(1, {"n1", "n3"}, "Node"));
  w.api.set_document(kHyperNodes, "top", hypernode(2, {"s0", "s1"}, "HyperNode"));
  begin({NetworkSource::hypernodes});
  EXPECT_EQ(network().levels(), (Names{"tier-2", "tier-1", kNodeLevel}));
  EXPECT_EQ(network().path_of("n2"), (Names{"top", "s0", "n2"}));
  w.api.set_document(kHyperNodes, "s0", hypernode(1, {"n0"}, "Node"));
  settle();
  EXPECT_EQ(network().path_of("n2"), (Names{"", "", "n2"}));
  w.api.set_document(kHyperNodes, "s0", R"("spec":{"tier":-4})");
  settle();
  EXPECT_NE(problem(NetworkSource::hypernodes).find("spec.tier"), std::string::npos)
      << problem(NetworkSource::hypernodes);
  EXPECT_EQ(network().path_of("n0"), (Names{"top", "s0", "n0"})) << "the last good ones";
  for (const char* name : {"s0", "s1", "top"}) w.api.set_document(kHyperNodes, name, "");
  settle();
  EXPECT_EQ(network().path_of("n2"), (Names{"b0", "r1", "n2"}));
  EXPECT_EQ(problem(NetworkSource::hypernodes), "");
}

TEST_F(KubeNetwork, OfHyperNodesThatSelectNodesFollowsTheNodesLabels) {
  w.api.serve(kHyperNodes);
  w.api.set_document(kHyperNodes, "s0", hypernode(1, {R"({"matchLabels":{"group":"a"}})"}, "Node"));
  begin({NetworkSource::hypernodes});
  EXPECT_EQ(network().path_of("n1"), (Names{"b0", "r0", "n1"})) << "no node is selected";
  w.api.create_node("n1", 0, {{"group", "a"}});
  settle();
  EXPECT_EQ(network().levels(), (Names{"tier-1", kNodeLevel}));
  EXPECT_EQ(network().path_of("n1"), (Names{"s0", "n1"}));
}

TEST_F(KubeNetwork, OfATopologyOfKueueIsItsLevels) {
  w.api.serve(kOldTopologies);  // an old Kueue
  w.api.set_document(kOldTopologies, "default",
                     R"("spec":{"levels":[{"nodeLabel":")" + std::string(kRack) +
                         R"("},{"nodeLabel":"kubernetes.io/hostname"}]})");
  begin({NetworkSource::kueue});
  EXPECT_EQ(network().levels(), (Names{kRack, kNodeLevel}));
  EXPECT_EQ(network().path_of("n3"), (Names{"r1", "n3"}));
  w.api.set_document(kOldTopologies, "other", R"("spec":{"levels":[{"nodeLabel":"x"}]})");
  settle();
  EXPECT_EQ(problem(NetworkSource::kueue), "2 objects of kind Topology; default is used");
  w.api.set_document(kOldTopologies, "default", R"("spec":{"levels":[]})");
  settle();
  EXPECT_NE(problem(NetworkSource::kueue), "");
  EXPECT_EQ(network().levels(), (Names{kRack, kNodeLevel})) << "the last good one";
  // an upgrade of Kueue
  w.api.serve(kTopologies);
  w.api.set_document(kTopologies, "default",
                     R"("spec":{"levels":[{"nodeLabel":")" + std::string(kBlock) + R"("}]})");
  for (int i = 0; i < 8; ++i) settle();
  EXPECT_EQ(network().levels(), (Names{kBlock, kNodeLevel}));
  EXPECT_EQ(problem(NetworkSource::kueue), "");
}

TEST_F(KubeNetwork, OfKoordinatorHasTheNamesOfItsLayers) {
  w.api.serve(kNetworkTopologies);
  w.api.set_document(
      kNetworkTopologies, "default",
      R"("spec":{"networkTopologySpec":[{"topologyLayer":"SpineLayer","labelKey":[")" +
          std::string(kRack) +
          R"("]},{"topologyLayer":"NodeTopologyLayer","parentTopologyLayer":"SpineLayer"}]})");
  begin({NetworkSource::koordinator});
  EXPECT_EQ(network().levels(), (Names{"SpineLayer", kNodeLevel}));
  EXPECT_EQ(network().level_of(kRack), 0);
}

TEST_F(KubeNetwork, DoesNotMissAnApiThatTheClusterDoesNotHave) {
  begin({NetworkSource::hypernodes, NetworkSource::kueue, NetworkSource::kai,
         NetworkSource::koordinator});
  EXPECT_TRUE(network().known());
  EXPECT_TRUE(w.leads()) << w.scheduler->authority().waiting_for();
  EXPECT_EQ(w.kubernetes->stats().watch_failures, 0U);
  EXPECT_EQ(network().path_of("n3"), (Names{"b0", "r1", "n3"}));
  EXPECT_EQ(problem(NetworkSource::kai), "the cluster has no API /apis/kai.scheduler/v1alpha1");
  // until it is installed
  w.api.serve(kHyperNodes);
  w.api.set_document(kHyperNodes, "s0", hypernode(1, {"n0"}, "Node"));
  for (int i = 0; i < 8; ++i) settle();
  EXPECT_EQ(network().path_of("n0"), (Names{"s0", "n0"}));
  EXPECT_EQ(problem(NetworkSource::hypernodes), "");
}

TEST_F(KubeNetwork, OfAConfigMapComesFirstAndABadOneLeavesTheLast) {
  w.api.serve(kConfigMaps);
  const auto csv = [](const std::string& text) {
    return R"("data":{"network":)" + nlohmann::json(text).dump() + R"(,"note":"x"})";
  };
  w.api.set_document(kConfigMaps, "network", csv("name,row\nn0,row1\nn1,row1\nn2,row2\n"));
  w.shared->network_config_map = {"team", "network"};
  begin({NetworkSource::configmap, NetworkSource::hypernodes});
  EXPECT_EQ(network().levels(), (Names{"row", kNodeLevel}));
  EXPECT_EQ(network().path_of("n2"), (Names{"row2", "n2"}));
  EXPECT_EQ(network().path_of("n3"), (Names{"", "n3"}));
  const Names bad_ones = {csv("no network"), R"("data":{"a":"x","b":"y"})",
                          R"("data":{"network":7})", R"("binaryData":{"a":""})"};
  for (const std::string& bad : bad_ones) {
    w.api.set_document(kConfigMaps, "network", bad);
    settle();
    EXPECT_NE(problem(NetworkSource::configmap), "") << bad;
    EXPECT_EQ(network().path_of("n2"), (Names{"row2", "n2"})) << bad;
  }
  w.api.set_document(kConfigMaps, "network",
                     R"("data":{"any.csv":"name,row\nn0,row1\nn2,row3\n"})");
  settle();
  EXPECT_EQ(problem(NetworkSource::configmap), "");
  EXPECT_EQ(network().path_of("n2"), (Names{"row3", "n2"}));
  w.api.set_document(kConfigMaps, "network", "");
  settle();
  EXPECT_EQ(problem(NetworkSource::configmap), "there is no such ConfigMap");
  EXPECT_EQ(network().path_of("n2"), (Names{"b0", "r1", "n2"}));
}

TEST_F(KubeNetwork, IsShownAsJson) {
  w.api.serve(kConfigMaps);
  w.api.set_document(
      kConfigMaps, "network",
      R"("data":{"network":"name,row,)" + std::string(kRack) + R"(\nn0,row1,r7\nn1,row1,r0\n"})");
  w.shared->network_config_map = {"team", "network"};
  begin({NetworkSource::configmap});
  const auto json = nlohmann::json::parse(network_json(network()));
  EXPECT_EQ(json["known"], true);
  EXPECT_EQ(json["source"], "configmap");
  EXPECT_EQ(json["levels"][1]["name"], kRack);
  EXPECT_EQ(json["levels"][1]["domains"], 2);
  EXPECT_EQ(json["levels"][2]["of"], "node");
  EXPECT_EQ(json["nodes"], 4);
  EXPECT_EQ(json["nodes_without_place"], 2);
  EXPECT_EQ(json["accelerators"]["state"], "none");
  EXPECT_EQ(json["conflicts"]["nodes"], 1);
  EXPECT_EQ(json["conflicts"]["first"][0], (nlohmann::json{{"node", "n0"},
                                                           {"level", kRack},
                                                           {"source", "configmap"},
                                                           {"domain", "r7"},
                                                           {"other_source", "labels"},
                                                           {"other_domain", "r0"}}));
  EXPECT_EQ(json["sources"][0]["name"], "configmap");
  EXPECT_EQ(json["sources"][0]["nodes"], 2);
}

}  // namespace
}  // namespace chipweave::sched::test
