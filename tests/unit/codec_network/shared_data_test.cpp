// Published descriptions of real and sample networks, and unrelated files from the same folders.
#include <cstddef>
#include <set>

#include "tests/unit/codec_network/network.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool no_data() { return shared_names("network", ".md").empty(); }

ImportedNetwork shared(const std::string& name) {
  const auto text = shared_file("network/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  return imported(text.value_or(""));
}

std::string shared_error(const std::string& name) {
  const auto text = shared_file("network/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  return network_error_of(text.value_or(""));
}

TEST(SharedNetworks, IbnetdiscoverDumpHasEightScalableUnits) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  const ImportedNetwork out = shared("topograph/ibnetdiscover-example.out");
  EXPECT_EQ(out.format, "ibnetdiscover");
  EXPECT_THAT(out.table.nodes, SizeIs(122));
  EXPECT_THAT(sizes_of(out.table, 0), ElementsAre(11, 11, 14, 15, 16, 17, 18, 18));
  std::size_t outside = 0;
  std::set<std::string> leaves;
  for (const domain::NetworkNode& node : out.table.nodes) {
    if (node.path.front().empty()) ++outside;
    for (const std::string& rail : node.rails) {
      // Leaf names end in -RAIL-UNIT: all leaves of a node are in one unit.
      if (!rail.empty() && !node.path.front().empty()) {
        EXPECT_EQ(rail.substr(rail.size() - 2),
                  node.path.front().substr(node.path.front().size() - 2));
      }
      if (!rail.empty()) leaves.insert(rail);
    }
  }
  EXPECT_EQ(outside, 2U);  // the fabric manager and a bare machine, on two leaves of four
  EXPECT_THAT(leaves, SizeIs(31));
  // The unit that lacks its third leaf keeps the indices of the other rails.
  const auto& first =
      *std::find_if(out.table.nodes.begin(), out.table.nodes.end(),
                    [](const auto& node) { return node.name == "a05-p1-dgx-01-c01"; });
  EXPECT_THAT(first.rails,
              ElementsAre("A09-P1-IBLEAF-01-01", "A09-P1-IBLEAF-02-01", "", "A09-P1-IBLEAF-04-01"));
}

TEST(SharedNetworks, SlurmFiles) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  const ImportedNetwork tree = shared("topograph/expected.slinky-oci-sim-tree.conf");
  EXPECT_THAT(tree.table.levels, ElementsAre("core", "spine", "leaf"));
  EXPECT_THAT(sizes_of(tree.table, 0), ElementsAre(96));
  EXPECT_THAT(sizes_of(tree.table, 1), AllOf(SizeIs(6), Each(16)));
  EXPECT_THAT(sizes_of(tree.table, 2), AllOf(SizeIs(12), Each(8)));
  EXPECT_THAT(path_of(tree.table, "srv5204"),
              ElementsAre("switch.3.1", "switch.2.5", "switch.1.10"));
  const ImportedNetwork block = shared("topograph/expected.slinky-dra-block.conf");
  EXPECT_THAT(block.table.levels, ElementsAre("block-32", "block-16", "block"));
  EXPECT_THAT(sizes_of(block.table, 0), AllOf(SizeIs(3), Each(32)));
  EXPECT_THAT(sizes_of(block.table, 1), AllOf(SizeIs(6), Each(16)));
  EXPECT_THAT(sizes_of(block.table, 2), AllOf(SizeIs(12), Each(8)));
}

// The tree without one switch: the rest is a forest.
TEST(SharedNetworks, SlurmTreeWithoutItsRootIsAForestOfSix) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  std::string text = *shared_file("network/topograph/expected.slinky-oci-sim-tree.conf");
  const std::size_t root = text.find("SwitchName=switch.3.1");
  ASSERT_NE(root, std::string::npos);
  text.erase(root, text.find('\n', root) - root);
  const ImportedNetwork out = imported(text);
  EXPECT_THAT(out.table.levels, ElementsAre("spine", "leaf"));
  EXPECT_THAT(sizes_of(out.table, 0), AllOf(SizeIs(6), Each(16)));
}

TEST(SharedNetworks, TopographModels) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  struct Model {
    const char* name;
    std::size_t levels;
    std::size_t nodes;
    std::size_t leaves;
    std::size_t accelerator_levels;
  };
  for (const Model& model : std::vector<Model>{{"small-tree", 2, 6, 2, 1},
                                               {"medium", 3, 8, 4, 1},
                                               {"large", 3, 96, 12, 1},
                                               {"nvl72", 3, 72, 4, 1},
                                               {"dual-xclr-regular", 3, 96, 12, 2}}) {
    const ImportedNetwork out = shared(std::string("topograph/model-") + model.name + ".yaml");
    EXPECT_EQ(out.format, "topograph-model") << model.name;
    EXPECT_THAT(out.table.levels, SizeIs(model.levels)) << model.name;
    EXPECT_THAT(out.table.nodes, SizeIs(model.nodes)) << model.name;
    EXPECT_THAT(sizes_of(out.table, model.levels - 1), SizeIs(model.leaves)) << model.name;
    EXPECT_THAT(out.table.accelerator_levels, SizeIs(model.accelerator_levels)) << model.name;
    EXPECT_THAT(out.warnings, IsEmpty()) << model.name;
  }
  EXPECT_THAT(path_of(shared("topograph/model-medium.yaml").table, "1301"),
              ElementsAre("sw3", "sw22", "sw13"));
  const ImportedNetwork irregular = shared("topograph/model-dual-xclr-irregular.yaml");
  EXPECT_THAT(sizes_of(irregular.table, 2), SizeIs(29));  // 14 and 15 racks with nodes
  EXPECT_THAT(irregular.warnings, Each(HasSubstr("has no nodes below it")));
}

TEST(SharedNetworks, KubernetesObjects) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  const ImportedNetwork hypernodes = shared("volcano/derived-hypernodes-4racks-2spines.yaml");
  EXPECT_THAT(hypernodes.table.levels, ElementsAre("spine", "rack"));
  EXPECT_THAT(hypernodes.table.nodes, IsEmpty());
  EXPECT_THAT(hypernodes.warnings, ElementsAre(HasSubstr("no Node objects")));
  const ImportedNetwork kind = shared("kueue/kind-cluster.yaml");
  EXPECT_THAT(sizes_of(kind.table, 0), ElementsAre(4, 4));
  EXPECT_THAT(sizes_of(kind.table, 1), ElementsAre(2, 2, 2, 2));  // racks' names repeat
  EXPECT_THAT(path_of(kind.table, "kind-control-plane"), ElementsAre("", ""));
  for (const char* name : {"kueue/sample-queues.yaml", "kueue/sample-gpu-queues.yaml"}) {
    EXPECT_EQ(shared(name).format, "kueue");
    EXPECT_THAT(shared(name).table.levels.back(), "kubernetes.io/hostname");
  }
  EXPECT_THAT(shared("koordinator/clusternetworktopology-example.yaml").table.levels,
              ElementsAre("SpineLayer", "BlockLayer"));
}

// The four racks with nodes: their members are those in the file.
TEST(SharedNetworks, HyperNodesSelectLabelledNodes) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  std::string text = *shared_file("network/volcano/derived-hypernodes-4racks-2spines.yaml");
  for (int i = 0; i < 8; ++i) {
    text += "---\nkind: Node\nmetadata: {name: n" + std::to_string(i) +
            ", labels: {type: kwok, topology-rack: rack-" + std::to_string(i / 2) + "}}\n";
  }
  const ImportedNetwork out = imported(text);
  EXPECT_THAT(path_of(out.table, "n5"), ElementsAre("spine-1", "rack-2"));
  EXPECT_THAT(sizes_of(out.table, 0), ElementsAre(4, 4));
}

TEST(SharedNetworks, Others) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  const ImportedNetwork aws = shared("cloud-labels/aws-eks-topology-labels.json");
  EXPECT_THAT(path_of(aws.table, "ip-192-168-51-1.us-west-2.compute.internal"),
              ElementsAre("nn-4444444444example", "nn-7777777777example", "nn-8888888888example"));
  EXPECT_THAT(sizes_of(aws.table, 0), ElementsAre(1, 2));
  const ImportedNetwork dlrover = shared("dlrover/metax-topology_config.txt");
  EXPECT_THAT(sizes_of(dlrover.table, 1), ElementsAre(2, 2, 3, 3));
  const ImportedNetwork tor = shared("mindcluster/tor-node.json");
  EXPECT_EQ(tor.format, "tor");
  EXPECT_THAT(sizes_of(tor.table, 0), ElementsAre(4, 4, 4, 4));
}

TEST(SharedNetworks, WhatIsNoDescriptionIsRefusedWithTheReason) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"volcano/crd-hypernodes.yaml", "CustomResourceDefinition"},
      {"kueue/crd-topologies.yaml", "CustomResourceDefinition"},
      {"kai/crd-topologies.yaml", "CustomResourceDefinition"},
      {"koordinator/crd-clusternetworktopologies.yaml", "CustomResourceDefinition"},
      {"koordinator/proposal-blocks.yaml", "spec.hierarchy"},
      {"volcano/jobs-network-topology.yaml", "\"Job\""},
      {"volcano/scheduler-configmap.yaml", "\"ConfigMap\""},
      {"volcano/discovery-configmap.yaml", "\"ConfigMap\""},
      {"volcano/hypernode-discovery-config-example.yaml", "unknown format"},
      {"volcano/discovery-node-labels.txt", "known formats: "},
      {"kueue/sample-job-required.yaml", "\"Job\""},
      {"kueue/sample-job-preferred.yaml", "\"Job\""},
      {"kueue/sample-job-unconstrained.yaml", "\"Job\""},
      {"kueue/perf-tas-generator.yaml", "unknown format"},
      {"kueue/perf-tas-rangespec.yaml", "unknown format"},
      {"dlrover/helm-configmap-template.yaml", "known formats: "},
      {"dlrover/helm-values.yaml", "unknown format"},
      {"topograph/netq-topologyGraph.json", "unknown format"},
      {"topograph/netq-computeNodes.json", "unknown format"},
      {"hived/design-hivedscheduler.yaml", "unknown format"},
      {"topograph/payload-test-tree.json", "request to topograph"},
      {"topograph/payload-aws-sim-block.json", "request to topograph"},
  };
  for (const auto& [name, words] : files) {
    EXPECT_THAT(shared_error(name), HasSubstr(words)) << name;
  }
}

// Truncated files cause no crash, and every accepted table satisfies the invariants.
TEST(SharedNetworks, CutFilesAreReadOrRefused) {
  if (no_data()) GTEST_SKIP() << "no shared data";
  constexpr std::size_t kCuts = 40;
  for (const char* folder : {"topograph", "volcano", "kueue", "koordinator", "dlrover", "hived",
                             "mindcluster", "cloud-labels", "kai"}) {
    for (const std::string& name : shared_names(std::string("network/") + folder, ".")) {
      const std::string text = *shared_file(std::string("network/") + folder + "/" + name);
      const std::size_t step = std::max<std::size_t>(1, text.size() / kCuts);
      for (std::size_t size = 0; size < text.size(); size += step) {
        const auto out = import_network(std::string_view(text).substr(0, size));
        if (!out) {
          EXPECT_FALSE(out.error().message.empty());
          continue;
        }
        for (const domain::NetworkNode& node : out->table.nodes) {
          ASSERT_EQ(node.path.size(), out->table.levels.size()) << name << " cut at " << size;
        }
      }
    }
  }
}

}  // namespace
}  // namespace chipweave::codec
