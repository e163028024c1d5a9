// A class of the scheduler's use cases stays under 400 lines, header and sources together.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

constexpr long kMaxLinesOfClass = 400;
constexpr std::string_view kFolder = "scheduler-plugin/app/";

// The class whose header has the file's name, or the longest beginning of it that ends before a
// '_': evaluator_answer.cpp belongs to evaluator.hpp.
std::string class_of(const std::map<std::string, std::string>& sources, std::string name) {
  while (!name.empty()) {
    if (sources.contains(std::string(kFolder) + name + ".hpp")) return name;
    const std::size_t end = name.rfind('_');
    name.resize(end == std::string::npos ? 0 : end);
  }
  return {};
}

TEST(ClassSize, EveryUseCaseIsShorterThan400Lines) {
  const auto sources = read_sources({"scheduler-plugin"});
  std::map<std::string, long> lines;
  for (const auto& [path, content] : sources) {
    if (!path.starts_with(kFolder)) continue;
    const std::string name = path.substr(kFolder.size(), path.rfind('.') - kFolder.size());
    const std::string owner = class_of(sources, name);
    EXPECT_FALSE(owner.empty()) << path << " belongs to no header";
    lines[owner] += std::count(content.begin(), content.end(), '\n');
  }
  ASSERT_TRUE(lines.contains("evaluator")) << "the scan does not find the sources";
  for (const auto& [name, count] : lines) EXPECT_LT(count, kMaxLinesOfClass) << name;
}

}  // namespace
}  // namespace chipweave::architecture
