#include "tests/support/paths.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace chipweave::test {
namespace {

std::string below(std::string_view folder, std::string_view relative) {
  std::string path(folder);
  path += '/';
  path += relative;
  return path;
}

}  // namespace

std::string source_path(std::string_view relative) { return below(CHIPWEAVE_SOURCE_DIR, relative); }

std::string program_path(std::string_view name) { return below(CHIPWEAVE_BIN_DIR, name); }

std::string shared_data_path(std::string_view relative) {
  const char* given = std::getenv("CHIPWEAVE_SHARED_DATA");
  return below(given != nullptr ? given : CHIPWEAVE_SOURCE_DIR "/../shared/data", relative);
}

std::optional<std::string> file_content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace chipweave::test
