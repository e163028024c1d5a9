#include "common/codec/json/json_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JsonValue, ReadsValuesOfEachKind) {
  const auto tree =
      parse_json(R"({"a":[1,-2.5,"x\n",true,null,18446744073709551616],"b":{"c":"d"}})");
  ASSERT_TRUE(tree) << tree.error().text();
  const JsonValue root(*tree);
  const std::vector<JsonValue> list(root["a"].begin(), root["a"].end());
  ASSERT_EQ(list.size(), 6U);
  EXPECT_EQ(list[0].integer(), 1);
  EXPECT_EQ(list[1].number(), -2.5);
  EXPECT_FALSE(list[1].integer());
  EXPECT_EQ(list[2].string(), "x\n");
  EXPECT_EQ(list[3].boolean(), true);
  EXPECT_TRUE(list[4].is_null());
  EXPECT_TRUE(list[5].is_integer());
  EXPECT_FALSE(list[5].integer());
  EXPECT_EQ(root["b"]["c"].text(), "d");
  EXPECT_EQ(list[2].path(JsonValue()), "a[2]");
}

TEST(JsonValue, AnAbsentValueIsEmptyAllTheWay) {
  const auto tree = parse_json("{}");
  const JsonValue none = JsonValue(*tree)["a"]["b"];
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.is_object() || none.is_null());
  EXPECT_TRUE(none.empty());
  for (const JsonValue child : none) ADD_FAILURE() << child.raw();
}

TEST(JsonObject, NamesKeysTypesAndRanges) {
  const auto tree = parse_json(R"({"pods":[{"nam":1,"size":"8","path":"b1"}],"a/b":[7]})");
  JsonProblems problems;
  const JsonObject top(JsonValue(*tree), {"pods", "a/b"}, problems);
  for (const JsonValue item : top.array("pods", 5)) {
    const JsonObject pod(item, {"name", "size", "path"}, problems);
    EXPECT_FALSE(pod.integer("size", 0, 9));
    EXPECT_FALSE(pod.array("path", 5));
    pod.require("name");
  }
  for (const JsonValue item : top.find("a/b")) EXPECT_FALSE(as_integer(item, 0, 5, problems));
  ASSERT_TRUE(problems.any());
  EXPECT_EQ(problems.error().text(),
            "unknown key \"nam\" (pods[0]); did you mean \"name\"?; "
            "pods[0].size: expected an integer, got a string (0 to 9); "
            "pods[0].path: expected a list, got a string; pods[0].name: is missing; "
            "[\"a/b\"][0]: must be 0 to 5, not 7");
}

TEST(JsonObject, ListsTheKnownKeysWhereNothingIsNear) {
  const auto tree = parse_json(R"({"xyzzy":1})");
  JsonProblems problems(JsonValue(*tree), "status");
  const JsonObject object(JsonValue(*tree), {"pods", "nodes"}, problems);
  EXPECT_EQ(problems.error().text(), "unknown key \"xyzzy\" (status); known: pods, nodes");
}

TEST(JsonObject, TolerantSkipsOtherKeysAndTakesNullForAbsent) {
  const auto tree = parse_json(R"({"other":1,"text":null,"list":["a","b"]})");
  JsonProblems problems;
  const JsonObject object = JsonObject::tolerant(JsonValue(*tree), problems);
  EXPECT_FALSE(object.text("text"));
  EXPECT_THAT(object.texts("list", 2), ElementsAre("a", "b"));
  EXPECT_FALSE(problems.any());
  EXPECT_TRUE(object.texts("list", 1).empty());
  EXPECT_EQ(problems.error().text(), "list: 2 entries, at most 1 are accepted");
}

TEST(ParseJson, LimitsAndRepeatedKeysAreErrors) {
  EXPECT_EQ(parse_json("[1,2,3]", {100, 3}).error().code, Errc::limit_exceeded);
  EXPECT_TRUE(parse_json("[1,2,3]", {100, 4}));
  EXPECT_EQ(parse_json("[1,2,3]", {6, 100}).error().code, Errc::limit_exceeded);
  const std::string deep(65, '[');
  EXPECT_EQ(parse_json(deep + std::string(65, ']')).error().code, Errc::limit_exceeded);
  EXPECT_TRUE(parse_json("\xEF\xBB\xBF{}"));
  EXPECT_THAT(parse_json("{\"a\":{\"b\":1,\n\"b\":2}}").error().text(),
              HasSubstr("line 2, column 5: key \"b\" appears twice in one object (a.b)"));
  EXPECT_THAT(parse_json("{\n\"a\":1,}").error().text(),
              HasSubstr("not valid JSON: line 2, column 7: comma before '}'"));
}

}  // namespace
}  // namespace chipweave::codec
