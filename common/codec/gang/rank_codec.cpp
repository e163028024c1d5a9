#include "common/codec/gang/rank_codec.hpp"

#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/gang/communicators_codec.hpp"
#include "common/codec/gang/network_reader.hpp"

namespace chipweave::codec {
namespace {

Result<RankRequest> read_rank_request(JsonValue value) {
  JsonProblems problems;
  const JsonObject object(value, {"id", "levels", "pods", "communicators"}, problems);
  RankRequest out;
  out.levels = read_levels(object);
  if (!object.has("pods")) object.problem("pods", "is missing: a list of {name, path}");
  std::unordered_set<std::string> names;
  for (const JsonValue item : object.array("pods", limits::kMaxGangPods)) {
    const JsonObject pod(item, {"name", "path"}, problems);
    if (!pod) continue;
    auto name = pod.require_text("name");
    if (name && !names.insert(*name).second) pod.problem("name", "names a pod for the second time");
    const JsonValue path = pod.find("path");
    out.paths.push_back(path ? read_path(path, out.levels.size(), problems)
                             : std::vector<std::string>{});
    out.names.push_back(name.value_or(""));
  }
  if (const JsonValue communicators = object.find("communicators"))
    out.communicators = read_communicators(communicators, problems);
  if (out.communicators && out.communicators->ranks_per_pod == 0)
    out.communicators->ranks_per_pod = 1;
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace

RankLine parse_rank_line(std::string_view line) {
  BatchLine read = read_batch_line(line, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!read.json) return {std::move(read.id), std::move(read.json).error()};
  return {std::move(read.id), read_rank_request(JsonValue(*read.json))};
}

std::string write_rank_answer(const std::string& id, const RankRequest& request,
                              const RankAnswer& answer) {
  JsonWriter out = begin_answer(id);
  out.key("order").begin_array();
  for (const std::size_t pod : answer.order) out.string(request.names[pod]);
  out.end_array();
  write_by_level(out, "crossings", request.levels, answer.crossings);
  write_by_level(out, "input_crossings", request.levels, answer.input_crossings);
  if (answer.communicators) {
    const CommunicatorCosts& costs = *answer.communicators;
    out.field("weighted", costs.weighted);
    out.field("depth_first_weighted", costs.depth_first_weighted);
    out.field("input_weighted", costs.input_weighted);
    out.key("optimal").boolean(costs.optimal);
    write_crossings(out, costs.names, request.levels, costs.crossings);
  }
  return out.end_object().take();
}

}  // namespace chipweave::codec
