#include "cli/plan/node_level.hpp"

#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"

namespace chipweave::cli {
namespace {

constexpr std::string_view kNodeLevel = "node";

}  // namespace

std::optional<std::string> with_node_level(codec::JsonValue network) {
  std::size_t levels = 0;
  JsonWriter out;
  out.begin_object().key("levels").begin_array();
  for (const codec::JsonValue level : network["levels"]) {
    if (level.text() == kNodeLevel) return std::nullopt;
    out.string(level.text());
    ++levels;
  }
  out.string(kNodeLevel).end_array();
  for (const codec::JsonValue member : network) {
    if (member.name() == "levels") continue;
    out.key(member.name());
    if (member.name() != "nodes") {
      out.reformatted(member.raw());
      continue;
    }
    out.begin_array();
    for (const codec::JsonValue node : member) {
      std::vector<std::string> path;
      for (const codec::JsonValue element : node["path"]) path.emplace_back(element.text());
      path.resize(levels);  // empty: not known
      path.emplace_back(node["name"].text());
      out.begin_object();
      for (const codec::JsonValue fact : node) {
        if (fact.name() != "path") out.key(fact.name()).reformatted(fact.raw());
      }
      out.key("path").strings(path).end_object();
    }
    out.end_array();
  }
  return out.end_object().take();
}

}  // namespace chipweave::cli
