#include "tests/architecture/source_tree.hpp"
#include "tests/support/paths.hpp"

#include <array>
#include <filesystem>
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
  const fs::path root = test::source_path("");
  std::map<std::string, std::string> sources;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      sources[path] = read_source(path);
    }
  }
  return sources;
}

std::string read_source(const std::string& path) {
  return test::file_content(test::source_path(path)).value_or("");
}

}  // namespace chipweave::architecture
