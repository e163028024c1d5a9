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

// The repository's .gitignore, as far as it is about folders; what editors keep is hidden.
bool is_left_out(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == "__pycache__" || name.starts_with("build") ||
         (name.starts_with('.') && name != ".ci");
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

std::map<std::string, std::size_t> count_files() {
  const fs::path root = test::source_path("");
  std::map<std::string, std::size_t> counts;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->is_directory()) {
      if (is_left_out(it->path())) it.disable_recursion_pending();
      continue;
    }
    if (it.depth() == 0 || it->path().extension() == ".swp") continue;
    const fs::path folder = fs::relative(it->path().parent_path(), root);
    ++counts[folder.generic_string()];
    for (fs::path above = folder.parent_path(); !above.empty(); above = above.parent_path())
      counts.try_emplace(above.generic_string());
  }
  return counts;
}

std::string read_source(const std::string& path) {
  return test::file_content(test::source_path(path)).value_or("");
}

}  // namespace chipweave::architecture
