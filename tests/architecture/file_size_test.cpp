// A file of 500 lines or more holds more than one concept; split it, or give the reason here.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

constexpr long kMaxLines = 500;

// File → why it may be longer.
const std::map<std::string, std::string> kAllowed = {};

long lines_of(const std::string& content) {
  return std::count(content.begin(), content.end(), '\n');
}

TEST(FileSize, EveryFileIsShorterThan500LinesOrSaysWhyNot) {
  const auto sources =
      read_sources({"common", "scheduler-plugin", "node-agent", "cli", "proto", "tests", "bench"});
  ASSERT_TRUE(sources.contains("tests/architecture/file_size_test.cpp"))
      << "the scan does not find the sources";
  for (const auto& [path, content] : sources) {
    if (kAllowed.contains(path)) continue;
    EXPECT_LT(lines_of(content), kMaxLines) << path;
  }
}

TEST(FileSize, TheListOfExceptionsIsShortAndNamesLongFilesOnly) {
  const auto sources =
      read_sources({"common", "scheduler-plugin", "node-agent", "cli", "proto", "tests", "bench"});
  EXPECT_LE(kAllowed.size(), 5U);
  for (const auto& [path, reason] : kAllowed) {
    ASSERT_TRUE(sources.contains(path)) << path << " is gone: take it off the list";
    EXPECT_GE(lines_of(sources.at(path)), kMaxLines)
        << path << " is short enough: take it off the list";
    EXPECT_FALSE(reason.empty()) << path;
  }
}

}  // namespace
}  // namespace chipweave::architecture
