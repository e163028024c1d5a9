// The rank tables of the shared data folder, which nobody here wrote.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace chipweave::testing {

// CHIPWEAVE_SHARED_DATA, else ../shared/data beside the sources; "" if there is no such folder.
inline std::string shared_tables_folder() {
  const char* given = std::getenv("CHIPWEAVE_SHARED_DATA");
  const std::string root =
      given != nullptr ? given : std::string(CHIPWEAVE_SOURCE_DIR) + "/../shared/data";
  const std::string folder = root + "/ranktables";
  return std::filesystem::is_directory(folder) ? folder : std::string();
}

inline std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace chipweave::testing

// `folder`, a std::string, is then where they are. (What is declared cannot stand in parentheses.)
#define CHIPWEAVE_NEEDS_TABLES(folder)                                \
  const std::string folder = /* NOLINT(bugprone-macro-parentheses) */ \
      ::chipweave::testing::shared_tables_folder();                   \
  if ((folder).empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)"
