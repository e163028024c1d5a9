#include "cli/table.hpp"

#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  Table table({{"NAME"}, {"N", Table::Align::right}, {"NOTE"}});
  table.add({"a", "8", "x"});
  table.add({"long-name", "128", ""});
  table.add({"short"});
  EXPECT_EQ(table.text(false),
            "NAME         N  NOTE\n"
            "a            8  x\n"
            "long-name  128\n"
            "short\n");
}

TEST(Table, FirstColumnGivesWayAtTheWidthOfATerminal) {
  Table table({{"POD"}, {"NODE"}, {"CHIPS"}});
  table.add({std::string(253, 'p') + "-7", std::string(40, 'n'), "0-7"});
  const std::string text = table.text(false, kMaxColumns);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, kMaxColumns);
    start = end + 1;
  }
  EXPECT_NE(text.find("...", 0), std::string::npos);
  EXPECT_NE(text.find("p-7  n"), std::string::npos);
}

TEST(Table, AnotherColumnCanGiveWay) {
  Table table({{"NAME"}, {"TEXT"}}, 1);
  table.add({"profile-name", std::string(120, 't')});
  const std::string text = table.text(false, kMaxColumns);
  EXPECT_NE(text.find("\nprofile-name  ttt"), std::string::npos);
  EXPECT_EQ(text.size(), std::string("NAME          TEXT\n").size() + kMaxColumns + 1);
}

TEST(Table, NothingIsCutWhereTheWidthHasNoLimit) {
  Table table({{"POD"}, {"NODE"}});
  table.add({std::string(253, 'p'), std::string(40, 'n')});
  EXPECT_EQ(table.text(false, kUnlimited), "POD" + std::string(252, ' ') + "NODE\n" +
                                               std::string(253, 'p') + "  " + std::string(40, 'n') +
                                               "\n");
}

TEST(Table, ColourGoesAroundTheLine) {
  Table table({{"A"}});
  table.add({"x"}, Colour::yellow);
  EXPECT_EQ(table.text(true), "\x1b[1mA\x1b[0m\n\x1b[33mx\x1b[0m\n");
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(shortened("abcdefghij", 8), "abc...ij");
  EXPECT_EQ(shortened("abcdefghij", 2), "ab");
}

TEST(ChipList, RunsOfThreeAndMoreAreRanges) {
  EXPECT_EQ(chip_list({}), "-");
  EXPECT_EQ(chip_list({4}), "4");
  EXPECT_EQ(chip_list({0, 1}), "0,1");
  EXPECT_EQ(chip_list({0, 1, 2, 5, 7, 8}), "0-2,5,7,8");
}

TEST(GbpsText, OneDigitWhereItSaysSomething) {
  EXPECT_EQ(gbps_text(40), "40");
  EXPECT_EQ(gbps_text(370.8), "370.8");
  EXPECT_EQ(gbps_text(33.333), "33.3");
  EXPECT_EQ(gbps_text(0), "0");
  EXPECT_EQ(gbps_text(39.97), "40");
}

TEST(Wrapped, BreaksAtBlanksOnly) {
  const std::string word(30, 'w');
  const std::string text = word + " " + word + " " + word + " " + word;
  EXPECT_EQ(wrapped(text, 2), word + " " + word + " " + word + "\n  " + word);
  const std::string long_word(150, 'w');
  EXPECT_EQ(wrapped(long_word, 2), long_word);
  EXPECT_EQ(wrapped("", 2), "");
  EXPECT_EQ(wrapped(std::string(100, 'w') + "  ", 0), std::string(100, 'w') + "\n ");
}

TEST(Printable, ForeignTextCannotSteerTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  Table table({{"A"}});
  table.add({"x\x1b]0;y\x07"});
  EXPECT_EQ(table.text(false), "A\nx?]0;y?\n");
  EXPECT_EQ(wrapped("x\ry", 0), "x?y");
}

}  // namespace
}  // namespace chipweave::cli
