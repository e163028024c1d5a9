// The page of drills names tests that exist.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

// "Suite.Name" in backquotes, in the last column of a table.
std::set<std::string> named_tests(const std::string& page) {
  std::set<std::string> out;
  for (std::size_t at = page.find('`'); at != std::string::npos;) {
    const std::size_t end = page.find('`', at + 1);
    if (end == std::string::npos) break;
    const std::string text = page.substr(at + 1, end - at - 1);
    const std::size_t dot = text.find('.');
    const bool both = dot != std::string::npos && dot + 1 < text.size();
    if (both && std::isupper(static_cast<unsigned char>(text[0])) != 0 &&
        std::isupper(static_cast<unsigned char>(text[dot + 1])) != 0) {
      out.insert(text);
    }
    at = page.find('`', end + 1);
  }
  return out;
}

TEST(Drills, EachTestOfThePageExists) {
  const std::set<std::string> named = named_tests(read_source("docs/develop/drills.md"));
  ASSERT_GT(named.size(), 30U) << "the page is not read";
  std::string sources;
  for (const auto& [path, content] : read_sources({"tests/component", "tests/unit"})) {
    sources += content;
  }
  for (const char* list : {"agent_hardware", "agent_report"}) {
    sources += read_source("tests/component/" + std::string(list) + "/CMakeLists.txt");
  }
  sources += read_source("tests/alerts/CMakeLists.txt");
  for (const std::string& test : named) {
    const std::size_t dot = test.find('.');
    const bool in_code = sources.find("(" + test.substr(0, dot) + ", " + test.substr(dot + 1) +
                                      ")") != std::string::npos;
    const bool in_list = sources.find("NAME " + test + "\n") != std::string::npos;
    EXPECT_TRUE(in_code || in_list) << test << " on docs/develop/drills.md does not exist";
  }
}

}  // namespace
}  // namespace chipweave::architecture
