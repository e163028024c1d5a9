#include "common/codec/batch/batch_line.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/batch/batch.hpp"

namespace chipweave::codec {
namespace {

// At most 64 bits, signed or not.
bool is_id_number(JsonValue value) {
  return value.integer() || (value.is_number() && parse_number<std::uint64_t>(value.raw()));
}

// The id as the answer repeats it. A number that would not be repeated exactly (a fraction, or one
// above 64 bits) could be mistaken for another request's.
Result<std::string> read_id(JsonValue given) {
  if (!given || given.is_null()) return std::string("null");
  if (!given.is_string() && !is_id_number(given)) {
    return make_error(Errc::invalid_argument,
                      "must be a string or a whole number of at most 64 bits");
  }
  std::string text;
  if (given.is_string()) {
    append_json_string(text, given.text());
  } else {
    text = given.raw();
  }
  if (text.size() > limits::kMaxBatchIdBytes) {
    return make_error(Errc::limit_exceeded,
                      "is longer than " + std::to_string(limits::kMaxBatchIdBytes) + " bytes");
  }
  return text;
}

// The id of a rejected line, so that its error can be matched with it; "null" if the id itself is
// given twice.
std::string id_of_refused(JsonValue line) {
  std::string id = "null";
  int ids = 0;
  for (const JsonValue member : line) {
    if (member.name() != "id") continue;
    ++ids;
    if (auto read = read_id(member)) id = *std::move(read);
  }
  return ids == 1 ? id : "null";
}

}  // namespace

BatchLine read_batch_line(std::string_view line, JsonLimits most) {
  if (line.size() > most.bytes) {
    return {"null", make_error(Errc::limit_exceeded,
                               "the line is longer than " + std::to_string(most.bytes) + " bytes")};
  }
  auto parsed = JsonTree::parse(std::string(line), most.bytes);
  if (const auto* error = std::get_if<JsonSyntaxError>(&parsed)) return {"null", to_error(*error)};
  auto& tree = std::get<JsonTree>(parsed);
  const JsonValue root(tree);
  if (auto checked = check_json(tree, most.values); !checked) {
    return {id_of_refused(root), std::move(checked).error()};
  }
  if (!root.is_object()) {
    return {"null", make_error(Errc::invalid_argument, "a request must be a JSON object")};
  }
  auto id = read_id(root["id"]);
  if (!id) return {"null", std::move(id).error().in("id")};
  return {*std::move(id), std::move(tree)};
}

JsonWriter begin_answer(const std::string& id) {
  JsonWriter out;
  out.begin_object().key("id").raw(id);
  return out;
}

std::string write_batch_error(const std::string& id, const Error& error) {
  JsonWriter out = begin_answer(id);
  out.key("error").begin_object();
  out.field("code",
            error.code == Errc::invalid_argument ? "invalid_request" : to_string(error.code));
  out.field("message", error.text()).end_object();
  return out.end_object().take();
}

}  // namespace chipweave::codec
