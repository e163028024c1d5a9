#include "common/codec/network/table/domain_tree.hpp"
#include "tests/unit/codec_network/network.hpp"

namespace chipweave::codec {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two spines with two leaves of two nodes; the leaf names repeat, as racks' do.
domain::NetworkTable regular() {
  domain::NetworkTable table;
  table.levels = {"spine", "leaf"};
  for (int i = 0; i < 8; ++i) {
    table.nodes.push_back({"n" + std::to_string(i),
                           {"s" + std::to_string(i / 4), "l" + std::to_string(i / 2 % 2)},
                           {},
                           {}});
  }
  return table;
}

// A branch that is less deep, a node on an inner switch, a root of its own.
domain::NetworkTable uneven() {
  domain::NetworkTable table;
  table.levels = {"core", "spine", "leaf"};
  table.nodes = {{"n01", {"c", "a", "a1"}, {}, {}},
                 {"n02", {"c", "a", "a1"}, {}, {}},
                 {"x", {"c", "b", "b"}, {}, {}},
                 {"y", {"c", "c", "c"}, {}, {}},
                 {"z", {"i", "i", "i"}, {}, {}}};
  return table;
}

std::vector<std::string> warnings_of(const domain::NetworkTable& table, std::string_view format) {
  const auto out = export_network(table, format);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? out->warnings : std::vector<std::string>{};
}

domain::NetworkTable again(const domain::NetworkTable& table, std::string_view format) {
  return imported(exported(table, format)).table;
}

TEST(NetworkExport, FormatsOfTreesBringUnevenTreesBack) {
  for (const char* format : {"slurm", "slurm-yaml", "hypernode", "topograph", "csv", "json"}) {
    const domain::NetworkTable back = again(uneven(), format);
    EXPECT_EQ(back.levels, uneven().levels) << format;
    EXPECT_EQ(places(back), places(uneven())) << format;
    EXPECT_THAT(warnings_of(uneven(), format), IsEmpty()) << format;
  }
}

TEST(NetworkExport, TopographHasOneNodeALine) {
  domain::NetworkTable table;
  table.levels = {"leaf"};
  table.accelerator_levels = {"pod"};
  table.nodes = {{"a", {"l1"}, {}, {"p"}}, {"b", {"l1"}, {}, {}}};
  EXPECT_EQ(
      exported(table, "topograph"),
      "{\"instances\":[\n"
      R"({"id":"a","network_layers":["l1"],"labels":{"accelerator.topograph.run/domain":"p"}},)"
      "\n"
      R"({"id":"b","network_layers":["l1"]})"
      "\n]}\n");
  table.nodes.clear();
  EXPECT_EQ(exported(table, "topograph"), "{\"instances\":[\n]}\n");
}

TEST(NetworkExport, PathsThatRepeatNamesComeBackWhereTheFormatHasPaths) {
  for (const char* format : {"csv", "json"}) {
    EXPECT_EQ(places(again(regular(), format)), places(regular())) << format;
  }
  domain::NetworkTable labelled = regular();
  labelled.levels = {"ex/spine", "ex/leaf"};
  const domain::NetworkTable back = again(labelled, "kueue");
  EXPECT_EQ(back.levels, labelled.levels);
  EXPECT_EQ(places(back), places(labelled));
}

TEST(NetworkExport, ElsewhereDomainsOfOneNameAreToldApart) {
  for (const char* format : {"slurm", "slurm-yaml", "hypernode", "topograph", "dlrover"}) {
    const domain::NetworkTable back = again(regular(), format);
    EXPECT_THAT(path_of(back, "n0"), ElementsAre("s0", "s0.l0")) << format;
    EXPECT_THAT(path_of(back, "n7"), ElementsAre("s1", "s1.l1")) << format;
  }
  EXPECT_THAT(sizes_of(again(regular(), "tor"), 0), ElementsAre(2, 2, 2, 2));
}

TEST(NetworkExport, BlocksKeepTheGroupsThatArePowersOfTwo) {
  for (const char* format : {"slurm-block", "slurm-yaml-block"}) {
    const domain::NetworkTable back = again(regular(), format);
    EXPECT_THAT(back.levels, ElementsAre("block-4", "block")) << format;
    EXPECT_THAT(sizes_of(back, 0), ElementsAre(4, 4));
    EXPECT_EQ(path_of(back, "n0").front(), path_of(back, "n3").front());
    EXPECT_NE(path_of(back, "n3").front(), path_of(back, "n4").front());
  }
  domain::NetworkTable odd = regular();
  for (int i = 8; i < 10; ++i) {
    odd.nodes.push_back({"n" + std::to_string(i), {"s0", "l2"}, {}, {}});
  }
  EXPECT_THAT(warnings_of(odd, "slurm-block"), Contains(HasSubstr("level \"spine\" is left out")));
  EXPECT_THAT(again(odd, "slurm-block").levels, ElementsAre("block"));
}

TEST(NetworkExport, WhatAFormatCannotSayIsWarnedOf) {
  domain::NetworkTable table = regular();
  table.accelerator_levels = {"pod"};
  table.nodes[0].accelerator = {"p"};
  table.nodes[0].rails = {"r0"};
  table.nodes[1].path = {"", ""};
  table.nodes[2].path = {"", "l0"};
  for (const char* format : {"slurm", "slurm-yaml", "hypernode", "dlrover", "tor"}) {
    const std::vector<std::string> warnings = warnings_of(table, format);
    EXPECT_THAT(warnings, Contains(HasSubstr("the rails of 1 nodes"))) << format;
    EXPECT_THAT(warnings, Contains(HasSubstr("own interconnect is left out"))) << format;
    EXPECT_THAT(warnings, Contains(HasSubstr("2 nodes"))) << format;
    EXPECT_THAT(warnings, Contains(HasSubstr("an unknown level in their path"))) << format;
  }
  EXPECT_THAT(warnings_of(table, "topograph"), Contains(HasSubstr("rails")));
  EXPECT_THAT(warnings_of(table, "topograph"), Not(Contains(HasSubstr("interconnect"))));
  EXPECT_THAT(again(table, "topograph").nodes[0].accelerator, ElementsAre("p"));
  EXPECT_THAT(warnings_of(table, "kueue"), Contains(HasSubstr("written as label")));
  EXPECT_THAT(again(table, "kueue").nodes[0].accelerator, ElementsAre("p"));
  EXPECT_THAT(warnings_of(table, "csv"), IsEmpty());
  EXPECT_THAT(again(table, "csv").nodes[0].rails, ElementsAre("r0"));
  EXPECT_THAT(warnings_of(uneven(), "dlrover"), Contains(HasSubstr("level \"core\" is left out")));
  domain::NetworkTable single = regular();
  single.levels = {"leaf"};
  for (domain::NetworkNode& node : single.nodes) node.path.erase(node.path.begin());
  EXPECT_THAT(warnings_of(single, "dlrover"), ElementsAre(HasSubstr("as their own spines")));
  domain::NetworkTable named = regular();
  named.levels = {"row", "rack"};
  EXPECT_THAT(warnings_of(named, "slurm"), ElementsAre(HasSubstr("names of the levels")));
  EXPECT_THAT(again(named, "hypernode").levels, ElementsAre("row", "rack"));
}

TEST(NetworkExport, NamesThatAFormatCannotHoldAreChangedOrRefused) {
  domain::NetworkTable table = regular();
  table.nodes[0].path = {"Spine 1", "l0"};
  EXPECT_THAT(warnings_of(table, "hypernode"), Contains(HasSubstr("are changed")));
  EXPECT_THAT(path_of(again(table, "hypernode"), "n0").front(), "spine-1");
  const auto slurm = export_network(table, "slurm");
  ASSERT_FALSE(slurm.ok());
  EXPECT_THAT(slurm.error().text(), HasSubstr("\"Spine 1\" is not allowed"));
  ASSERT_FALSE(export_network(table, "dlrover").ok());
  const auto unknown = export_network(table, "slrum");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().text(), HasSubstr("--to"));
  table.levels = {"rails", "leaf"};
  ASSERT_FALSE(export_network(table, "csv").ok());
}

TEST(NetworkExport, HostListsAreShortAndKeepTheOrder) {
  domain::NetworkTable table;
  table.levels = {"leaf"};
  for (const char* name : {"n08", "n09", "n10", "n3", "n2", "m", "n099", "n100"}) {
    table.nodes.push_back({name, {"l"}, {}, {}});
  }
  EXPECT_EQ(exported(table, "slurm"), "SwitchName=l Nodes=n[08-10,3,2],m,n[099-100]\n");
  const domain::NetworkTable back = again(table, "slurm");
  ASSERT_EQ(back.nodes.size(), table.nodes.size());
  for (std::size_t i = 0; i < back.nodes.size(); ++i) {
    EXPECT_EQ(back.nodes[i].name, table.nodes[i].name);
  }
}

TEST(NetworkExport, EmptyTablesDoNotCrash) {
  for (const std::string_view format : network_export_formats()) {
    for (const domain::NetworkTable& table :
         {domain::NetworkTable{}, domain::NetworkTable{{"a"}, {}, {}},
          domain::NetworkTable{{"a"}, {}, {{"n", {""}, {}, {}}}}}) {
      const auto out = export_network(table, format);
      EXPECT_TRUE(out.ok() ? !out->text.empty() || format == "slurm" || format == "hypernode" ||
                                 format == "dlrover"
                           : !out.error().message.empty())
          << format;
    }
  }
}

TEST(DomainTree, NamesAreUnique) {
  domain::NetworkTable table;
  table.levels = {"a", "b"};
  table.nodes = {{"1", {"x", "y"}, {}, {}},
                 {"2", {"y", "y"}, {}, {}},
                 {"3", {"z", "y"}, {}, {}},
                 {"4", {"x.y", ""}, {}, {}}};
  const DomainTree tree(table);
  std::map<std::string, int> uses;
  for (const DomainTree::Domain& domain : tree.domains()) ++uses[domain.name];
  for (const auto& [name, count] : uses) EXPECT_EQ(count, 1) << name;
  EXPECT_EQ(tree.domains().size(), 6U);  // x, x/y, y (both levels), z, z/y, x.y
}

}  // namespace
}  // namespace chipweave::codec
