#include "common/codec/gang/communicators_reader.hpp"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using domain::Communicator;
using domain::ParallelWeights;

void read_groups(const Json& list, const std::string& where, domain::Communicators& out,
                 JsonProblems& problems) {
  if (!list.is_array())
    return problems.add(where, "must be a list of {name, size, stride, weight}");
  if (list.empty()) return problems.add(where, "must name at least one communicator");
  if (list.size() > limits::kMaxCommunicators)
    return problems.add(where, std::to_string(list.size()) + " entries, at most " +
                                   std::to_string(limits::kMaxCommunicators) + " are accepted");
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonObject group(list[i], where + "[" + std::to_string(i) + "]",
                           {"name", "size", "stride", "weight"}, problems);
    if (!list[i].is_object()) continue;
    Communicator& to = out.list.emplace_back();
    to.name = group.require_text("name").value_or("");
    if (!names.insert(to.name).second)
      problems.add(group.path("name"), "is a communicator that was named before");
    to.size = group.require_integer("size", 1, limits::kMaxRanks).value_or(1);
    to.stride = group.require_integer("stride", 1, limits::kMaxRanks).value_or(1);
    to.weight = group.integer("weight", 0, limits::kMaxCommunicatorWeight).value_or(to.weight);
  }
}

void read_weights(const JsonObject& sizes, ParallelWeights& out) {
  const Json* value = sizes.find("weights");
  if (value == nullptr) return;
  const JsonObject weights(*value, sizes.path("weights"),
                           {"tensor", "context", "expert", "data", "expert_data", "pipeline"},
                           sizes.problems());
  const auto read = [&](std::string_view key, std::int64_t& to) {
    to = weights.integer(key, 0, limits::kMaxCommunicatorWeight).value_or(to);
  };
  read("tensor", out.tensor);
  read("context", out.context);
  read("expert", out.expert);
  read("data", out.data);
  read("expert_data", out.expert_data);
  read("pipeline", out.pipeline);
}

}  // namespace

domain::Communicators read_communicators(const Json& value, const std::string& where,
                                         JsonProblems& problems) {
  domain::Communicators out;
  if (value.is_array()) {
    read_groups(value, where, out, problems);
    return out;
  }
  const JsonObject object(
      value, where,
      {"tensor", "context", "expert", "data", "pipeline", "weights", "groups", "ranks_per_pod"},
      problems);
  if (!value.is_object()) return out;
  out.ranks_per_pod = object.integer("ranks_per_pod", 1, limits::kMaxRanks).value_or(1);
  const Json* groups = object.find("groups");
  const auto read = [&](std::string_view key, std::int64_t& to) {
    if (groups != nullptr && object.has(key))
      problems.add(object.path(key), "cannot stand beside groups, which say all");
    to = object.integer(key, 1, limits::kMaxRanks).value_or(to);
  };
  read("tensor", out.sizes.tensor);
  read("context", out.sizes.context);
  read("expert", out.sizes.expert);
  read("data", out.sizes.data);
  read("pipeline", out.sizes.pipeline);
  if (groups != nullptr && object.has("weights"))
    problems.add(object.path("weights"), "cannot stand beside groups, which have their own");
  read_weights(object, out.sizes.weights);
  if (groups != nullptr) read_groups(*groups, object.path("groups"), out, problems);
  return out;
}

}  // namespace chipweave::codec
