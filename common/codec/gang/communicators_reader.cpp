#include "common/codec/gang/communicators_reader.hpp"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using domain::Communicator;
using domain::ParallelWeights;

void read_groups(JsonValue list, domain::Communicators& out, JsonProblems& problems) {
  if (!list.is_array()) return problems.add(list, "must be a list of {name, size, stride, weight}");
  if (list.empty()) return problems.add(list, "must name at least one communicator");
  if (list.size() > limits::kMaxCommunicators)
    return problems.add(list, std::to_string(list.size()) + " entries, at most " +
                                  std::to_string(limits::kMaxCommunicators) + " are accepted");
  std::unordered_set<std::string> names;
  for (const JsonValue item : list) {
    const JsonObject group(item, {"name", "size", "stride", "weight"}, problems);
    if (!group) continue;
    Communicator& to = out.list.emplace_back();
    to.name = group.require_text("name").value_or("");
    if (!names.insert(to.name).second)
      group.problem("name", "names a communicator for the second time");
    to.size = group.require_integer("size", 1, limits::kMaxRanks).value_or(1);
    to.stride = group.require_integer("stride", 1, limits::kMaxRanks).value_or(1);
    to.weight = group.integer("weight", 0, limits::kMaxCommunicatorWeight).value_or(to.weight);
  }
}

void read_weights(const JsonObject& sizes, ParallelWeights& out) {
  const JsonValue value = sizes.find("weights");
  if (!value) return;
  const JsonObject weights(
      value, {"tensor", "context", "expert", "data", "expert_data", "pipeline"}, sizes.problems());
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

domain::Communicators read_communicators(JsonValue value, JsonProblems& problems) {
  domain::Communicators out;
  if (value.is_array()) {
    read_groups(value, out, problems);
    return out;
  }
  const JsonObject object(
      value,
      {"tensor", "context", "expert", "data", "pipeline", "weights", "groups", "ranks_per_pod"},
      problems);
  if (!object) return out;
  out.ranks_per_pod = object.integer("ranks_per_pod", 1, limits::kMaxRanks).value_or(1);
  const JsonValue groups = object.find("groups");
  const auto read = [&](std::string_view key, std::int64_t& to) {
    if (groups && object.has(key)) object.problem(key, "cannot be combined with groups");
    to = object.integer(key, 1, limits::kMaxRanks).value_or(to);
  };
  read("tensor", out.sizes.tensor);
  read("context", out.sizes.context);
  read("expert", out.sizes.expert);
  read("data", out.sizes.data);
  read("pipeline", out.sizes.pipeline);
  if (groups && object.has("weights"))
    object.problem("weights", "cannot be combined with groups, which have their own");
  read_weights(object, out.sizes.weights);
  if (groups) read_groups(groups, out, problems);
  return out;
}

}  // namespace chipweave::codec
