#include "common/base/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

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

TEST(JsonWriter, IntegersOf64BitsAreWrittenInFull) {
  JsonWriter w;
  w.begin_object().field("a", std::numeric_limits<std::int64_t>::min());
  w.field("b", std::numeric_limits<std::uint64_t>::max()).end_object();
  EXPECT_EQ(w.take(), R"({"a":-9223372036854775808,"b":18446744073709551615})");
}

TEST(JsonWriter, NumbersAreInTheShorterNotation) {
  const double infinity = std::numeric_limits<double>::infinity();
  JsonWriter w;
  w.begin_array();
  for (const double value : {40.0, 370.8, 100000.0, 120000.0, 0.0001, -0.0, infinity}) {
    w.number(value);
  }
  EXPECT_EQ(w.end_array().take(), "[40.0,370.8,1e+05,120000.0,1e-04,-0.0,0.0]");
}

struct Decimal {
  double value;
  const char* text;
};

TEST(JsonWriter, DecimalsHaveAPointWhileTheyAreShort) {
  for (const Decimal& each : {
           Decimal{0, "0.0"},
           {-0.0, "-0.0"},
           {1, "1.0"},
           {-40, "-40.0"},
           {370.8, "370.8"},
           {20.6, "20.6"},
           {1.0 / 3, "0.3333333333333333"},
           {0.1 + 0.2, "0.30000000000000004"},
           {100000, "100000.0"},
           {1e6, "1000000.0"},
           {123456789012345, "123456789012345.0"},
           {1e14, "100000000000000.0"},
           {std::nextafter(1e15, 0), "999999999999999.9"},
           {1e15, "1e+15"},
           {1e16, "1e+16"},
           {-1.5e16, "-1.5e+16"},
           {9007199254740992, "9.007199254740992e+15"},
           {0.001, "0.001"},
           {0.0001, "0.0001"},
           {0.00012, "0.00012"},
           {std::nextafter(1e-4, 0), "9.999999999999999e-05"},
           {1e-5, "1e-05"},
           {2.5e-7, "2.5e-07"},
           {1e100, "1e+100"},
           {5e-324, "5e-324"},
           {std::numeric_limits<double>::min(), "2.2250738585072014e-308"},
           {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
       }) {
    EXPECT_EQ(JsonWriter().decimal(each.value).take(), each.text);
    EXPECT_EQ(std::strtod(each.text, nullptr), each.value) << each.text;
  }
}

TEST(JsonWriter, DecimalsThatJsonCannotHoldAreNull) {
  JsonWriter w;
  w.begin_array().decimal(std::nan("")).decimal(std::numeric_limits<double>::infinity());
  EXPECT_EQ(w.decimal(-std::numeric_limits<double>::infinity()).end_array().take(),
            "[null,null,null]");
}

TEST(JsonWriter, NewLinesWhereTheyAreWanted) {
  JsonWriter w;
  w.begin_object().key("a").begin_array();
  for (const int value : {1, 2}) w.on_new_line().begin_array().integer(value).end_array();
  w.on_new_line().end_array().key("b").begin_array().on_new_line().end_array();
  EXPECT_EQ(w.field("c", 3).end_object().take(), "{\"a\":[\n[1],\n[2]\n],\"b\":[\n],\"c\":3}");
}

}  // namespace
}  // namespace chipweave
