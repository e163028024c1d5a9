// Our message for each kind of CLI11 error. A new version of the library with other messages fails
// here first.
#include "common/flags/usage_error.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace chipweave::flags {
namespace {

// A program with the features of ours: commands, required flags, numbers, ranges, sets, switches.
std::string error_of(std::vector<std::string> words) {
  CLI::App app("tests", "tool");
  app.require_subcommand(1);
  CLI::App* place = app.add_subcommand("place");
  app.add_subcommand("plan");
  int size = 0;
  int count = 0;
  double share = 0;
  bool print = false;
  std::string form;
  std::string batch;
  std::string file;
  std::vector<int> ports;
  CLI::Option* sized = place->add_option("--size", size)->check(CLI::Range(1, 64));
  place->add_option("--count", count);
  place->add_option("--share", share);
  place->add_flag("--print", print);
  place->add_option("--to", form)->check(CLI::IsMember({"json", "yaml"}));
  place->add_option("--batch", batch)->excludes(sized);
  place->add_option("--key", batch)->needs("--print");
  place->add_option("--ports", ports)->expected(2);
  place->add_option("FILE", file)->required();
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  return "";
}

TEST(UsageError, NamesAnUnknownFlagAndTheNearestOne) {
  EXPECT_EQ(error_of({"place", "f", "--sise", "2"}),
            "unknown flag --sise (did you mean \"--size\"?); see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--sise=2"}),
            "unknown flag --sise (did you mean \"--size\"?); see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "g"}), "unexpected argument \"g\"; see 'tool place --help'");
}

TEST(UsageError, NamesAnUnknownCommandAndTheKnownOnes) {
  EXPECT_EQ(error_of({"plce"}),
            "unknown command \"plce\" (did you mean \"place\" or \"plan\"?); known: place, plan; "
            "see 'tool "
            "--help'");
  EXPECT_EQ(error_of({}), "a command is required; known: place, plan; see 'tool --help'");
}

TEST(UsageError, SaysWhichValueWasExpected) {
  EXPECT_EQ(error_of({"place", "f", "--count", "two"}),
            "--count: expected a whole number, got \"two\"; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--share", "half"}),
            "--share: expected a number, got \"half\"; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--size"}),
            "--size: expected a whole number, got none; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--ports", "1"}),
            "--ports: expected at least 2 values, got 1; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--print=perhaps"}),
            "--print: expected true or false, got \"perhaps\"; see 'tool place --help'");
}

TEST(UsageError, SaysTheLimitsAndTheSet) {
  EXPECT_EQ(error_of({"place", "f", "--size", "65"}),
            "--size: must be between 1 and 64, got \"65\"; see 'tool place --help'");
  for (const char* word : {"nan", "2.5", "0x", ""})
    EXPECT_EQ(error_of({"place", "f", "--size", word}),
              std::string("--size: expected a whole number from 1 to 64, got \"") + word +
                  "\"; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--to", "xml"}),
            "--to: unknown value \"xml\"; known: json, yaml; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--to", "jsn"}),
            "--to: unknown value \"jsn\" (did you mean \"json\"?); known: json, yaml; see 'tool "
            "place --help'");
}

TEST(UsageError, SaysWhatIsRequiredOrExcluded) {
  EXPECT_EQ(error_of({"place"}), "FILE is required; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--key", "x"}),
            "--key requires --print; see 'tool place --help'");
  EXPECT_EQ(error_of({"place", "f", "--size", "2", "--batch", "x"}),
            "--size cannot be combined with --batch; see 'tool place --help'");
}

TEST(UsageError, ShowsNoControlCharacters) {
  EXPECT_EQ(error_of({"place", "f", "--\x1B[31m"}),
            "unknown flag --?[31m; see 'tool place --help'");
}

TEST(UsageError, OfAFlagThatIsGivenTwice) {
  EXPECT_EQ(error_of({"place", "f", "--to", "json", "--to", "yaml"}),
            "--to: expected one value, got 2; see 'tool place --help'");
}

}  // namespace
}  // namespace chipweave::flags
