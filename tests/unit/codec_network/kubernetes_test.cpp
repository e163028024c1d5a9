#include "tests/unit/codec_network/network.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string hypernode(const std::string& name, int tier, const std::string& members,
                      const std::string& tier_name = "") {
  return "---\napiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: " +
         name + "}\nspec:\n  tier: " + std::to_string(tier) +
         (tier_name.empty() ? "" : "\n  tierName: " + tier_name) + "\n  members:\n" + members;
}
std::string exact(const std::string& type, const std::string& name) {
  return "  - {type: " + type + ", selector: {exactMatch: {name: " + name + "}}}\n";
}
std::string pattern(const std::string& text) {
  return "  - {type: Node, selector: {regexMatch: {pattern: '" + text + "'}}}\n";
}
std::string node(const std::string& name, const std::string& labels = "{}") {
  return "---\nkind: Node\nmetadata: {name: " + name + ", labels: " + labels + "}\n";
}

TEST(HyperNodes, TiersAreLevelsAndGapsRepeatTheHyperNodeAbove) {
  const ImportedNetwork out = imported(
      hypernode("core", 3, exact("HyperNode", "s") + exact("HyperNode", "direct")) +
      hypernode("s", 2, exact("HyperNode", "l") + exact("Node", "n9"), "spine") +
      hypernode("l", 1, exact("Node", "n1")) + hypernode("direct", 1, exact("Node", "n2")) +
      hypernode("island", 1, exact("Node", "n3")));
  EXPECT_EQ(out.format, "hypernode");
  EXPECT_THAT(out.table.levels, ElementsAre("tier-3", "spine", "tier-1"));
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("core", "s", "l"));
  EXPECT_THAT(path_of(out.table, "n9"), ElementsAre("core", "s", "s"));
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("core", "core", "direct"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("island", "island", "island"));
}

TEST(HyperNodes, PatternsAndLabelsSelectAmongTheNodesOfTheFile) {
  const std::string nodes = node("gpu-1", "{rack: a, zone: z}") + node("gpu-12", "{rack: a}") +
                            node("cpu-1", "{rack: b}");
  EXPECT_THAT(sizes_of(imported(hypernode("h", 1, pattern("^gpu-[0-9]$")) + nodes).table, 0),
              ElementsAre(1));
  const ImportedNetwork labels =
      imported(hypernode("h", 1,
                         "  - type: Node\n    selector: {labelMatch: {matchLabels: {rack: a}, "
                         "matchExpressions: [{key: zone, operator: DoesNotExist}]}}\n") +
               nodes);
  EXPECT_THAT(path_of(labels.table, "gpu-12"), ElementsAre("h"));
  EXPECT_THAT(path_of(labels.table, "gpu-1"), ElementsAre(""));
  EXPECT_THAT(labels.warnings, ElementsAre(HasSubstr("2 nodes are in no HyperNode")));
  const ImportedNetwork none = imported(hypernode("h", 1, pattern("x")));
  EXPECT_THAT(none.table.nodes, IsEmpty());
  EXPECT_THAT(none.warnings, ElementsAre(HasSubstr("kubectl get nodes")));
}

TEST(HyperNodes, ListsOfJsonAreRead) {
  const ImportedNetwork out = imported(
      R"({"kind":"HyperNodeList","items":[{"metadata":{"name":"h"},"spec":{"tier":1,"members":[
          {"type":"Node","selector":{"exactMatch":{"name":"n1"}}}]}}]})");
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("h"));
}

// Matches of Go's patterns, and the unsupported ones, which are rejected by name.
TEST(HyperNodes, PatternsAreGos) {
  const std::string nodes = node("n1") + node("node-10") + node("a.b");
  const auto matched = [&](const std::string& text) {
    const auto sizes = sizes_of(imported(hypernode("h", 1, pattern(text)) + nodes).table, 0);
    return sizes.empty() ? 0 : sizes.front();
  };
  const std::vector<std::pair<std::string, int>> good = {
      {"", 3},
      {"1", 2},
      {"^n", 2},
      {"^n1$", 1},
      {"(n1|a)", 2},
      {"n\\d", 1},
      {"a\\.b", 1},
      {"a.b", 1},
      {"^[^a]", 2},
      {"[a-c]\\.", 1},
      {"^n1+$", 1},
      {"-1?0", 1},
      {"o{1}d", 1},
      {"1{2,}", 0},
      {"^(?:n|o)+1", 1},
      {"\\w-\\w", 1},
      {"^n[o1]{1,2}", 2},
      {"^$", 0},
      {"a{,2}", 0},
      {"^n.*?0$", 1},
      {"[]a]\\.", 1},
      {"\\An1\\z", 1},
      {"(|n1)$", 3},
      {"x*", 3},
      {"[\\d]$", 2},
      {"(?i)^N1$", 1},
      {"[[:alpha:]]-", 1},
      {"(?P<host>n1)", 1},
      {"1\\b", 1},
      {"\\pL\\pL", 1},
  };
  for (const auto& [text, count] : good) EXPECT_EQ(matched(text), count) << text;
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"(", "missing )"},
      {")", "unexpected )"},
      {"[a", "missing ]"},
      {"[b-a]", "range"},
      {"*a", "no argument for repetition"},
      {"a**", "repetition operator"},
      {"a{2,1}", "repetition size"},
      {"a\\", "trailing"},
      {"x{1001}", "repetition size"},
      {"(?=a)", "perl operator"},
      {"((a{100}){100}){100}", "repetition size"},
      {std::string(60, '('), "missing )"},
      {std::string(4097, 'a'), "must have at most 4096 bytes"},
  };
  for (const auto& [text, why] : bad) {
    EXPECT_THAT(network_error_of(hypernode("h", 1, pattern(text)) + nodes),
                AllOf(HasSubstr("members[0]"), HasSubstr("pattern \""), HasSubstr(why)))
        << text;
  }
}

TEST(HyperNodes, PatternsThatTakeTooLongTogetherAreRefused) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += node(std::string(240, 'a') + std::to_string(i));
  std::string members;
  for (int i = 0; i < 60; ++i) members += pattern("b{900}");
  EXPECT_THAT(network_error_of(text + hypernode("h", 1, members)), HasSubstr("take too long"));
}

TEST(HyperNodes, ContradictionsNameBoth) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {hypernode("a", 2, exact("HyperNode", "l")) + hypernode("b", 2, exact("HyperNode", "l")) +
           hypernode("l", 1, exact("Node", "n")),
       "HyperNode \"l\""},
      {hypernode("a", 1, exact("Node", "n")) + hypernode("b", 1, exact("Node", "n")),
       "node \"n\" is in HyperNode \"a\""},
      {hypernode("a", 1, exact("HyperNode", "b")) + hypernode("b", 1, exact("HyperNode", "a")),
       "members must be of a lower tier"},
      {hypernode("a", 1, exact("Node", "n")) + hypernode("a", 1, exact("Node", "m")),
       "duplicate HyperNode \"a\""},
      {hypernode("a", -1, exact("Node", "n")), "spec.tier must be from 0 to 1000000, got -1"},
      {hypernode("a", 1, "  - {type: Pod}\n"), "must be Node or HyperNode"},
      {hypernode("a", 1, "  - {type: Node, selector: {}}\n"), "exactly one of"},
      {"kind: HyperNode\nmetadata: {name: a}\nspec: {tier: x}\n",
       "spec.tier must be a whole number"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(network_error_of(text), HasSubstr(words));
  std::string deep;
  for (int tier = 1; tier <= 17; ++tier) {
    deep += hypernode("h" + std::to_string(tier), tier, exact("Node", "n" + std::to_string(tier)));
  }
  EXPECT_THAT(network_error_of(deep), HasSubstr("must have at most 16 tiers"));
  EXPECT_THAT(imported(hypernode("a", 2, exact("HyperNode", "gone"))).warnings,
              ElementsAre(HasSubstr("\"gone\", which is not in the file")));
}

const char* const kTopology =
    "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {name: t}\nspec:\n  levels:\n"
    "  - nodeLabel: ex/block\n  - nodeLabel: ex/rack\n  - nodeLabel: kubernetes.io/hostname\n";

TEST(Kueue, LevelsComeFromTheTopologyAndPlacesFromTheNodes) {
  const ImportedNetwork out =
      imported(kTopology + node("n1", "{ex/block: b1, ex/rack: r1}") +
               node("n2", "{ex/block: b2, ex/rack: r1, kubernetes.io/hostname: h2}") + node("cp"));
  EXPECT_EQ(out.format, "kueue");
  EXPECT_THAT(out.table.levels, ElementsAre("ex/block", "ex/rack", "kubernetes.io/hostname"));
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("b1", "r1", "n1"));
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("b2", "r1", "h2"));
  EXPECT_THAT(path_of(out.table, "cp"), ElementsAre("", "", "cp"));
  EXPECT_THAT(sizes_of(out.table, 1), ElementsAre(1, 1));
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("1 of 3 nodes")));
  EXPECT_THAT(imported(kTopology).warnings, ElementsAre(HasSubstr("no Node objects")));
}

TEST(Kueue, TwoTopologiesAreRefusedUnlessLevelsAreChosen) {
  const std::string text =
      std::string(kTopology) + "---\n" + kTopology + node("n1", "{ex/rack: r}");
  EXPECT_THAT(network_error_of(text), HasSubstr("keep one"));
  EXPECT_THAT(imported(text, {"", {"ex/rack"}}).table.levels, ElementsAre("ex/rack"));
}

TEST(Koordinator, LayersAreOrderedByTheirParents) {
  const std::string begin =
      "apiVersion: scheduling.koordinator.sh/v1alpha1\nkind: ClusterNetworkTopology\n"
      "metadata: {name: default}\nspec:\n  networkTopologySpec:\n";
  const ImportedNetwork out = imported(
      begin +
      "  - {topologyLayer: NodeTopologyLayer, parentTopologyLayer: Block}\n"
      "  - {topologyLayer: Block, parentTopologyLayer: Spine, labelKey: [ex/block, ex/old]}\n"
      "  - {topologyLayer: Spine, labelKey: [ex/spine]}\n" +
      node("n1", "{ex/spine: s, ex/old: b}"));
  EXPECT_THAT(out.table.levels, ElementsAre("Spine", "Block"));
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("s", "b"));
  EXPECT_THAT(
      network_error_of(begin + "  - {topologyLayer: A, parentTopologyLayer: B, labelKey: [a]}\n"
                               "  - {topologyLayer: B, parentTopologyLayer: A, labelKey: [b]}\n"),
      HasSubstr("do not lead from the cluster"));
  EXPECT_THAT(network_error_of(begin + "  - {topologyLayer: A, labelKey: [a]}\n"
                                       "  - {topologyLayer: B, labelKey: [b]}\n"),
              HasSubstr("both directly below"));
}

TEST(NodeLabels, FamiliesAreFoundAndOrderedCoarsestFirst) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> families = {
      {{"fabric.topograph.run/tier-10", "fabric.topograph.run/tier-9",
        "fabric.topograph.run/tier-0"},
       ""},
      {{"network.topology.nvidia.com/core", "network.topology.nvidia.com/spine",
        "network.topology.nvidia.com/leaf"},
       "network.topology.nvidia.com/accelerator"},
      {{"network.topology.nvidia.com/datacenter", "network.topology.nvidia.com/spine",
        "network.topology.nvidia.com/block"},
       "network.topology.nvidia.com/accelerator"},
      {{"topology.k8s.aws/network-node-layer-1", "topology.k8s.aws/network-node-layer-2",
        "topology.k8s.aws/network-node-layer-3"},
       "topology.k8s.aws/ultraserver-id"},
      {{"cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock",
        "cloud.google.com/gce-topology-host"},
       ""},
      {{"topology.gke.io/cluster", "topology.gke.io/rack", "topology.gke.io/host"}, ""},
      {{"oci.oraclecloud.com/host.network_block_id", "oci.oraclecloud.com/host.rack_id"}, ""},
      {{"backend.coreweave.cloud/fabric", "backend.coreweave.cloud/superpod",
        "backend.coreweave.cloud/leafgroup"},
       "ds.coreweave.com/nvlink.domain"},
      {{"volcano.sh/hypercluster", "volcano.sh/hypernode"}, ""},
      {{"cloud.provider.com/topology-block", "cloud.provider.com/topology-rack"}, ""},
      {{"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}, ""},
  };
  for (const auto& [labels, accelerator] : families) {
    std::string text = "{kubernetes.io/hostname: x";
    for (const std::string& label : labels)
      text += ", " + label + ": v" + label.substr(label.size() - 1);
    if (!accelerator.empty()) text += ", " + accelerator + ": acc";
    const ImportedNetwork out = imported(node("n1", text + "}"));
    EXPECT_EQ(out.format, "node-labels");
    EXPECT_EQ(out.table.levels, labels);
    EXPECT_EQ(out.table.accelerator_levels.size(), accelerator.empty() ? 0U : 1U) << labels.front();
  }
}

TEST(NodeLabels, FinerFamiliesBeatZonesAndOthersAreNamed) {
  const ImportedNetwork out = imported(
      node("n1", "{topology.kubernetes.io/zone: z, volcano.sh/tor: t, topology.gke.io/rack: r}") +
      node("n2", "{topology.kubernetes.io/zone: z, topology.gke.io/rack: r}"));
  EXPECT_THAT(out.table.levels, ElementsAre("topology.gke.io/rack"));
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("also have volcano.sh/tor")));
}

TEST(NodeLabels, AcceleratorDomains) {
  const ImportedNetwork clique = imported(node("n1", "{nvidia.com/gpu.clique: uuid-1.7}"));
  EXPECT_THAT(clique.table.accelerator_levels, ElementsAre("nvidia.com/gpu.clique"));
  EXPECT_THAT(clique.table.nodes[0].accelerator, ElementsAre("uuid-1"));
  const ImportedNetwork pods = imported(
      "kind: Node\nmetadata: {name: n1, annotations: {superPodID: '2', serverIndex: '0'}}\n---\n"
      "kind: Node\nmetadata: {name: n2, annotations: {superPodID: '-2'}}\n");
  EXPECT_THAT(pods.table.accelerator_levels, ElementsAre("superPodID"));
  EXPECT_THAT(pods.table.nodes[0].accelerator, ElementsAre("2"));
  EXPECT_TRUE(pods.table.nodes[1].accelerator.empty());
  const ImportedNetwork both = imported(
      node("n1",
           "{accelerator.topograph.run/domain: d, accelerator.topograph.run/sub-domain: s, "
           "fabric.topograph.run/tier-0: leaf}"));
  EXPECT_THAT(both.table.nodes[0].accelerator, ElementsAre("d", "s"));
}

TEST(NodeLabels, LevelsCanBeChosenAndMustExist) {
  const std::string nodes =
      node("n1", "{ex/row: a, ex/rack: b}") + node("n2", "{ex/row: a}") + node("n3", "{ex/row: c}");
  const ImportedNetwork out = imported(nodes, {"", {"ex/row", "ex/rack"}});
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("a", ""));
  EXPECT_THAT(network_error_of(nodes, {"", {"ex/rak"}}),
              AllOf(HasSubstr("--levels"), HasSubstr("did you mean")));
  EXPECT_THAT(network_error_of(nodes),
              AllOf(HasSubstr("--levels"), HasSubstr("group nodes here: \"ex/row\"")));
  EXPECT_THAT(network_error_of("kind: Node\nmetadata: {}\n"), HasSubstr("no metadata.name"));
  EXPECT_THAT(network_error_of(node("n1", "{volcano.sh/tor: t}") + node("n1")),
              HasSubstr("duplicate node \"n1\""));
}

// A node with its ports in order; "" for a port without a neighbour.
std::string inventory(const std::string& name, const std::vector<std::string>& leaves,
                      const std::string& more = "") {
  std::string nics;
  std::string neighbours;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::string nic = "mlx5_" + std::to_string(i);
    nics += (i == 0 ? "" : ",") + ("{\"name\":\"" + nic + "\"}");
    if (leaves[i].empty()) continue;
    neighbours += (neighbours.empty() ? "" : ",") + ("{\"nic\":\"" + nic + "\",\"system\":\"" +
                                                     leaves[i] + "\",\"port\":\"Eth1/3\"}");
  }
  return "{\"kind\":\"NodeInventory\",\"metadata\":{\"name\":\"" + name +
         "\"},\"status\":{\"topology\":{\"nics\":[" + nics + "]},\"neighbours\":[" + neighbours +
         "]" + more + "}}";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + item;
  return R"({"apiVersion":"v1","kind":"List","items":[)" + out + "]}";
}

TEST(NodeInventories, NodesOnTheSameLeavesAreOneUnit) {
  const ImportedNetwork out = imported(
      list_of({inventory("n1", {"leaf-2", "leaf-1"}), inventory("n2", {"leaf-2", "leaf-1"}),
               inventory("n3", {"leaf-3", "leaf-4"}), inventory("n4", {"leaf-3", "leaf-4"}),
               inventory("n5", {})}));
  EXPECT_EQ(out.format, "node-inventory");
  EXPECT_THAT(out.table.levels, ElementsAre("leaf"));
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("leaf-1"));
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("leaf-1"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("leaf-3"));
  EXPECT_THAT(path_of(out.table, "n5"), ElementsAre(""));
  EXPECT_THAT(out.table.nodes[0].rails, ElementsAre("leaf-2", "leaf-1"));
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("1 nodes report no switch")));
}

TEST(NodeInventories, APortThatHearsNothingIsNoOtherRail) {
  const ImportedNetwork out =
      imported(list_of({inventory("n1", {"a", "b", "c"}), inventory("n2", {"a", "b", "c"}),
                        inventory("n3", {"a", "", "c"})}));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("a"));
  EXPECT_THAT(out.table.nodes[2].rails, ElementsAre("a", "", "c"));
  EXPECT_THAT(out.warnings, IsEmpty());
}

TEST(NodeInventories, TheInterconnectOfAcceleratorsIsTheSecondHierarchy) {
  const ImportedNetwork out = imported(list_of(
      {inventory("n1", {"a"}, R"(,"facts":{"fabric.clique":"u.1"})"),
       inventory("n2", {"a"}, R"(,"facts":{"fabric.clique":"u.2"})"), inventory("n3", {"a"})}));
  EXPECT_THAT(out.table.accelerator_levels, ElementsAre("domain"));
  EXPECT_THAT(out.table.nodes[1].accelerator, ElementsAre("u.2"));
  EXPECT_THAT(out.table.nodes[2].accelerator, IsEmpty());
}

TEST(NodeInventories, WhatMakesNoSenseIsNamed) {
  const auto problem = [](const std::string& text) {
    const auto read = import_network(text);
    return read.ok() ? "read" : read.error().text();
  };
  EXPECT_THAT(problem(list_of({R"({"kind":"NodeInventory","metadata":{}})"})),
              HasSubstr("has no name"));
  EXPECT_THAT(problem(list_of({inventory("n1", {"a"}), inventory("n1", {"a"})})), HasSubstr("n1"));
  EXPECT_THAT(problem(list_of({R"({"kind":"NodeInventory","metadata":{"name":"n"},)"
                               R"("status":{"neighbours":7}})"})),
              HasSubstr("neighbours must be a list"));
}

}  // namespace
}  // namespace chipweave::codec
