#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using domain::NodeTopology;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NodeTopology import_npu_text(std::string_view text) {
  auto t = import_npu_smi(text, {});
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

std::string npu_smi_error(std::string_view text) {
  const auto t = import_npu_smi(text, {});
  return t.ok() ? "(no error)" : t.error().text();
}

// Read manually from each file; one entry per matrix.
struct NpuExpected {
  std::vector<int> indices;
  std::map<LinkKind, int> links;
  std::size_t switch_chips;
  std::vector<int> numa;
  std::map<LinkKind, int> host_paths;
  std::string rule;
};

const std::vector<int> k8 = {0, 1, 2, 3, 4, 5, 6, 7};
const std::vector<int> kHalves = {0, 0, 0, 0, 1, 1, 1, 1};
const std::map<LinkKind, int> kPairsOfNuma = {{LinkKind::node, 4}, {LinkKind::sys, 24}};
const NpuExpected kA2 = {k8,   {{LinkKind::hccs, 28}}, 0, {3, 3, 2, 2, 0, 0, 1, 1}, kPairsOfNuma,
                         "any"};
const NpuExpected kA2Crossed = {
    k8, {{LinkKind::hccs, 28}}, 0, {3, 0, 3, 0, 2, 1, 2, 1}, kPairsOfNuma, "any"};
const NpuExpected kSys8 = {k8, {}, 0, kHalves, {{LinkKind::sys, 28}}, "any"};
const NpuExpected kUbPairs = {
    k8, {{LinkKind::ub, 4}}, 0, kHalves, {{LinkKind::node, 4}, {LinkKind::sys, 24}}, "any"};
const NpuExpected kUbQuads = {k8,
                              {{LinkKind::ub, 12}},
                              0,
                              kHalves,
                              {{LinkKind::node, 12}, {LinkKind::sys, 16}},
                              "ascend-a5-mesh4"};

const std::map<std::string, std::vector<NpuExpected>> kNpuFiles = {
    {"npu_smi_topo_910B3.txt", {kA2}},
    {"npu_smi_topo_910B_fs.txt", {kA2Crossed}},
    {"npu_smi_950_topo_three_layouts.txt", {kSys8, kUbPairs, kUbQuads}},
    {"rt_npu_smi_topo_910B1_header_unindented.txt", {kA2Crossed}},
    {"rt_npu_smi_topo_910B4_pcie_nonContiguousIds.txt",
     {{{1, 3, 5, 7, 8, 9, 10, 11},
       {},
       0,
       {0, 0, 0, 0, 0, 0, 0, 0},
       {{LinkKind::pix, 12}, {LinkKind::phb, 16}},
       "any"}}},
    {"rt_npu_smi_topo_910B_hccs8.txt", {kA2Crossed}},
    {"rt_npu_smi_topo_950_sys8.txt", {kSys8}},
    {"rt_npu_smi_topo_950_ub_pairs.txt", {kUbPairs}},
    {"rt_npu_smi_topo_950_ub_quads.txt", {kUbQuads}},
    {"rt_npu_smi_topo_A3_phyid_4die_excerpt.txt",
     {{{2, 3, 12, 13},
       {{LinkKind::sio, 1}},
       4,
       {-1, -1, -1, -1},
       {{LinkKind::sys, 6}},
       "ascend-a3"}}},
    {"rt_npu_smi_topo_not_supported.txt", {}},
    {"rt_npu_smi_topo_pxb_4npu.txt",
     {{{0, 1, 2, 3}, {}, 0, {3, 2, 1, 0}, {{LinkKind::pxb, 4}, {LinkKind::sys, 2}}, "any"}}},
};

void check(const NodeTopology& t, const NpuExpected& e) {
  EXPECT_EQ(t.vendor(), "ascend");
  EXPECT_EQ(t.indices(t.all()), e.indices);
  std::map<LinkKind, int> links;
  for (const auto& l : t.links()) {
    ++links[l.kind];
    EXPECT_EQ(l.lanes, 1);
  }
  EXPECT_EQ(links, e.links);
  ASSERT_EQ(t.switches().size(), e.switch_chips == 0 ? 0U : 1U);
  for (const auto& sw : t.switches()) EXPECT_EQ(sw.ports.size(), e.switch_chips);
  std::vector<int> numa;
  for (const auto& chip : t.chips()) numa.push_back(chip.numa);
  EXPECT_EQ(numa, e.numa);
  std::map<LinkKind, int> paths;
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) ++paths[t.host_path(a, b)];
  }
  EXPECT_EQ(paths, e.host_paths);
  EXPECT_EQ(to_string(t.rule().kind), e.rule);
}

TEST(NpuSmi, EveryRealFile) {
  std::set<std::string> names = shared_names("ascend", "npu_smi_topo");
  names.merge(shared_names("ascend", "npu_smi_950_topo"));
  if (names.empty()) GTEST_SKIP() << "no shared data";
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    ASSERT_EQ(kNpuFiles.count(name), 1U) << "add the new file to kNpuFiles";
    const std::vector<NpuExpected>& expected = kNpuFiles.at(name);
    const std::string text = shared_file("ascend/" + name).value();
    EXPECT_TRUE(looks_like_npu_smi(text));
    EXPECT_FALSE(looks_like_nvidia_smi(text));
    const auto all = import_npu_smi_all(text, {});
    if (expected.empty()) {
      ASSERT_FALSE(all.ok());
      EXPECT_EQ(all.error().code, Errc::unsupported);
      EXPECT_THAT(all.error().text(), HasSubstr("topology JSON"));
      continue;
    }
    ASSERT_TRUE(all.ok()) << all.error().text();
    ASSERT_EQ(all->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) check((*all)[i].topology, expected[i]);
    const auto first = import_npu_smi(text, {});
    EXPECT_EQ(first->format, "npu-smi");
    EXPECT_EQ(export_topology_json(first->topology), export_topology_json(all->front().topology));
  }
  EXPECT_EQ(names.size(), kNpuFiles.size());
}

std::vector<std::string> fast_links(const NodeTopology& t) {
  std::vector<std::string> out;
  for (const auto& l : t.links()) {
    out.push_back(std::to_string(t.chip(l.a).index.value) + "-" +
                  std::to_string(t.chip(l.b).index.value) + " " + std::string(to_string(l.kind)));
  }
  return out;
}

TEST(NpuSmi, UbQuadsLinkForLink) {
  const auto text = shared_file("ascend/rt_npu_smi_topo_950_ub_quads.txt");
  if (!text) GTEST_SKIP() << "no shared data";
  EXPECT_THAT(fast_links(import_npu_text(*text)),
              ElementsAre("0-1 UB", "0-2 UB", "0-3 UB", "1-2 UB", "1-3 UB", "2-3 UB", "4-5 UB",
                          "4-6 UB", "4-7 UB", "5-6 UB", "5-7 UB", "6-7 UB"));
}

TEST(NpuSmi, PciePathsOfScatteredIds) {
  const auto text = shared_file("ascend/rt_npu_smi_topo_910B4_pcie_nonContiguousIds.txt");
  if (!text) GTEST_SKIP() << "no shared data";
  const NodeTopology t = import_npu_text(*text);
  EXPECT_THAT(fast_links(t), IsEmpty());
  const std::set<int> left = {1, 3, 5, 7};
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      if (a == b) continue;
      const bool same = left.count(t.chip(a).index.value) == left.count(t.chip(b).index.value);
      EXPECT_EQ(t.host_path(a, b), same ? LinkKind::pix : LinkKind::phb);
    }
  }
}

TEST(NpuSmi, A3Excerpt) {
  const auto text = shared_file("ascend/rt_npu_smi_topo_A3_phyid_4die_excerpt.txt");
  if (!text) GTEST_SKIP() << "no shared data";
  const auto imported = import_npu_smi(*text, {});
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  const NodeTopology& t = imported->topology;
  EXPECT_THAT(fast_links(t), ElementsAre("2-3 SIO"));
  ASSERT_EQ(t.switches().size(), 1U);
  EXPECT_EQ(t.indices(t.switches()[0].members()), (std::vector<int>{2, 3, 12, 13}));
  EXPECT_EQ(t.switches()[0].kind, LinkKind::hccs);
  EXPECT_EQ(t.switches()[0].ports[0].lanes, 7);
  EXPECT_EQ(t.switches()[0].gbps_per_lane, 28);
  EXPECT_EQ(t.chip(3).physical_id, 13);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("excerpt"), HasSubstr("12-13")));
}

TEST(NpuSmi, NicColumnsAndUnknownPairs) {
  const auto imported = import_npu_smi(
      "\tNPU0  NPU1  NIC0  CPU Affinity\nNPU0  X  NA  PIX  0-3\nNPU1  NA  X  SYS  4-7\nNIC0  PIX  "
      "SYS  X\n",
      {});
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  EXPECT_EQ(imported->topology.nics()[0].paths[0], LinkKind::pix);
  EXPECT_EQ(imported->topology.host_path(0, 1), LinkKind::sys);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("0-1"), HasSubstr("\"rule\"")));
}

// n NPUs in groups of `size`, HCCS inside, SYS across; `lost` shows SYS instead.
std::string hccs_groups(const std::vector<int>& npus, int size, std::pair<int, int> lost) {
  std::string text;
  for (const int npu : npus) text += "\tNPU" + std::to_string(npu);
  for (const int a : npus) {
    text += "\nNPU" + std::to_string(a);
    for (const int b : npus) {
      const bool up = a / size == b / size && std::pair(std::min(a, b), std::max(a, b)) != lost;
      text += a == b ? "\tX" : (up ? "\tHCCS" : "\tSYS");
    }
  }
  return text + "\n";
}

TEST(NpuSmi, TheRuleOutlivesALostLinkOrChip) {
  const std::pair none(-1, -1);
  const std::vector<int> missing = {0, 1, 2, 4, 5, 6, 7};
  std::vector<int> sixteen(16);
  std::iota(sixteen.begin(), sixteen.end(), 0);
  const auto check = [](const std::string& text, const std::string& rule, bool warned) {
    const auto t = import_npu_smi(text, {});
    ASSERT_TRUE(t.ok()) << t.error().text();
    EXPECT_EQ(to_string(t->topology.rule().kind), rule) << text;
    EXPECT_EQ(t->warnings.size(), warned ? 1U : 0U) << text;
    EXPECT_THAT(t->warnings, Each(HasSubstr("\"rule\"")));
  };
  check(hccs_groups(k8, 4, none), "ascend-910a-module", false);
  check(hccs_groups(k8, 4, {1, 2}), "ascend-910a-module", true);
  check(hccs_groups(missing, 4, none), "ascend-910a-module", true);
  check(hccs_groups(sixteen, 8, none), "ascend-910b-16", false);
  check(hccs_groups(sixteen, 8, {9, 15}), "ascend-910b-16", true);
  check(hccs_groups(k8, 8, none), "any", false);
  check(hccs_groups(k8, 8, {0, 7}), "any", true);
}

TEST(NpuSmi, TwoSwitchesStayTwo) {
  const NodeTopology t = import_npu_text(
      "Phy-ID0 Phy-ID1 Phy-ID2 Phy-ID3\nPhy-ID0 X HCCS_SW SYS SYS\nPhy-ID1 HCCS_SW X SYS SYS\n"
      "Phy-ID2 SYS SYS X HCCS_SW\nPhy-ID3 SYS SYS HCCS_SW X\n");
  ASSERT_EQ(t.switches().size(), 2U);
  EXPECT_EQ(t.switches()[0].members(), (domain::ChipSet{0, 1}));
  EXPECT_EQ(t.switches()[1].members(), (domain::ChipSet{2, 3}));
}

TEST(NpuSmi, BadInputsAreNamedByLine) {
  EXPECT_THAT(npu_smi_error("NPU0 NPU1\nNPU0 X HCCS\nNPU1 SYS X\n"),
              AllOf(HasSubstr("line 2 has HCCS for NPU0, NPU1"), HasSubstr("line 3")));
  EXPECT_THAT(npu_smi_error("NPU0 NPU1\nNPU0 X HCCS\n"), HasSubstr("no row for NPU1"));
  EXPECT_THAT(npu_smi_error("Phy-ID0 Phy-ID1\n"), HasSubstr("no row for Phy-ID0"));
  EXPECT_THAT(npu_smi_error("NPU0 NPU1\nNPU0 X NVL\n"), HasSubstr("expected X, HCCS"));
  EXPECT_THAT(npu_smi_error("NPU0 NIC0\nNPU0 X HCCS\nNIC0 HCCS X\n"),
              HasSubstr("expected a host path, got HCCS"));
  EXPECT_THAT(npu_smi_error("NPU0 NPU0\n"), HasSubstr("duplicate column"));
  EXPECT_THAT(npu_smi_error("NPU1 NPU01\nNPU1 X SYS\nNPU01 SYS X\n"),
              HasSubstr("two chips have index 1"));
  EXPECT_THAT(npu_smi_error("hello"), HasSubstr("no matrix"));
  std::string many = "NPU0 CPU Affinity\nNPU0 X 0-3\n\n";
  for (int i = 0; i < 5; ++i) many += many;
  EXPECT_THAT(npu_smi_error(many), HasSubstr("more than 16 matrices"));
}

}  // namespace
}  // namespace chipweave::codec
