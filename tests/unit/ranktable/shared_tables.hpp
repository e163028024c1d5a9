// The rank tables of the shared data folder, which come from other projects.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/paths.hpp"

namespace chipweave::test {

// CHIPWEAVE_SHARED_DATA, else ../shared/data beside the sources; "" if there is no such folder.
inline std::string shared_tables_folder() {
  const std::string folder = test::shared_data_path("ranktables");
  return std::filesystem::is_directory(folder) ? folder : std::string();
}

inline std::string text_of_file(const std::string& path) {
  return test::file_content(path).value_or("");
}

}  // namespace chipweave::test

// Declares `folder`, a std::string with their path. (A declared name cannot be put in parentheses.)
#define CHIPWEAVE_NEEDS_TABLES(folder)                                \
  const std::string folder = /* NOLINT(bugprone-macro-parentheses) */ \
      ::chipweave::test::shared_tables_folder();                      \
  if ((folder).empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)"
