// One name, one type: two types of one name in one namespace are undefined behaviour that no
// compiler or linker has to report, because most files see only one of them.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

// The name that a line in the first column begins to define; empty if it defines none. Relies on
// the formatting, which scripts/check-format keeps.
std::string defined_by(std::string_view line) {
  constexpr std::string_view kAttribute = "[[nodiscard]] ";
  for (const std::string_view keyword : {"struct ", "class ", "enum class ", "enum ", "using "}) {
    if (!line.starts_with(keyword)) continue;
    line.remove_prefix(keyword.size());
    if (line.starts_with(kAttribute)) line.remove_prefix(kAttribute.size());
    const std::string_view name = line.substr(0, line.find_first_of(" ;:<"));
    const std::string_view rest = line.substr(name.size());
    // a member's definition, a declaration, a specialisation
    if (rest.starts_with("::") || rest.starts_with(";") || rest.starts_with("<")) return {};
    if (keyword == "using " && !rest.starts_with(" =")) return {};
    return std::string(name);
  }
  return {};
}

// "chipweave::codec::PlaceRequest" → the files that define it, of types at namespace scope.
void collect(const std::string& path, const std::string& content,
             std::map<std::string, std::vector<std::string>>& files_of) {
  constexpr std::string_view kOpen = "namespace ";
  std::vector<std::string> scopes;
  std::istringstream in(content);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kOpen) && line.ends_with('{')) {
      scopes.push_back(line.substr(kOpen.size(), line.size() - kOpen.size() - 1));
    } else if (line.starts_with("}  // namespace") && !scopes.empty()) {
      scopes.pop_back();
    } else if (const std::string name = defined_by(line); !name.empty()) {
      std::string full;
      bool local = scopes.empty();
      for (const std::string& scope : scopes) {
        local = local || scope.empty();  // an unnamed namespace keeps its names to the file
        full += scope.substr(0, scope.find(' ')) + "::";
      }
      if (!local) files_of[full + name].push_back(path);
    }
  }
}

TEST(OneDefinition, NoTwoTypesOfANamespaceShareAName) {
  std::map<std::string, std::vector<std::string>> files_of;
  for (const auto& [path, content] :
       read_sources({"common", "scheduler-plugin", "node-agent", "cli"})) {
    collect(path, content, files_of);
  }
  ASSERT_TRUE(files_of.contains("chipweave::codec::PlaceRequest"))
      << "the scan does not find the types";
  for (const auto& [name, files] : files_of) {
    EXPECT_EQ(files.size(), 1U) << name << " is defined in " << files.front() << " and "
                                << files.back();
  }
}

}  // namespace
}  // namespace chipweave::architecture
