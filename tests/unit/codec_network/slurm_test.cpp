#include "tests/unit/codec_network/network.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SlurmConf, TreeKeepsZerosCommentsAndAnyCaseOfKeys) {
  const ImportedNetwork out = imported(
      "# the fabric\n"
      "switchname=root SWITCHES=s[0-1] LinkSpeed=100\n\n"
      "SwitchName=s0 Nodes=n[01-03,08],login  # comment\n"
      "SwitchName=s1 \\\n  Nodes=\"m[9-10]\"\n");
  EXPECT_EQ(out.format, "slurm");
  EXPECT_THAT(out.table.levels, ElementsAre("spine", "leaf"));
  ASSERT_EQ(out.table.nodes.size(), 7U);
  EXPECT_EQ(out.table.nodes[0].name, "n01");
  EXPECT_EQ(out.table.nodes[3].name, "n08");
  EXPECT_THAT(path_of(out.table, "login"), ElementsAre("root", "s0"));
  EXPECT_THAT(path_of(out.table, "m9"), ElementsAre("root", "s1"));
  EXPECT_TRUE(out.warnings.empty());
}

TEST(SlurmConf, ShorterBranchesRepeatTheirLastSwitchAndRootsMayBeMany) {
  const ImportedNetwork out = imported(
      "SwitchName=core Switches=a,b Nodes=x\nSwitchName=a Switches=a1\nSwitchName=a1 Nodes=n1\n"
      "SwitchName=b Nodes=n2\nSwitchName=island Nodes=n3\n");
  EXPECT_THAT(out.table.levels, ElementsAre("core", "spine", "leaf"));
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("core", "a", "a1"));
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("core", "b", "b"));
  EXPECT_THAT(path_of(out.table, "x"), ElementsAre("core", "core", "core"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("island", "island", "island"));
}

TEST(SlurmConf, BlocksBecomeLevelsBySize) {
  const ImportedNetwork out = imported(
      "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\n"
      "BlockSizes=2,4\n");
  EXPECT_THAT(out.table.levels, ElementsAre("block-4", "block"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("b1..b2", "b2"));
  EXPECT_THAT(path_of(out.table, "n6"), ElementsAre("b3", "b3"));
  EXPECT_THAT(imported("BlockName=b1 Nodes=n[1-3]\nBlockSizes=2\n").warnings,
              ElementsAre(HasSubstr("3 nodes, more than the block size 2")));
}

TEST(SlurmConf, ErrorsNameTheLineAndWhatToDo) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "is below itself"},
      {"SwitchName=a Switches=c\nSwitchName=b Switches=c\nSwitchName=c Nodes=n\n",
       "line 2: switch \"c\" has two parents, \"a\" and \"b\""},
      {"SwitchName=a Nodes=n\nSwitchName=b Nodes=n\n",
       "line 2: duplicate node \"n\", first at line 1"},
      {"SwitchName=a Nodes=n\nSwitchName=a Nodes=m\n",
       "line 2: duplicate switch \"a\", first at line 1"},
      {"SwitchName=a Switches=b\n", "line 1: switch \"b\" is not declared"},
      {"SwitchName=a Nods=n\n", "unknown key \"Nods\"; did you mean \"Nodes\"?"},
      {"SwitchName=a Nodes=n[1-\n", "missing ]"},
      {"SwitchName=a Nodes=n1]\n", "] without ["},
      {"SwitchName=a Nodes=n[3-1]\n", "range \"3-1\" is reversed"},
      {"SwitchName=a Nodes=n[x]\n", "expected a number or a range"},
      {"SwitchName=a Nodes=a,,b\n", "empty name between commas"},
      {"SwitchName=a Nodes=n[1-999999999]\n", "expands to more than 100000 names"},
      {"SwitchName=a Nodes=n[1-400][1-400]\n", "expands to more than 100000 names"},
      {"SwitchName=a Nodes=n[1-20001]\n", "more than 20000 nodes"},
      {"SwitchName=a Nodes=n\nInclude other.conf\n", "line 2: Include is not supported"},
      {"SwitchName=a Nodes=n \\", "line 1: the line ends in"},
      {"RingName=r Nodes=n[1-4]\n", "a ring has no hierarchy"},
      {"SwitchName=a Nodes=n\nBlockName=b Nodes=m\n", "SwitchName= and BlockName="},
      {"BlockName=a Nodes=n\nBlockSizes=2,6\n",
       "line 2: block size 6 must be the smallest, 2, times a power of two"},
      {"BlockName=a Nodes=n\nBlockSizes=0\n", "block size 0 must be from 1"},
      {"BlockName=a Nodes=n\nBlockName=a Nodes=m\n", "line 2: duplicate block \"a\""},
      {"BlockName=a Nodes=n\nBlockName=b Nodes=n\n", "duplicate node \"n\""},
      {"SwitchName=a SwitchName=b\n", "duplicate key SwitchName"},
      {"SwitchName=a Nodes=\"n\n", "missing closing quote"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(network_error_of(text), HasSubstr(words));
}

TEST(SlurmConf, DepthIsLimited) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    text += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i + 1) + "\n";
  }
  EXPECT_THAT(network_error_of(text + "SwitchName=s16 Nodes=n\n"),
              HasSubstr("17 levels deep; must be at most 16"));
}

TEST(SlurmConf, ManyShortListsStandForNoMoreThanOne) {
  std::string blocks;
  std::string yaml = "- topology: t\n  block:\n    blocks:\n";
  std::string model = "blocks:\n";
  for (int i = 0; i < 3; ++i) {
    const std::string name = "b" + std::to_string(i);
    blocks += "BlockName=" + name + " Nodes=" + name + "[1-9999]\n";
    yaml += "    - {block: " + name + ", nodes: '" + name + "[1-9999]'}\n";
    model += "- {switch: " + name + ", nodes: ['" + name + "[1-9999]']}\n";
  }
  EXPECT_THAT(network_error_of(blocks), HasSubstr("line 3: more than 20000 nodes"));
  EXPECT_THAT(network_error_of(yaml), HasSubstr("blocks[2]: more than 20000 nodes"));
  EXPECT_THAT(network_error_of(model), HasSubstr("blocks[2]: more than 20000 nodes"));
}

TEST(SlurmConf, SwitchesWithoutNodesAreWarnedOf) {
  EXPECT_THAT(imported("SwitchName=a Nodes=n\nSwitchName=b\n").warnings,
              ElementsAre(HasSubstr("\"b\" has no nodes")));
}

TEST(SlurmYaml, TreeBlockAndTheDefault) {
  const ImportedNetwork out = imported(
      "- topology: one\n  flat: true\n"
      "- topology: two\n  cluster_default: true\n  tree:\n    switches:\n"
      "      - switch: root\n        children: s[0-1]\n"
      "      - switch: s0\n        nodes: n[01-02]\n"
      "      - switch: s1\n        nodes: n[03-04]\n");
  EXPECT_EQ(out.format, "slurm-yaml");
  EXPECT_THAT(path_of(out.table, "n03"), ElementsAre("root", "s1"));
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("2 topologies; \"two\" is used")));
  const ImportedNetwork blocks = imported(
      "- topology: b\n  block:\n    block_sizes: [2, 4]\n    blocks:\n"
      "      - block: b1\n        nodes: n[1-2]\n      - block: b2\n        nodes: n[3-4]\n");
  EXPECT_THAT(path_of(blocks.table, "n4"), ElementsAre("b1..b2", "b2"));
}

TEST(SlurmYaml, FlatIsATableWithoutLevelsAndATorusIsRefused) {
  const ImportedNetwork flat = imported("- topology: f\n  flat: true\n");
  EXPECT_TRUE(flat.table.levels.empty());
  EXPECT_THAT(flat.warnings, ElementsAre(HasSubstr("flat")));
  EXPECT_THAT(network_error_of("- topology: t\n  torus3d:\n    x: 4\n"),
              AllOf(HasSubstr("\"t\""), HasSubstr("a ring or a torus")));
  EXPECT_THAT(network_error_of("- topology: t\n  tree:\n    switches:\n    - nodes: n1\n"),
              HasSubstr("switches[0]: key \"switch\""));
}

}  // namespace
}  // namespace chipweave::codec
