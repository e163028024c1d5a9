#include "tests/architecture/source_tree.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace chipweave::architecture {
namespace fs = std::filesystem;

namespace {
bool is_source(const fs::path& path) {
  constexpr std::array<std::string_view, 5> kExtensions = {".cpp", ".hpp", ".h", ".cc", ".proto"};
  for (const std::string_view extension : kExtensions) {
    if (path.extension() == extension) return true;
  }
  return false;
}
}  // namespace

std::map<std::string, std::string> read_sources(const std::vector<std::string>& folders) {
  const fs::path root = CHIPWEAVE_SOURCE_DIR;
  std::map<std::string, std::string> sources;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      sources[fs::relative(entry.path(), root).generic_string()] =
          std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  return sources;
}

}  // namespace chipweave::architecture
