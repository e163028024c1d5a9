#include "common/codec/text/json_mend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::pair<JsonMend, std::size_t>> places(std::string_view text) {
  std::vector<std::pair<JsonMend, std::size_t>> out;
  for (const MendedAt& each : mend_json(text).mended) out.emplace_back(each.what, each.offset);
  return out;
}

TEST(JsonMend, JsonStaysAsItIs) {
  for (const char* text :
       {"", "{}", "[1, 2,\n 3]", R"({"a": "// no comment, 'no quotes' # , ]", "b": [true, null]})",
        R"(["\"", "\\", ",]"])", "{\"a\":\t1}\r\n"}) {
    EXPECT_EQ(mend_json(text).text, text);
    EXPECT_THAT(mend_json(text).mended, IsEmpty()) << text;
  }
}

TEST(JsonMend, TakesOutTheByteOrderMark) {
  EXPECT_EQ(mend_json("\xEF\xBB\xBF{}").text, "{}");
  EXPECT_THAT(places("\xEF\xBB\xBF{}"), ElementsAre(std::pair(JsonMend::byte_order_mark, 0U)));
}

TEST(JsonMend, TakesOutCommentsAndLinesOfNothingElse) {
  EXPECT_EQ(
      mend_json("// made by hand\n{\"a\": 1, # one\n  /* two\n lines */\n\"b\": /* b */ 2}").text,
      "{\"a\": 1,\n\"b\":  2}");
  EXPECT_EQ(mend_json("{}\n  // end").text, "{}\n");
  EXPECT_EQ(mend_json("{} // end").text, "{}");
  EXPECT_THAT(places("{} // end"), ElementsAre(std::pair(JsonMend::comment, 3U)));
}

TEST(JsonMend, TakesOutCommasBehindLastElements) {
  EXPECT_EQ(mend_json("[1, 2,]").text, "[1, 2]");
  EXPECT_EQ(mend_json("{\"a\": [{\"b\": 1,},\n ],\n // end\n}").text, "{\"a\": [{\"b\": 1}\n ]\n}");
  EXPECT_THAT(places("[1, 2,]"), ElementsAre(std::pair(JsonMend::last_comma, 5U)));
  EXPECT_EQ(mend_json("[\"a\"  ,  ]").text, "[\"a\"    ]");
}

TEST(JsonMend, CommasThatFollowNothingStay) {
  for (const char* text : {"[,]", "{,}", "[1,,]", ",", "[1,,2]", ",]"}) {
    EXPECT_EQ(mend_json(text).text, text);
  }
}

TEST(JsonMend, PutsStringsIntoDoubleQuotes) {
  EXPECT_EQ(mend_json("{'a': 'b'}").text, "{\"a\": \"b\"}");
  EXPECT_EQ(mend_json(R"(['it\'s "so"', '\\', '\n'])").text, R"(["it's \"so\"", "\\", "\n"])");
  EXPECT_EQ(mend_json("['a',]").text, "[\"a\"]");
  EXPECT_THAT(places("['a']"), ElementsAre(std::pair(JsonMend::single_quotes, 1U)));
}

TEST(JsonMend, WritesPythonsWordsAsJsonHasThem) {
  EXPECT_EQ(mend_json("{'a': True, 'b': None, 'c': [False]}").text,
            R"({"a": true, "b": null, "c": [false]})");
  EXPECT_EQ(mend_json("[Truely, None1]").text, "[Truely, None1]");
}

TEST(JsonMend, WhatDoesNotEndStays) {
  for (const char* text :
       {"{\"a", "{\"a\\", "['a", "['a\n']", "{} /* a", "/", "'", "'\\", "\"\\"}) {
    EXPECT_EQ(mend_json(text).text, text);
    EXPECT_THAT(mend_json(text).mended, IsEmpty()) << text;
  }
}

TEST(JsonMend, TellsWhatBeginsAsJson) {
  for (const char* text : {"{", " [1]", "\xEF\xBB\xBF{", "// a\n{", "/* a\n */ [", "# a\n\n {"}) {
    EXPECT_TRUE(begins_as_json(text)) << text;
  }
  for (const char* text : {"", " ", "a", "// {", "/* {", "kind: {}", "\"a\"", "/{", "# a\nb: 1"}) {
    EXPECT_FALSE(begins_as_json(text)) << text;
  }
}

}  // namespace
}  // namespace chipweave::codec
