#include "common/codec/place/place_codec.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch_line.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

std::vector<int> index_list(const JsonObject& object, std::string_view key) {
  std::vector<int> out;
  const Json* list = object.array(key, std::size_t{limits::kMaxChips} * 4);
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string where = object.path(key) + "[" + std::to_string(i) + "]";
    const auto value = as_integer((*list)[i], where, 0, limits::kMaxChipIndex, object.problems());
    if (!value) continue;
    if (std::find(out.begin(), out.end(), static_cast<int>(*value)) != out.end()) {
      object.problems().add(where, "chip " + std::to_string(*value) + " is named twice");
    }
    out.push_back(static_cast<int>(*value));
  }
  return out;
}

std::vector<domain::DownLink> down_links(const JsonObject& object) {
  std::vector<domain::DownLink> out;
  const Json* list = object.array("down_links", limits::kMaxDownLinks);
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string where = object.path("down_links") + "[" + std::to_string(i) + "]";
    const Json& item = (*list)[i];
    if (!item.is_array() || item.size() < 2 || item.size() > 3) {
      object.problems().add(where, "must be [a,b] or [a,b,lanes]");
      continue;
    }
    const auto a = as_integer(item[0], where + "[0]", 0, limits::kMaxChipIndex, object.problems());
    const auto b = as_integer(item[1], where + "[1]", 0, limits::kMaxChipIndex, object.problems());
    std::optional<std::int64_t> lanes;
    if (item.size() == 3)
      lanes = as_integer(item[2], where + "[2]", 1, limits::kMaxLanes, object.problems());
    if (!a || !b) continue;
    if (*a == *b) object.problems().add(where, "links chip " + std::to_string(*a) + " with itself");
    domain::DownLink link{domain::ChipIndex{static_cast<int>(*a)},
                          domain::ChipIndex{static_cast<int>(*b)}, std::nullopt};
    if (lanes) link.lanes = static_cast<int>(*lanes);
    out.push_back(link);
  }
  return out;
}

Result<PlaceRequest> read_request(const Json& value) {
  JsonProblems problems;
  const JsonObject object(value, "",
                          {"id", "machine", "free", "unhealthy", "network_unhealthy", "down_links",
                           "required", "beside", "size", "chips", "distributed"},
                          problems);
  PlaceRequest out;
  if (const Json* machine = object.find("machine"); machine == nullptr) {
    problems.add("machine", "is missing: a profile name, a path or an inline topology");
  } else if (machine->is_string()) {
    out.machine = machine->get<std::string>();
    if (out.machine.empty()) problems.add("machine", "is empty");
  } else if (machine->is_object()) {
    out.inline_machine = machine->dump();
  } else {
    problems.add("machine", "must be a name, a path or an inline topology");
  }
  if (object.has("free")) out.free = index_list(object, "free");
  out.unhealthy = index_list(object, "unhealthy");
  out.network_unhealthy = index_list(object, "network_unhealthy");
  out.down_links = down_links(object);
  out.required = index_list(object, "required");
  out.beside = index_list(object, "beside");
  if (object.has("chips")) {
    out.chips = index_list(object, "chips");
    if (out.chips->empty()) problems.add("chips", "must name at least one chip");
  }
  if (const auto size = object.integer("size", 1, limits::kMaxChipIndex))
    out.size = static_cast<int>(*size);
  if (object.has("size") && object.has("chips"))
    problems.add("chips", "and size exclude each other");
  if (!object.has("size") && !object.has("chips"))
    problems.add("size", "is missing (or chips, to evaluate a set)");
  out.distributed = object.flag("distributed").value_or(false);
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace

PlaceLine parse_place_line(std::string_view line) {
  BatchLine read = read_batch_line(line, limits::kMaxBatchLineBytes, limits::kMaxJsonValues);
  if (!read.value) return {std::move(read.id), std::move(read.value).error()};
  return {std::move(read.id), read_request(*read.value)};
}

std::string write_place_answer(const std::string& id, const PlaceAnswer& a) {
  nlohmann::ordered_json out;
  out["fits"] = a.fits;
  out["chips"] = a.chips;
  out["gbps"] = a.gbps;
  out["best_gbps"] = a.best_gbps;
  out["reason"] = a.reason;
  if (a.bound) {
    out["exact"] = false;
    out["bound"] = *a.bound;
  }
  if (!a.warnings.empty()) out["warnings"] = a.warnings;
  return with_id(id, out);
}

}  // namespace chipweave::codec
