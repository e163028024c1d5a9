#include "common/base/json_writer.hpp"

#include <gtest/gtest.h>

namespace chipweave {
namespace {

// {"a":1,"b":[],"c":[{"d":"x"},2.0],"e":{}}
void write_sample(JsonWriter& w) {
  w.begin_object().key("a").integer(1);
  w.key("b").begin_array().end_array();
  w.key("c").begin_array().begin_object().field("d", "x").end_object().number(2).end_array();
  w.key("e").begin_object().end_object().end_object();
}

TEST(JsonWriter, IsCompactByDefault) {
  JsonWriter w;
  write_sample(w);
  EXPECT_EQ(w.take(), R"({"a":1,"b":[],"c":[{"d":"x"},2.0],"e":{}})");
}

TEST(JsonWriter, IndentsWithEmptyContainersOnOneLine) {
  JsonWriter w(2);
  write_sample(w);
  EXPECT_EQ(w.take(),
            "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": [\n    {\n      \"d\": \"x\"\n    },\n    2.0\n"
            "  ],\n  \"e\": {}\n}");
}

TEST(JsonWriter, ReformattedTextGetsTheLayoutOfTheWriter) {
  const char* text = "{ \"a,b\\\":\" : [1, true,null, \"x\\\\\"],\n\"c\":{}}";
  JsonWriter compact;
  compact.begin_array().integer(0).reformatted(text).integer(9).end_array();
  EXPECT_EQ(compact.take(), R"([0,{"a,b\":":[1,true,null,"x\\"],"c":{}},9])");
  JsonWriter indented(1);
  indented.begin_object().key("k").reformatted(text).end_object();
  EXPECT_EQ(indented.take(),
            "{\n \"k\": {\n  \"a,b\\\":\": [\n   1,\n   true,\n   null,\n   \"x\\\\\"\n  ],\n"
            "  \"c\": {}\n }\n}");
}

TEST(JsonWriter, EscapesAndReplacesWhatIsNotUtf8) {
  JsonWriter w;
  w.string(
      "a\"\\\n\x01\xff"
      "z");
  EXPECT_EQ(w.take(), "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBDz\"");
}

}  // namespace
}  // namespace chipweave
