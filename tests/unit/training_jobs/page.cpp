#include "tests/unit/training_jobs/page.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "common/codec/json/json_value.hpp"
#include "common/codec/yaml/yaml_tree.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::sched::test {
namespace {

constexpr const char* kFolder = "docs/tasks/training-jobs";
constexpr const char* kFence = "```";
constexpr std::string_view kCommand = "$ chipweave gangs ";

void add_block(const std::string& language, const std::string& text, Page& to) {
  if (language == "yaml") {
    const std::vector<Json> documents = documents_of(text);
    if (documents.at(0).contains("kind"))
      to.manifests.push_back(text);
    else
      to.values = documents.at(0);
  } else if (text.starts_with(kCommand)) {
    to.outputs.push_back(text.substr(text.find('\n') + 1));
  }
}

std::vector<std::string> texts_at(const Json& values, const char* pointer) {
  const Json::json_pointer at(pointer);
  return values.contains(at) ? values.at(at).get<std::vector<std::string>>()
                             : std::vector<std::string>();
}

}  // namespace

std::vector<Json> documents_of(const std::string& yaml) {
  const auto documents = codec::parse_yaml(yaml);
  if (!documents) throw std::runtime_error(documents.error().text());
  std::vector<Json> out;
  for (const codec::YamlDocument& one : *documents)
    out.push_back(Json::parse(codec::JsonValue(one.tree).raw()));
  return out;
}

std::vector<std::string> Page::kinds() const { return texts_at(values, "/scheduler/gangs/kinds"); }

bool Page::has_gate() const {
  return values.value("/scheduler/gangs/gate/enabled"_json_pointer, false);
}

std::vector<std::string> Page::gate_frameworks() const {
  return texts_at(values, "/scheduler/gangs/gate/frameworks");
}

Page read_page(const std::string& name) {
  const auto text =
      chipweave::test::file_content(chipweave::test::source_path(kFolder) + "/" + name + ".md");
  if (!text) throw std::runtime_error("no page " + name);
  Page out;
  std::istringstream lines(*text);
  std::string block;
  std::string language;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kFence)) {
      if (inside) block += line + "\n";
      continue;
    }
    if (inside) add_block(language, block, out);
    inside = !inside;
    language = line.substr(std::string_view(kFence).size());
    block.clear();
  }
  return out;
}

std::vector<std::string> page_names() {
  std::vector<std::string> out;
  for (const auto& one : std::filesystem::directory_iterator(chipweave::test::source_path(kFolder)))
    out.push_back(one.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace chipweave::sched::test
