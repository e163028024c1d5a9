#include "common/codec/gang/network_reader.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace chipweave::codec {

std::vector<std::string> read_levels(const JsonObject& object, bool may_be_none) {
  std::vector<std::string> out;
  const Json* list = object.array("levels", limits::kMaxNetworkLevels);
  if (list == nullptr) {
    if (!object.has("levels"))
      object.problems().add(object.path("levels"),
                            "is missing: the names of the levels, coarsest first");
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string where = object.path("levels") + "[" + std::to_string(i) + "]";
    const Json& item = (*list)[i];
    if (!item.is_string() || item.get_ref<const std::string&>().empty()) {
      object.problems().add(where, "must be the name of a level");
      continue;
    }
    auto name = item.get<std::string>();
    if (name.size() > limits::kMaxFactBytes) object.problems().add(where, "is too long");
    if (std::find(out.begin(), out.end(), name) != out.end())
      object.problems().add(where, "is a level that was named before");
    out.push_back(std::move(name));
  }
  if (list->empty() && !may_be_none)
    object.problems().add(object.path("levels"), "must name at least one level");
  return out;
}

std::vector<std::string> read_path(const Json& list, const std::string& where, std::size_t levels,
                                   JsonProblems& problems) {
  std::vector<std::string> out;
  if (!list.is_array()) {
    problems.add(where, "must be a list of names, coarsest first");
    return out;
  }
  if (list.size() > levels) {
    problems.add(where, "has " + std::to_string(list.size()) + " elements, there are " +
                            std::to_string(levels) + " levels");
    return out;
  }
  for (const Json& item : list) {
    if (!item.is_string() || item.get_ref<const std::string&>().size() > limits::kMaxFactBytes) {
      problems.add(where, "must hold names of at most " + std::to_string(limits::kMaxFactBytes) +
                              " bytes; empty: not known");
      return out;
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace chipweave::codec
