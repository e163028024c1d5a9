// Tables that are almost JSON, as `lint --fix` mends them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/codec/ranktable/lint/fix.hpp"
#include "common/codec/ranktable/lint/lint_text.hpp"
#include "tests/unit/ranktable/shared_tables.hpp"

namespace chipweave::codec::ranktable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kTable =
    R"({"version": "1.0", "server_count": "1", "status": "completed", "server_list": [)"
    "\n"
    R"({"server_id": "a", "device": [{"device_id": "0", "device_ip": "10.0.0.1", "rank_id": "0"}]}]})"
    "\n";

std::string with(const std::string& before, const std::string& after) {
  std::string text = kTable;
  text.replace(text.find(before), before.size(), after);
  return text;
}

TEST(FixSyntax, MendsWhatIsNotJsonAndSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xEF\xBB\xBF" + kTable, "byte order mark at line 1, column 1: mended (RT001)"},
      {with("\"0\"}]}]}", "\"0\",}]}]}"),
       "comma behind a last element at line 2, column 89: mended (RT001)"},
      {with("\n", " // of node a\n"), "comment at line 1, column 81: mended (RT001)"},
      {with("\"a\"", "'a'"), "string in single quotes at line 2, column 15: mended (RT001)"},
  };
  for (const auto& [text, change] : cases) {
    const Fixed fixed = fix(text, {});
    EXPECT_EQ(fixed.text, kTable) << text;
    EXPECT_THAT(fixed.changes, ElementsAre(change));
  }
}

TEST(FixSyntax, CountsRepeatedMistakes) {
  EXPECT_THAT(fix(with("\"a\"", "'a'").replace(1, 9, "'version'"), {}).changes,
              ElementsAre("string in single quotes, the first of 2 at line 1, column 2: mended "
                          "(RT001)"));
}

TEST(FixSyntax, CorrectsTheTableAfterItsSyntax) {
  const Fixed fixed =
      fix("// a\n" + with("\"server_count\": \"1\"", "\"server_count\": \"7\""), {});
  EXPECT_EQ(fixed.text, kTable);
  EXPECT_THAT(fixed.changes,
              ElementsAre(StartsWith("comment at line 1, column 1"), "1 count corrected (RT011)"));
}

// Half of a correction would be a guess.
TEST(FixSyntax, WhatIsNotJsonAfterwardsStays) {
  for (const std::string& text :
       {with("\"a\"", "'a"), "// cut off\n" + kTable.substr(0, 50), std::string("not JSON, 'a'")}) {
    EXPECT_EQ(fix(text, {}).text, text);
    EXPECT_THAT(fix(text, {}).changes, IsEmpty());
  }
}

TEST(FixSyntax, TablesOfTheDocumentationAreJsonWithoutTheirComments) {
  CHIPWEAVE_NEEDS_TABLES(folder);
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonc") continue;
    ++seen;
    const std::string text = test::text_of_file(entry.path().string());
    EXPECT_FALSE(lint_text(text, {}).tree.has_value()) << entry.path();
    EXPECT_TRUE(lint_text(fix(text, {}).text, {}).tree.has_value()) << entry.path();
  }
  EXPECT_GE(seen, 8U);
}

}  // namespace
}  // namespace chipweave::codec::ranktable
