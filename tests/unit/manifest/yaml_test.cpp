#include <gmock/gmock.h>

#include "common/base/limits.hpp"
#include "tests/unit/manifest/pods.hpp"

namespace chipweave::codec {
namespace {

using test::expand;
using test::object_of;
using test::refusal;
using testing::HasSubstr;

// The value in the Pod's JSON.
nlohmann::json value_of(const std::string& yaml) {
  const Manifest manifest = expand(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c}]\n  v: " +
      yaml + "\n");
  return manifest.pods.empty() ? nlohmann::json() : object_of(manifest.pods[0])["spec"]["v"];
}

TEST(Yaml, ScalarsHaveTheTypesThatKubectlGivesThem) {
  EXPECT_EQ(value_of("8"), 8);
  EXPECT_TRUE(value_of("8").is_number_integer());
  EXPECT_EQ(value_of("\"8\""), "8");
  EXPECT_EQ(value_of("'yes'"), "yes");
  EXPECT_EQ(value_of("yes"), true);
  EXPECT_EQ(value_of("off"), false);
  EXPECT_EQ(value_of("True"), true);
  EXPECT_EQ(value_of("0640"), 416);
  EXPECT_EQ(value_of("0o17"), 15);
  EXPECT_EQ(value_of("0x1F"), 31);
  EXPECT_EQ(value_of("-3"), -3);
  EXPECT_EQ(value_of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value_of("1.5"), 1.5);
  EXPECT_EQ(value_of("1e3"), 1000.0);
  EXPECT_EQ(value_of("8Gi"), "8Gi");
  EXPECT_EQ(value_of("0.5.1"), "0.5.1");
  EXPECT_EQ(value_of("089"), 89);
  EXPECT_EQ(value_of("2026-01-02"), "2026-01-02");
  EXPECT_EQ(value_of(".nan"), ".nan");
  EXPECT_EQ(value_of("!!str 8"), "8");
  EXPECT_EQ(value_of("!!int \"8\""), 8);
  EXPECT_TRUE(value_of("~").is_null());
  EXPECT_EQ(value_of("\"null\""), "null");
  EXPECT_EQ(value_of("|\n    two\n    lines"), "two\nlines\n");
}

TEST(Yaml, AliasesAndMergeKeysAreResolved) {
  const auto value =
      value_of("{a: &x {p: 1, q: 2}, b: *x, c: {<<: *x, q: 3}, d: {<<: [{q: 4}, *x]}}");
  EXPECT_EQ(value["b"], value["a"]);
  EXPECT_EQ(value["c"], (nlohmann::json{{"p", 1}, {"q", 3}}));
  EXPECT_EQ(value["d"], (nlohmann::json{{"p", 1}, {"q", 4}}));
  EXPECT_THAT(refusal("a: {<<: 3}\n"), HasSubstr("line 1: << takes a map"));
  EXPECT_THAT(refusal("a: &x\n  <<: [*x]\n"), HasSubstr("levels"));
}

TEST(Yaml, ErrorsNameTheLine) {
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: a\n"),
              HasSubstr("line 4: not valid YAML"));
  EXPECT_THAT(refusal("a: 1\nb: *nowhere\n"), HasSubstr("line 2: not valid YAML"));
  EXPECT_THAT(refusal("a: 1\nb: 2\na: 3\n"), HasSubstr("line 3: key \"a\" is given twice"));
  EXPECT_THAT(refusal("a: 1\nb: !weird 3\n"), HasSubstr("line 2: the tag \"!weird\""));
  EXPECT_THAT(refusal("? [a]\n: 1\n"), HasSubstr("line 1: a key must be a plain word"));
  EXPECT_THAT(refusal("---\n# only a comment\n---\n- 1\n"), HasSubstr("document at line 4"));
}

TEST(Yaml, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: "
                      "\"\xc3\x28\"}]}\n"),
              HasSubstr("UTF-8"));
}

TEST(Yaml, EmptyFilesHaveNoPods) {
  EXPECT_TRUE(expand("").pods.empty());
  EXPECT_TRUE(expand("---\n---\n# nothing\n").pods.empty());
}

TEST(Yaml, AliasBombsAreStopped) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string from = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += from + (k < 9 ? "," : "]\n");
  }
  EXPECT_THAT(refusal(bomb),
              HasSubstr("more than " + std::to_string(limits::kMaxManifestValues) + " values"));
  EXPECT_THAT(refusal("a: &x [*x]\n"), HasSubstr("levels"));

  std::string fat = "a: &a \"" + std::string(1U << 20U, 'x') + "\"\nb: [";
  for (int i = 0; i < 100; ++i) fat += "*a,";
  EXPECT_THAT(refusal(fat + "*a]\n"), HasSubstr("too much text"));
}

TEST(Yaml, ValuesAreCountedBeforeTheyAreBuilt) {
  std::string wide = "a: [";
  for (std::size_t i = 0; i < limits::kMaxManifestValues; ++i) wide += i % 100 == 0 ? "1,\n" : "1,";
  // The rest is not YAML: a reader that builds everything first would report that instead.
  EXPECT_THAT(refusal(wide + "1, }\n"), HasSubstr("line 2001: the file has more than"));
  std::string keys;
  for (std::size_t i = 0; i + 2 < limits::kMaxManifestValues; ++i) {
    keys += "k" + std::to_string(i) + ": 1\n";
  }
  EXPECT_THAT(refusal(keys), HasSubstr("apiVersion is missing"));  // keys are not values
}

TEST(Yaml, WhatIsNoTextIsRefused) {
  EXPECT_THAT(refusal(std::string("\xFF\xFE\0", 3)), HasSubstr("not UTF-8 text"));
  EXPECT_THAT(refusal(std::string("a: \0", 4)), HasSubstr("not UTF-8 text"));
  EXPECT_THAT(refusal("\xFE\xFF"), HasSubstr("not UTF-8 text"));
}

TEST(Yaml, DeepAndLargeFilesAreRefused) {
  std::string deep = "a: ";
  for (int i = 0; i < 100; ++i) deep += "[";
  for (int i = 0; i < 100; ++i) deep += "]";
  EXPECT_THAT(refusal(deep + "\n"), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(std::string(limits::kMaxManifestBytes + 1, ' ')), HasSubstr("split it"));
}

}  // namespace
}  // namespace chipweave::codec
