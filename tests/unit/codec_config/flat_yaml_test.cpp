#include "common/codec/config/flat_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kKeys = {"node", "resource"};

TEST(FlatYaml, ReadsTextsAndLists) {
  const auto got = parse_flat_yaml("# a comment\nnode: n1\nresource: [a/b, c/d]\n", kKeys);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->at("node"), "n1");
  EXPECT_EQ(got->at("resource"), "a/b,c/d");
  EXPECT_TRUE(parse_flat_yaml("", kKeys)->empty());
}

TEST(FlatYaml, AStarOrAmpersandInsideAWordOrQuotesIsText) {
  const auto got = parse_flat_yaml(
      "node: \"&a\"  # *not* an alias {either}\nresource:\n- '*'\n- nvidia.com/mig-*\n- a&b\n",
      kKeys);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->at("node"), "&a");
  EXPECT_EQ(got->at("resource"), "*,nvidia.com/mig-*,a&b");
}

TEST(FlatYaml, NamesTheLineOfWhatItRefuses) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"node: n1\nnodes: x\n",
       "line 2: unknown key \"nodes\" (did you mean \"node\"?); known: node, "},
      {"node: a\nresource: b\nnode: c\n", "line 3: expected each key once, got \"node\" twice"},
      {"node:\n  deeper: x\n", "\"node\" must be a value"},
      {"- node\n", "line 1: the file must be a mapping"},
      {"node: [n1\n", "line "},
      {"node: &a x\nresource: *a\n", "line 1: expected plain values, got an anchor"},
      {"node: x\nresource: [*a]\n", "line 2: "},
      {"node: x\n&a resource: y\n", "line 2: expected plain values"},
      {"node: {a: b}\n", "line 1: \"node\" must be a value or a list"},
      {"resource:\n- a\n- b: c\n", "line 3: \"resource\" must be a list of plain values"},
      {"[a]: b\n", "line 1: a key must be a plain value"},
      {"node: a\n---\nnode: b\n", "expected one YAML document, got several"},
      {"resource: " + std::string(1000, '['), "\"resource\" must be a list of plain values"},
  };
  for (const auto& [text, says] : cases) {
    const auto got = parse_flat_yaml(text, kKeys);
    ASSERT_FALSE(got) << text;
    EXPECT_THAT(got.error().text(), HasSubstr(says));
  }
  EXPECT_EQ(parse_flat_yaml(std::string(limits::kMaxConfigBytes + 1, '#'), kKeys).error().code,
            Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::codec
