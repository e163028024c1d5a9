#include "common/codec/json/json_tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec {
namespace {

JsonTree tree_of(const std::string& text) {
  auto parsed = JsonTree::parse(text);
  if (auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    ADD_FAILURE() << text << ": " << mistake->message;
    return std::get<JsonTree>(JsonTree::parse("{}"));
  }
  return std::get<JsonTree>(std::move(parsed));
}

// "offset: message", "" for JSON.
std::string mistake_of(const std::string& text) {
  const auto parsed = JsonTree::parse(text);
  const auto* mistake = std::get_if<JsonSyntaxError>(&parsed);
  return mistake == nullptr ? "" : std::to_string(mistake->offset) + ": " + mistake->message;
}

TEST(JsonTree, KnowsThePlaceOfEveryValueAndName) {
  const std::string text = "{\"a\": [1, {\"b\" : \"x\"} ,[] ], \"c\":{}}";
  const JsonTree tree = tree_of(text);
  EXPECT_EQ(tree.raw(tree.root()), text);
  const auto b = tree.at("/a/1/b");
  EXPECT_EQ(tree.text(b), "x");
  EXPECT_EQ(tree.offset(b), text.find("\"x\""));
  EXPECT_EQ(tree.raw(tree.at("/a/1")), "{\"b\" : \"x\"}");
  EXPECT_EQ(tree.raw(tree.at("/a/2")), "[]");
  EXPECT_EQ(tree.raw(tree.at("/a")), "[1, {\"b\" : \"x\"} ,[] ]");
  EXPECT_EQ(tree.raw(tree.at("/c")), "{}");
  EXPECT_EQ(tree.child_count(tree.at("/a")), 3U);
  for (JsonTree::Id id = 0; id < tree.size(); ++id) EXPECT_EQ(tree.at(tree.pointer(id)), id);
  EXPECT_EQ(tree.at("/a/3"), JsonTree::kNone);
  EXPECT_EQ(tree.at("a"), JsonTree::kNone);
}

TEST(JsonTree, DecodesEscapesInNamesAndStrings) {
  const JsonTree tree = tree_of(R"({"a\/b~": "x\u0041\"", "n": "plain", "q\"": {"\u0064": "\\"}})");
  EXPECT_EQ(tree.text(tree.at("/a~1b~0")), "xA\"");
  EXPECT_EQ(tree.name(tree.at("/a~1b~0")), "a/b~");
  EXPECT_EQ(tree.text(tree.at("/n")), "plain");
  EXPECT_EQ(tree.text(tree.at("/q\"/d")), "\\");
}

TEST(JsonTree, SeesNamesThatAreGivenTwice) {
  const JsonTree tree = tree_of(R"({"a":1,"b":{"a":2,"a":3},"a":4,"\u0061":5})");
  ASSERT_EQ(tree.repeated().size(), 3U);
  EXPECT_EQ(tree.raw(tree.repeated()[0]), "3");
  EXPECT_EQ(tree.raw(tree.repeated()[1]), "4");
  EXPECT_EQ(tree.raw(tree.repeated()[2]), "5");
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"k" + std::to_string(i % 39) + "\":0,";
  EXPECT_EQ(tree_of(many + "\"z\":0}").repeated().size(), 1U);
}

TEST(JsonTree, NamesWhatIsNoJson) {
  const auto expect = [](const std::string& text, std::size_t offset, const std::string& word) {
    const std::string mistake = mistake_of(text);
    EXPECT_EQ(mistake.substr(0, mistake.find(':')), std::to_string(offset)) << text << mistake;
    EXPECT_NE(mistake.find(word), std::string::npos) << text << ": " << mistake;
  };
  expect("{\"a\": 1, // first\n \"b\": 2}", 9, "comment");
  expect("{\"a\": 1 /* x */}", 8, "comment");
  expect("# table\n{}", 0, "comment");
  expect("{\"a\": [1, 2, ]}", 13, "comma");
  expect("{\"a\": 1,\n}", 9, "comma");
  expect("[1,,2]", 3, "comma");
  expect("{'a': 1}", 1, "double quotes");
  expect("{\"a\": True}", 6, "true");
  expect("{\"a\": None}", 6, "null");
  expect("{\"a\": NaN}", 6, "NaN");
  expect("[1, ...]", 4, "left out");
  expect("{\"a\": \"b", 8, "cut off");
  expect("{\"a\": [1, 2", 11, "cut off");
  expect("{\"a\": \"b\n\"}", 8, "line break");
  expect("\xEF\xBB\xBF{}", 0, "byte order mark");
  expect("", 0, "empty");
  expect(" \n", 0, "empty");
  expect("{\"a\" 1}", 5, "expected");
  expect("{} {}", 3, "comma");
  expect("{\"a\": 01}", 7, "expected");
  expect("{\"a\": \"\x01\"}", 7, "control");
  EXPECT_NE(mistake_of("{\"a\": \"\xFF\"}"), "");
  EXPECT_NE(mistake_of("{\"a\": \"\\q\"}"), "");
  EXPECT_NE(mistake_of(std::string(200, '[') + std::string(200, ']')).find("deep"),
            std::string::npos);
}

TEST(LineIndex, CountsFromOne) {
  const LineIndex index("ab\ncd\n\nx");
  EXPECT_EQ(index.at(0).line, 1U);
  EXPECT_EQ(index.at(1).column, 2U);
  EXPECT_EQ(index.at(3).line, 2U);
  EXPECT_EQ(index.at(6).line, 3U);
  EXPECT_EQ(index.at(7).line, 4U);
  EXPECT_EQ(index.at(7).column, 1U);
}

}  // namespace
}  // namespace chipweave::codec
