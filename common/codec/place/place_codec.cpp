#include "common/codec/place/place_codec.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/codec/topology/json_reader.hpp"

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
  if (!value.is_object())
    return make_error(Errc::invalid_argument, "a request must be a JSON object");
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

// The id as it is repeated. A number that would not come back as it was written (a fraction, one
// above 64 bits) could be taken for another request's.
Result<std::string> read_id(const Json& given) {
  if (given.is_null()) return std::string("null");
  if (!given.is_string() && !given.is_number_integer()) {
    return make_error(Errc::invalid_argument,
                      "must be a string or a whole number of at most 64 bits");
  }
  std::string text = given.dump();
  if (text.size() > limits::kMaxBatchIdBytes) {
    return make_error(Errc::limit_exceeded,
                      "is longer than " + std::to_string(limits::kMaxBatchIdBytes) + " bytes");
  }
  return text;
}

// The id of a line whose keys are not all unique, so that its error can be matched with it; "null"
// if the line is no JSON or the id itself is given twice.
std::string id_of_refused(std::string_view line) {
  std::string id = "null";
  int ids = 0;
  bool wanted = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 1) return depth <= limits::kMaxJsonDepth;
    if (event == Json::parse_event_t::key) {
      wanted = parsed.get_ref<const std::string&>() == "id";
      ids += wanted ? 1 : 0;
    } else if (event == Json::parse_event_t::value && wanted) {
      if (auto read = read_id(parsed)) id = *std::move(read);
    }
    return true;
  };
  const Json whole = Json::parse(line, watch, /*allow_exceptions=*/false);
  return whole.is_discarded() || ids != 1 ? "null" : id;
}

}  // namespace

PlaceLine parse_place_line(std::string_view line) {
  if (line.size() > limits::kMaxBatchLineBytes) {
    return {"null", make_error(Errc::limit_exceeded,
                               "the line is longer than " +
                                   std::to_string(limits::kMaxBatchLineBytes) + " bytes")};
  }
  Result<Json> value = parse_strict_json(line);
  if (!value) return {id_of_refused(line), std::move(value).error()};
  if (!value->is_object() || !value->contains("id")) return {"null", read_request(*value)};
  auto id = read_id((*value)["id"]);
  if (!id) return {"null", std::move(id).error().in("id")};
  return {*std::move(id), read_request(*value)};
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
  const std::string rest =
      out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return "{\"id\":" + id + "," + rest.substr(1);
}

std::string write_place_error(const std::string& id, const Error& error) {
  nlohmann::ordered_json out;
  out["error"]["code"] =
      error.code == Errc::invalid_argument ? "invalid_request" : to_string(error.code);
  out["error"]["message"] = error.text();
  const std::string rest =
      out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return "{\"id\":" + id + "," + rest.substr(1);
}

}  // namespace chipweave::codec
