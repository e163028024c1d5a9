#include "common/codec/place/place_codec.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/batch/objective.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/place/down_links.hpp"

namespace chipweave::codec {
namespace {

std::vector<int> index_list(const JsonObject& object, std::string_view key) {
  std::vector<int> out;
  for (const JsonValue item : object.array(key, std::size_t{limits::kMaxChips} * 4)) {
    const auto value = as_integer(item, 0, limits::kMaxChipIndex, object.problems());
    if (!value) continue;
    if (std::find(out.begin(), out.end(), *value) != out.end()) {
      object.problems().add(item, "chip " + std::to_string(*value) + " is named twice");
    }
    out.push_back(*value);
  }
  return out;
}

Result<PlaceRequest> read_place_request(JsonValue value) {
  JsonProblems problems;
  const JsonObject object(
      value,
      {"id", "machine", "free", "unhealthy", "network_unhealthy", "down_links", "required",
       "beside", "loaded", "size", "chips", "distributed", "objective"},
      problems);
  PlaceRequest out;
  if (const JsonValue machine = object.find("machine"); !machine) {
    object.problem("machine", "is missing: a profile name, a path or an inline topology");
  } else if (machine.is_string()) {
    out.machine = machine.text();
    if (out.machine.empty()) object.problem("machine", "must not be empty");
  } else if (machine.is_object()) {
    out.inline_machine = machine.raw();
  } else {
    object.problem("machine", "must be a name, a path or an inline topology");
  }
  if (object.has("free")) out.free = index_list(object, "free");
  out.unhealthy = index_list(object, "unhealthy");
  out.network_unhealthy = index_list(object, "network_unhealthy");
  out.down_links = read_down_links(object, limits::kMaxChipIndex);
  out.required = index_list(object, "required");
  out.beside = index_list(object, "beside");
  out.loaded = index_list(object, "loaded");
  if (object.has("chips")) {
    out.chips = index_list(object, "chips");
    if (out.chips->empty()) object.problem("chips", "must name at least one chip");
  }
  out.size = object.integer("size", 1, limits::kMaxChipIndex);
  if (object.has("size") && object.has("chips"))
    object.problem("chips", "cannot be combined with size");
  if (!object.has("size") && !object.has("chips"))
    object.problem("size", "is missing (or chips, to evaluate a set)");
  out.distributed = object.flag("distributed").value_or(false);
  out.objective = read_objective(object);
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace

PlaceLine parse_place_line(std::string_view line) {
  BatchLine read = read_batch_line(line, {limits::kMaxBatchLineBytes, limits::kMaxJsonValues});
  if (!read.json) return {std::move(read.id), std::move(read.json).error()};
  return {std::move(read.id), read_place_request(JsonValue(*read.json))};
}

std::string write_place_answer(const std::string& id, const PlaceAnswer& a, std::string_view more) {
  JsonWriter out = begin_answer(id);
  out.key("fits").boolean(a.fits).key("chips").integers(a.chips);
  out.key("gbps").decimal(a.gbps).key("best_gbps").decimal(a.best_gbps);
  out.field("reason", a.reason);
  if (a.all_to_all_gbps) out.key("all_to_all_gbps").decimal(*a.all_to_all_gbps);
  if (a.hops) out.key("hops").integer(*a.hops);
  if (a.bound) out.key("exact").boolean(false).key("bound").decimal(*a.bound);
  if (!a.warnings.empty()) out.key("warnings").strings(a.warnings);
  if (!more.empty()) out.raw(more);
  return out.end_object().take();
}

}  // namespace chipweave::codec
