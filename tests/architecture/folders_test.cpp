// Compares the folders that docs/develop/architecture.md draws, and its list of large ones, with
// those that there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

constexpr std::size_t kMaxFiles = 12;
// Their folders are not drawn: the page says what they are named after.
constexpr std::array<std::string_view, 4> kNamedAfterOthers = {
    "tests/unit/", "tests/component/", "tests/fuzz/regressions/", "tests/e2e/modules/"};

bool is_drawn(std::string_view folder) {
  return std::none_of(kNamedAfterOthers.begin(), kNamedAfterOthers.end(),
                      [&](std::string_view parent) { return folder.starts_with(parent); });
}

std::string section_of_folders() {
  const std::string page = read_source("docs/develop/architecture.md");
  const std::size_t begin = page.find("\n## Folders\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin + 1, page.find("\n## ", begin + 1) - begin);
}

// Paths of the drawing: a line each, two spaces for each level, "name/" and what it is.
std::set<std::string> drawn_folders() {
  std::istringstream lines(section_of_folders());
  std::set<std::string> folders;
  std::vector<std::string> parents;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") {
      inside = !inside;
      continue;
    }
    if (!inside) continue;
    const std::size_t level = line.find_first_not_of(' ') / 2;
    const std::size_t end = line.find("/ ", level * 2);
    EXPECT_NE(end, std::string::npos) << "no folder: " << line;
    EXPECT_LE(level, parents.size()) << "no parent: " << line;
    if (end == std::string::npos || level > parents.size()) continue;
    parents.resize(level);
    parents.push_back((level == 0 ? "" : parents.back() + "/") +
                      line.substr(level * 2, end - level * 2));
    folders.insert(parents.back());
  }
  return folders;
}

// Folders in the first column of the table, each in backquotes.
std::set<std::string> listed_folders() {
  std::istringstream lines(section_of_folders());
  std::set<std::string> folders;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(2, line.find(" | ", 2) - 2);
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      folders.insert(cell.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return folders;
}

TEST(Folders, ThePageDrawsEveryFolderAndNoOther) {
  const std::map<std::string, std::size_t> found = count_files();
  ASSERT_TRUE(found.contains("scheduler-plugin/app")) << "the scan does not find the folders";
  std::set<std::string> folders;
  for (const auto& [folder, files] : found) {
    if (is_drawn(folder)) folders.insert(folder);
  }
  EXPECT_EQ(drawn_folders(), folders);
}

TEST(Folders, ThePageGivesTheReasonOfEveryLargeFolderAndOfNoOther) {
  std::set<std::string> large;
  for (const auto& [folder, files] : count_files()) {
    if (files > kMaxFiles && is_drawn(folder)) large.insert(folder);
  }
  EXPECT_EQ(listed_folders(), large);
}

TEST(Folders, ThePageSaysWhatTheOthersAreNamedAfter) {
  const std::string section = section_of_folders();
  for (const std::string_view parent : kNamedAfterOthers) {
    const std::string name(parent.substr(0, parent.size() - 1));
    EXPECT_NE(section.find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace chipweave::architecture
