// Detection of every dialect, and reading and writing without loss.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/codec/ranktable/rank_table.hpp"
#include "tests/unit/ranktable/shared_tables.hpp"

namespace chipweave::codec::ranktable {
namespace {

namespace fs = std::filesystem;

// A file's dialect, "none", or "no JSON".
std::string dialect_of(const std::string& text) {
  auto parsed = JsonTree::parse(text);
  if (std::holds_alternative<JsonSyntaxError>(parsed)) return "no JSON";
  const auto& tree = std::get<JsonTree>(parsed);
  const ReadTable read = read_table(tree, tree.root());
  return read.dialect ? std::string(to_string(*read.dialect)) : "none";
}

TEST(Dialects, OfEveryFileOfTheSharedData) {
  CHIPWEAVE_NEEDS_TABLES(folder);
  const std::map<std::string, std::string> by_prefix = {
      {"golden", ""},
      {"group_list_910_2s2p_hccl_docs", "group-list"},
      {"lab_template", "group-list"},
      {"mindie_elastic", "none"},
      {"mindie_global", "mindie-global"},
      {"modelarts_global", "modelarts-global"},
      {"modelarts_local", "modelarts-local"},
      {"tor_node", "none"},
      {"v10_2s16p_container_ip", "mindie-llm"},
      {"v10_", "hccl-1.0"},
      {"v11_", "hccl-1.1"},
      {"v12_", "hccl-1.2"},
      {"v20_1d_16p_mesh_topo_topo", "none"},
      {"v20_1d_2p_mesh_clos_topo_topo", "none"},
      {"v20_2d_2x2p_mesh_topo_topo", "none"},
      {"v20_topo", "none"},
      {"v20_", "hccl-2.0"},
      {"vllm_", "vllm-ascend"},
  };
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name.find(".json") == name.npos) continue;
    std::string expected = "?";
    std::size_t longest = 0;
    for (const auto& [prefix, dialect] : by_prefix) {
      if (name.starts_with(prefix) && prefix.size() >= longest) {
        longest = prefix.size();
        expected = dialect;
      }
    }
    if (name.ends_with(".jsonc")) expected = "no JSON";
    EXPECT_EQ(dialect_of(test::text_of_file(entry.path())), expected) << name;
    ++seen;
  }
  EXPECT_GE(seen, 35);
}

TEST(RoundTrip, OfEveryTableOfTheSharedDataLosesNothing) {
  CHIPWEAVE_NEEDS_TABLES(folder);
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = test::text_of_file(entry.path());
    if (dialect_of(text) == "none") continue;
    const auto table = parse_table(text);
    ASSERT_TRUE(table.ok()) << entry.path() << ": " << table.error().text();
    const auto again = parse_table(write_table(*table));
    ASSERT_TRUE(again.ok()) << entry.path() << ": " << again.error().text() << write_table(*table);
    EXPECT_EQ(*again, *table) << entry.path();
    EXPECT_EQ(write_table(*again), write_table(*table));
    ++seen;
  }
  EXPECT_GE(seen, 40);
}

TEST(RoundTrip, GoldenFilesAreReproducedByteForByte) {
  CHIPWEAVE_NEEDS_TABLES(folder);
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/golden")) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = test::text_of_file(entry.path());
    const auto table = parse_table(text);
    ASSERT_TRUE(table.ok()) << entry.path() << ": " << table.error().text();
    EXPECT_EQ(write_table(*table), text) << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 18);
}

}  // namespace
}  // namespace chipweave::codec::ranktable
