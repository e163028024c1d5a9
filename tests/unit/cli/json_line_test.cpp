#include "cli/json_line.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chipweave::cli {
namespace {

TEST(JsonLine, KeepsTheOrderOfTheCalls) {
  EXPECT_EQ(JsonLine().text("b", "x").number("a", 40).flag("c", true).numbers("d", {1, 2}).done(),
            R"({"b":"x","a":40,"c":true,"d":[1,2]})");
  EXPECT_EQ(JsonLine().done(), "{}");
  EXPECT_EQ(json_list({"1", "\"x\""}), R"([1,"x"])");
}

TEST(JsonText, EveryByteStringReadsBack) {
  for (const std::string& text : {std::string("a\"\\\n\t\x01\x7f/"), std::string("\0x", 2),
                                  std::string("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80")}) {
    EXPECT_EQ(nlohmann::json::parse(json_text(text)).get<std::string>(), text);
  }
  // Not UTF-8: a stray byte, a cut sequence, an overlong form, a surrogate, above U+10FFFF.
  for (const std::string text : {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    const auto read = nlohmann::json::parse(json_text("a" + text + "b")).get<std::string>();
    EXPECT_EQ(read.substr(0, 4), "a\xEF\xBF\xBD");
    EXPECT_EQ(read.back(), 'b');
  }
}

TEST(JsonNumber, ReadsBackEqual) {
  for (const double value : {0.0, 40.0, 370.8, 1.0 / 3, 1e-7, 1e20}) {
    EXPECT_EQ(nlohmann::json::parse(json_number(value)).get<double>(), value);
  }
}

}  // namespace
}  // namespace chipweave::cli
