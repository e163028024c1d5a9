#include "common/codec/gang/communicators_codec.hpp"

#include <unordered_set>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

// A ring if it is absent or, with a problem noted, wrong.
domain::Pattern read_pattern(const JsonObject& object, std::string_view key) {
  const auto text = object.text(key);
  if (!text) return domain::Pattern::ring;
  const auto pattern = domain::parse_pattern(*text);
  if (!pattern) object.problem(key, "must be ring, all_to_all or tree");
  return pattern.value_or(domain::Pattern::ring);
}

void read_groups(JsonValue list, domain::Communicators& out, JsonProblems& problems) {
  if (!list.is_array())
    return problems.add(list, "must be a list of {name, size, stride, weight, pattern}");
  if (list.empty()) return problems.add(list, "must name at least one communicator");
  if (list.size() > limits::kMaxCommunicators)
    return problems.add(list, std::to_string(list.size()) + " entries, at most " +
                                  std::to_string(limits::kMaxCommunicators) + " are accepted");
  std::unordered_set<std::string> names;
  for (const JsonValue item : list) {
    const JsonObject group(item, {"name", "size", "stride", "weight", "pattern"}, problems);
    if (!group) continue;
    domain::Communicator& to = out.list.emplace_back();
    to.name = group.require_text("name").value_or("");
    if (!names.insert(to.name).second)
      group.problem("name", "names a communicator for the second time");
    to.size = group.require_integer("size", 1, limits::kMaxRanks).value_or(1);
    to.stride = group.require_integer("stride", 1, limits::kMaxRanks).value_or(1);
    to.weight = group.integer("weight", 0, limits::kMaxCommunicatorWeight).value_or(to.weight);
    to.pattern = read_pattern(group, "pattern");
  }
}

void read_weights(const JsonObject& sizes, domain::ParallelWeights& out) {
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

void read_patterns(const JsonObject& sizes, domain::ParallelPatterns& out) {
  const JsonValue value = sizes.find("patterns");
  if (!value) return;
  const JsonObject patterns(
      value, {"tensor", "context", "expert", "data", "expert_data", "pipeline"}, sizes.problems());
  if (!patterns) return;
  out.tensor = read_pattern(patterns, "tensor");
  out.context = read_pattern(patterns, "context");
  out.expert = read_pattern(patterns, "expert");
  out.data = read_pattern(patterns, "data");
  out.expert_data = read_pattern(patterns, "expert_data");
  out.pipeline = read_pattern(patterns, "pipeline");
}

}  // namespace

domain::Communicators read_communicators(JsonValue value, JsonProblems& problems) {
  domain::Communicators out;
  out.ranks_per_pod = 0;
  if (value.is_array()) {
    read_groups(value, out, problems);
    return out;
  }
  const JsonObject object(value,
                          {"tensor", "context", "expert", "data", "pipeline", "weights", "patterns",
                           "groups", "ranks_per_pod"},
                          problems);
  if (!object) return out;
  out.ranks_per_pod = object.integer("ranks_per_pod", 1, limits::kMaxRanks).value_or(0);
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
  if (groups && object.has("patterns"))
    object.problem("patterns", "cannot be combined with groups, which have their own");
  read_patterns(object, out.sizes.patterns);
  read_weights(object, out.sizes.weights);
  if (groups) read_groups(groups, out, problems);
  return out;
}

void write_crossings(JsonWriter& out, const std::vector<std::string>& names,
                     const std::vector<std::string>& levels,
                     const std::vector<std::vector<std::int64_t>>& crossings) {
  out.key("communicators").begin_object();
  for (std::size_t i = 0; i < names.size(); ++i)
    write_by_level(out, names[i], levels, crossings[i]);
  out.end_object();
}

}  // namespace chipweave::codec
