// Where tests find the repository, the programs of this build and the shared data. Compiled once,
// so that no test's command line carries an absolute path (a compiler cache then serves any
// checkout).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::test {

// A file of the repository: "docs/README.md".
std::string source_path(std::string_view relative);

// A program of this build: "chipweave".
std::string program_path(std::string_view name);

// A file or folder of the shared data, which is not part of the repository: below
// $CHIPWEAVE_SHARED_DATA, or ../shared/data beside the checkout. It need not exist.
std::string shared_data_path(std::string_view relative);

// All bytes of a file; nullopt if it cannot be read.
std::optional<std::string> file_content(const std::filesystem::path& path);

}  // namespace chipweave::test
