#include "common/codec/gang/network_reader.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace chipweave::codec {

std::vector<std::string> read_levels(const JsonObject& object, bool may_be_none) {
  std::vector<std::string> out;
  JsonProblems& problems = object.problems();
  const JsonValue list = object.array("levels", limits::kMaxNetworkLevels);
  if (!object.has("levels"))
    object.problem("levels", "is missing: the names of the levels, coarsest first");
  for (const JsonValue item : list) {
    if (!item.is_string() || item.text().empty()) {
      problems.add(item, "must be the name of a level");
      continue;
    }
    std::string name(item.text());
    if (name.size() > limits::kMaxFactBytes) problems.add(item, "is too long");
    if (std::find(out.begin(), out.end(), name) != out.end())
      problems.add(item, "names a level for the second time");
    out.push_back(std::move(name));
  }
  if (list.is_array() && list.empty() && !may_be_none)
    object.problem("levels", "must name at least one level");
  return out;
}

std::vector<std::string> read_path(JsonValue list, std::size_t levels, JsonProblems& problems) {
  std::vector<std::string> out;
  if (!list.is_array()) {
    problems.add(list, "must be a list of names, coarsest first");
    return out;
  }
  for (const JsonValue item : list) {
    if (!item.is_string() || item.text().size() > limits::kMaxFactBytes) {
      problems.add(list, "must hold names of at most " + std::to_string(limits::kMaxFactBytes) +
                             " bytes; empty: not known");
      return out;
    }
    out.emplace_back(item.text());
  }
  if (out.size() > levels) {
    problems.add(list, "has " + std::to_string(out.size()) + " elements, there are " +
                           std::to_string(levels) + " levels");
    out.clear();
  }
  return out;
}

}  // namespace chipweave::codec
