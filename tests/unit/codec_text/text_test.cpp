#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, AreSplitAtBlanks) {
  EXPECT_THAT(split_words(" a\t b\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(split_words(" \t"), IsEmpty());
  EXPECT_EQ(trim("\r\n a b\v"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(lower_case("Ab\xC3\x84"), "ab\xC3\x84");
}

TEST(Lines, HaveNumbersAndLengthsAsWritten) {
  LineReader lines(" a \r\n\nb");
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, " a ");
  EXPECT_EQ(lines.bytes(), 4U);
  ASSERT_TRUE(lines.next_trimmed(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(lines.next_trimmed(line));
  EXPECT_EQ(line, "b");
  EXPECT_EQ(lines.where(), "line 3");
  EXPECT_FALSE(lines.next(line));
}

TEST(Lines, FirstContentIsNeitherBlankNorComment) {
  EXPECT_EQ(first_content_line("\n # x\n  y \nz"), "y");
  EXPECT_EQ(first_content_line("#\n\n"), "");
}

TEST(Lines, ValuesStandBehindAColon) {
  EXPECT_EQ(value_of("SDID : 7", "SDID"), "7");
  EXPECT_EQ(value_of("SDID:7 ", "SDID"), "7");
  EXPECT_EQ(value_of("SDID 7", "SDID"), std::nullopt);
  EXPECT_EQ(value_of("SDIDs : 7", "SDID"), std::nullopt);
}

TEST(Lines, PositionsCountFromOne) {
  const std::string text = "ab\ncd\n";
  EXPECT_EQ(text_position(text, 0), "line 1, column 1");
  EXPECT_EQ(text_position(text, 2), "line 1, column 3");
  EXPECT_EQ(text_position(text, 3), "line 2, column 1");
  EXPECT_EQ(text_position(text, 999), "line 3, column 1");
}

TEST(Numbers, AreWholeOrNone) {
  EXPECT_EQ(parse_int(" -1 "), -1);
  EXPECT_EQ(parse_int("1x"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_int("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_unsigned("-1"), std::nullopt);
  EXPECT_EQ(parse_hex("0x10de"), 0x10deU);
  EXPECT_EQ(parse_hex("0x"), std::nullopt);
  EXPECT_EQ(leading_number("32.0 GT/s PCIe"), 32.0);
  EXPECT_EQ(leading_number("16671616KiB"), 16671616.0);
  EXPECT_EQ(leading_number("inf"), std::nullopt);
  EXPECT_EQ(leading_number("Unknown"), std::nullopt);
}

TEST(Numbers, PlainOnesAreAsProgramsPrintThem) {
  EXPECT_EQ(whole_number("63", 63), 63);
  EXPECT_EQ(whole_number("0", 63), 0);
  for (const char* text : {"64", "07", "-1", "+1", " 1", "1 ", ""}) {
    EXPECT_EQ(whole_number(text, 63), std::nullopt) << text;
  }
}

TEST(Quoting, IsShortAndWithoutControlCharacters) {
  EXPECT_EQ(quoted_excerpt("a\x1b[31m\xFF"), "\"a?[31m?\"");
  EXPECT_EQ(quoted_excerpt(std::string(100, 'x')).size(), 60 + 2 + std::string("…").size());
  EXPECT_EQ(quoted_list({"a", "b"}), "\"a\", \"b\"");
  EXPECT_EQ(quoted_list({"a", "b", "c", "d", "e", "f"}), "\"a\", \"b\", \"c\", \"d\", \"e\" …");
}

TEST(Quoting, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_EQ(find_invalid_utf8("a\xC3\x84"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("a\xC3"), 1U);
}

}  // namespace
}  // namespace chipweave::codec
