#include "common/codec/batch/batch_line.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"

namespace chipweave::codec {
namespace {

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

BatchLine read_batch_line(std::string_view line, std::size_t max_bytes, std::size_t max_values) {
  if (line.size() > max_bytes) {
    return {"null", make_error(Errc::limit_exceeded,
                               "the line is longer than " + std::to_string(max_bytes) + " bytes")};
  }
  Result<Json> value = parse_strict_json(line, {max_bytes, max_values});
  if (!value) return {id_of_refused(line), std::move(value).error()};
  if (!value->is_object())
    return {"null", make_error(Errc::invalid_argument, "a request must be a JSON object")};
  if (!value->contains("id")) return {"null", std::move(value)};
  auto id = read_id((*value)["id"]);
  if (!id) return {"null", std::move(id).error().in("id")};
  return {*std::move(id), std::move(value)};
}

std::string with_id(const std::string& id, const nlohmann::ordered_json& answer) {
  const std::string rest =
      answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return "{\"id\":" + id + "," + rest.substr(1);
}

std::string write_batch_error(const std::string& id, const Error& error) {
  nlohmann::ordered_json out;
  out["error"]["code"] =
      error.code == Errc::invalid_argument ? "invalid_request" : to_string(error.code);
  out["error"]["message"] = error.text();
  return with_id(id, out);
}

}  // namespace chipweave::codec
