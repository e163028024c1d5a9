// `scontrol show topology`, in the layout that users published.
#include "tests/unit/codec_network/network.hpp"

namespace chipweave::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Scontrol, SwitchesListAllNodesBelowThem) {
  const ImportedNetwork out = imported(
      "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[01-02]\n"
      "SwitchName=root Level=2 LinkSpeed=1 Nodes=n[01-05] Switches=p[0-1]\n"
      "SwitchName=p0 Level=1 LinkSpeed=1 Nodes=n[01-04] Switches=s[0-1]\n"
      "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[03-04]\n"
      "SwitchName=p1 Level=1 LinkSpeed=1 Nodes=n05 Switches=s2\n"
      "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n05\n");
  EXPECT_EQ(out.format, "scontrol");
  EXPECT_THAT(out.table.levels, ElementsAre("core", "spine", "leaf"));
  ASSERT_EQ(out.table.nodes.size(), 5U);
  EXPECT_THAT(path_of(out.table, "n01"), ElementsAre("root", "p0", "s0"));
  EXPECT_THAT(path_of(out.table, "n04"), ElementsAre("root", "p0", "s1"));
  EXPECT_THAT(path_of(out.table, "n05"), ElementsAre("root", "p1", "s2"));
  EXPECT_THAT(out.warnings, IsEmpty());
}

// `scontrol show topology NODE` and nodes on a spine.
TEST(Scontrol, PartsOfATreeAreATree) {
  const ImportedNetwork out = imported(
      "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n1\n"
      "SwitchName=root Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[0-1]\n");
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("root", "s0"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("root", "root"));
}

TEST(Scontrol, BlocksHaveTheSizesOfAggregatedOnes) {
  const ImportedNetwork out = imported(
      "BlockName=b0 BlockIndex=0 Nodes=10.0.0.1,10.0.0.2 BlockSize=2\n"
      "BlockName=b1 BlockIndex=1 Nodes=10.0.0.3,10.0.0.4 BlockSize=2\n"
      "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4 "
      "BlockSize=4\n");
  EXPECT_EQ(out.format, "scontrol");
  EXPECT_THAT(out.table.levels, ElementsAre("block-4", "block"));
  EXPECT_THAT(path_of(out.table, "10.0.0.3"), ElementsAre("b0..b1", "b1"));
}

TEST(Scontrol, BlocksOfDifferentSizesAreOneLevel) {
  const ImportedNetwork out = imported(
      "BlockName=b0 BlockIndex=0 Nodes=n[1-3] BlockSize=3\n"
      "BlockName=b1 BlockIndex=1 Nodes=n[4-5] BlockSize=2\n"
      "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[1-5] BlockSize=5\n");
  EXPECT_THAT(out.table.levels, ElementsAre("block"));
  EXPECT_THAT(path_of(out.table, "n4"), ElementsAre("b1"));
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("aggregated blocks are left out")));
}

TEST(Scontrol, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SwitchName=a Level=0 Nodes=n\nslurm_load_topo error\n",
       "line 2: expected SwitchName=, BlockName= or AggregatedBlock=, got \"slurm_load_topo\""},
      {"SwitchName=a Level=x Nodes=n\n", "line 1: level must be from 0 to 1000, got \"x\""},
      {"SwitchName=a Level=0 Nodes=n[1\n", "line 1: host list \"n[1\": missing ]"},
      {"SwitchName=a Level=0 Nodes=n\nSwitchName=b Level=0 Nodes=n\n",
       "line 2: duplicate node \"n\", first at line 1"},
      {"SwitchName=a Level=1 Switches=b\nSwitchName=b Level=0 Switches=a Nodes=n\n",
       "is below itself"},
      {"SwitchName=a Level=0 Nodes=n\nBlockName=b BlockIndex=0 Nodes=m BlockSize=1\n",
       "has both switches and blocks"},
      {"BlockName=b BlockIndex=0 Nodes=m\n", "line 1: blocksize must be from 0 to"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(network_error_of(text), HasSubstr(says)) << text;
  }
}

TEST(Scontrol, RepeatedNamesAreBounded) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text +=
        "SwitchName=s" + std::to_string(i) + " Level=" + std::to_string(i) + " Nodes=n[1-20000]\n";
  }
  EXPECT_THAT(network_error_of(text), HasSubstr("more than 320000 names of nodes"));
}

}  // namespace
}  // namespace chipweave::codec
