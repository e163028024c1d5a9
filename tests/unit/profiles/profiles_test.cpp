#include "common/profiles/profiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/codec/topology/import.hpp"

namespace chipweave::profiles {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

// The expected machine, counted manually from its description. Lanes: of fast links and switch
// ports.
struct Expected {
  std::string name;
  std::string vendor;
  int chips;
  std::size_t links;
  int link_lanes;
  std::size_t switches;
  int lanes_per_chip;
  std::size_t nics;
  std::string rule;
};

const std::vector<Expected> kExpected = {
    {"ascend-310-card-4", "ascend", 64, 0, 0, 0, 0, 0, "ascend-310-card"},
    {"ascend-310-chip-4", "ascend", 64, 0, 0, 0, 0, 0, "ascend-310-chip"},
    {"ascend-310p-8", "ascend", 8, 0, 0, 0, 0, 0, "ascend-310p-chip"},
    {"ascend-910a-8", "ascend", 8, 12, 12, 0, 0, 0, "ascend-910a-module"},
    {"ascend-910a-half-4", "ascend", 4, 6, 6, 0, 0, 0, "ascend-910a-half"},
    {"ascend-910b-16", "ascend", 16, 56, 56, 0, 0, 0, "ascend-910b-16"},
    {"ascend-910b-8", "ascend", 8, 28, 28, 0, 0, 0, "any"},
    {"ascend-a3-16", "ascend", 16, 8, 8, 1, 7, 0, "ascend-a3"},
    {"ascend-a3-8", "ascend", 8, 4, 4, 1, 7, 0, "ascend-a3"},
    {"ascend-a5-16", "ascend", 16, 24, 24, 0, 0, 0, "ascend-a5-mesh4"},
    {"ascend-a5-8", "ascend", 8, 12, 12, 0, 0, 0, "ascend-a5-mesh4"},
    {"dgx1-p100-8", "nvidia", 8, 16, 16, 0, 0, 4, "any"},
    {"dgx2-v100-16", "nvidia", 16, 0, 0, 1, 6, 8, "any"},
    {"hgx-a100-4", "nvidia", 4, 6, 24, 0, 0, 4, "any"},
    {"hgx-a100-8", "nvidia", 8, 0, 0, 1, 12, 8, "any"},
    {"hgx-b200-8", "nvidia", 8, 0, 0, 1, 18, 8, "any"},
    {"hgx-h100-8", "nvidia", 8, 0, 0, 1, 18, 8, "any"},
    {"hgx-h200-8", "nvidia", 8, 0, 0, 1, 18, 8, "any"},
    {"hgx-v100-8", "nvidia", 8, 16, 24, 0, 0, 4, "any"},
    {"metax-c550-16", "metax", 16, 56, 56, 0, 0, 0, "any"},
    {"metax-c550-8", "metax", 8, 28, 28, 0, 0, 4, "any"},
    {"mi250x-8", "amd", 8, 12, 26, 0, 0, 4, "any"},
    {"mi300x-8", "amd", 8, 28, 28, 0, 0, 8, "any"},
    {"pcie-8", "nvidia", 8, 0, 0, 0, 0, 0, "any"},
    {"pcie-nvlink-bridge-8", "nvidia", 8, 4, 48, 0, 0, 0, "any"},
};

NodeTopology import_profile(const std::string& name) {
  const Profile* profile = find(name);
  if (profile == nullptr) throw std::runtime_error("no profile " + name);
  auto imported = codec::import_topology_json(profile->json, {});
  if (!imported) throw std::runtime_error(name + ": " + imported.error().text());
  return std::move(imported->topology);
}

TEST(Profiles, NamesAreThoseOfTheContract) {
  std::vector<std::string> names;
  for (const Profile& p : all()) names.emplace_back(p.name);
  std::vector<std::string> wanted;
  for (const Expected& e : kExpected) wanted.push_back(e.name);
  EXPECT_EQ(names, wanted);
  EXPECT_EQ(find("hgx-v100"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

class EveryProfile : public ::testing::TestWithParam<Expected> {};

TEST_P(EveryProfile, HasTheWiringOfItsMachine) {
  const Expected& e = GetParam();
  const NodeTopology t = import_profile(e.name);
  EXPECT_EQ(t.vendor(), e.vendor);
  EXPECT_EQ(t.chip_count(), e.chips);
  EXPECT_EQ(t.links().size(), e.links);
  int lanes = 0;
  for (const auto& l : t.links()) lanes += l.lanes;
  EXPECT_EQ(lanes, e.link_lanes);
  ASSERT_EQ(t.switches().size(), e.switches);
  for (const auto& sw : t.switches()) {
    EXPECT_EQ(sw.members(), t.all());
    for (const auto& port : sw.ports) EXPECT_EQ(port.lanes, e.lanes_per_chip);
  }
  EXPECT_EQ(t.nics().size(), e.nics);
  EXPECT_EQ(to_string(t.rule().kind), e.rule);
  EXPECT_FALSE(t.model().empty());
}

TEST_P(EveryProfile, ReadsBackWhatItExports) {
  const NodeTopology t = import_profile(GetParam().name);
  const std::string text = codec::export_topology_json(t);
  const auto again = codec::import_topology_json(text, {});
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(codec::export_topology_json(again->topology), text);
  EXPECT_EQ(again->topology.rule(), t.rule());
  EXPECT_EQ(again->topology.model(), t.model());
  for (int a = 0; a < t.chip_count(); ++a) {
    EXPECT_EQ(again->topology.chip(a).numa, t.chip(a).numa);
    for (int b = 0; b < t.chip_count(); ++b) {
      EXPECT_EQ(again->topology.host_path(a, b), t.host_path(a, b));
      const auto* want = t.link(a, b);
      const auto* got = again->topology.link(a, b);
      ASSERT_EQ(got == nullptr, want == nullptr);
      if (want != nullptr) {
        EXPECT_EQ(got->gbps(), want->gbps());
      }
    }
  }
}

TEST_P(EveryProfile, NamesItsSource) {
  EXPECT_NE(find(GetParam().name)->json.find("\"source\""), std::string_view::npos);
}

std::string test_name(const ::testing::TestParamInfo<Expected>& info) {
  std::string out = info.param.name;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, EveryProfile, ::testing::ValuesIn(kExpected), test_name);

TEST(Profiles, Dgx1CubeMeshUsesAllSixLanesOfEveryChip) {
  const NodeTopology t = import_profile("hgx-v100-8");
  for (int c = 0; c < 8; ++c) {
    int lanes = 0;
    for (const auto& l : t.links()) lanes += l.a == c || l.b == c ? l.lanes : 0;
    EXPECT_EQ(lanes, 6) << "chip " << c;
  }
  EXPECT_EQ(t.link(0, 3)->gbps(), 40);
  EXPECT_EQ(t.link(0, 5), nullptr);
  EXPECT_EQ(t.host_path(0, 1), LinkKind::pix);
  EXPECT_EQ(t.host_path(0, 3), LinkKind::phb);
  EXPECT_EQ(t.host_path(0, 4), LinkKind::sys);
  EXPECT_EQ(t.nics()[1].paths[2], LinkKind::pix);
  EXPECT_EQ(t.nics()[1].paths[0], LinkKind::phb);
  EXPECT_EQ(t.nics()[1].paths[4], LinkKind::sys);
}

TEST(Profiles, A3DiesShareAModuleAndASwitch) {
  const NodeTopology t = import_profile("ascend-a3-16");
  for (const auto& l : t.links()) {
    EXPECT_EQ(l.kind, LinkKind::sio);
    EXPECT_EQ(l.b, l.a + 1);
    EXPECT_EQ(l.a % 2, 0);
  }
  EXPECT_EQ(t.switches()[0].kind, LinkKind::hccs);
  EXPECT_EQ(t.switches()[0].gbps_per_lane, 28);
}

TEST(Profiles, CardsOf310AreBoards) {
  const NodeTopology t = import_profile("ascend-310-card-4");
  EXPECT_EQ(t.host_path(4, 7), LinkKind::board);
  EXPECT_EQ(t.host_path(3, 4), LinkKind::node);
  EXPECT_EQ(t.host_path(31, 32), LinkKind::sys);
  EXPECT_EQ(t.rule().group_size, 4);
}

}  // namespace
}  // namespace chipweave::profiles
