#include "common/codec/json/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxProblems = 8;

// "; did you mean "a"?", or "; known: a, b" where nothing is near.
std::string known_names(std::string_view given, const std::vector<std::string_view>& known) {
  const std::string near = did_you_mean(given, known);
  if (!near.empty()) return "; " + near.substr(2, near.size() - 3);
  return "; known: " + joined(known, ", ");
}

std::string kind_of(const JsonValue& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  return value ? with_dots(value.raw(), 40) : "nothing";
}

}  // namespace

Error to_error(const JsonSyntaxError& error) {
  const std::string at = "line " + std::to_string(error.position.line) + ", column " +
                         std::to_string(error.position.column) + ": ";
  if (error.is_limit) return make_error(Errc::limit_exceeded, at + error.message);
  return make_error(Errc::invalid_argument, "not valid JSON: " + at + error.message);
}

namespace {

// JSON has numbers of any size; a double holds up to 1.8e308. Short numbers without an exponent
// fit.
bool exceeds_double(std::string_view number) {
  constexpr std::size_t kAlwaysFits = 308;
  if (number.size() <= kAlwaysFits && number.find_first_of("eE") == number.npos) return false;
  return !std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

std::string position_text(const JsonTree& tree, JsonTree::Id id) {
  const TextPosition at = LineIndex(tree.document()).at(tree.offset(id));
  return "line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ": ";
}

}  // namespace

Result<void> check_json(const JsonTree& tree, std::size_t max_values) {
  if (tree.size() > max_values) {
    return make_error(Errc::limit_exceeded,
                      "more than " + std::to_string(max_values) + " values in all");
  }
  if (!tree.repeated().empty()) {
    const JsonTree::Id twice = tree.repeated().front();
    return make_error(Errc::invalid_argument,
                      position_text(tree, twice) + "key " + quoted_excerpt(tree.name(twice)) +
                          " appears twice in one object (" + tree.path(twice) + ")");
  }
  for (JsonTree::Id id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, JsonTree::Kind::number) || !exceeds_double(tree.raw(id))) continue;
    return make_error(
        Errc::invalid_argument,
        position_text(tree, id) + "number " + quoted_excerpt(tree.raw(id)) + " is out of range");
  }
  return {};
}

Result<JsonTree> parse_json(std::string_view text, JsonLimits most) {
  if (text.size() > most.bytes) {
    const bool small = most.bytes < (1U << 20U);
    return make_error(Errc::limit_exceeded, "larger than " +
                                                std::to_string(most.bytes >> (small ? 10U : 20U)) +
                                                (small ? " KiB" : " MiB"));
  }
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  auto parsed = JsonTree::parse(std::string(text), most.bytes);
  if (const auto* error = std::get_if<JsonSyntaxError>(&parsed)) return to_error(*error);
  auto& tree = std::get<JsonTree>(parsed);
  if (auto checked = check_json(tree, most.values); !checked) return std::move(checked).error();
  return std::move(tree);
}

void JsonProblems::add(const JsonValue& object, std::string_view key, const std::string& text) {
  const JsonValue member = object[key];
  add_at(member ? member : object, member ? std::string_view() : key, text);
}

std::string JsonProblems::path_of(const JsonValue& at, std::string_view absent_key) const {
  std::string out = prefix_;
  for (const std::string& step : {at.path(base_), std::string(absent_key)}) {
    if (!out.empty() && !step.empty() && step.front() != '[') out += '.';
    out += step;
  }
  return out;
}

void JsonProblems::add_at(const JsonValue& at, std::string_view absent_key,
                          const std::string& text) {
  ++total_;
  if (list_.size() == kMaxProblems) return;
  const std::string path = path_of(at, absent_key);
  list_.push_back(line_of(at) + (path.empty() ? text : path + ": " + text));
}

std::string JsonProblems::line_of(const JsonValue& at) const {
  if (lines_ == nullptr || !at || at.id() >= lines_->size()) return "";
  return "line " + std::to_string((*lines_)[at.id()]) + ": ";
}

void JsonProblems::add_unknown_key(const JsonValue& member,
                                   const std::vector<std::string_view>& known) {
  ++total_;
  if (list_.size() == kMaxProblems) return;
  std::string text = "unknown key " + quoted_excerpt(member.name());
  std::string path = path_of(member, {});
  path.resize(path.size() - std::min(path.size(), JsonTree::path_step(member.name()).size()));
  if (path.ends_with('.')) path.pop_back();
  if (!path.empty()) text += " (" + path + ")";
  list_.push_back(line_of(member) + text + known_names(member.name(), known));
}

Error JsonProblems::error() const {
  std::string out = joined(list_, "; ");
  if (total_ > list_.size()) out += "; and " + std::to_string(total_ - list_.size()) + " more";
  return make_error(Errc::invalid_argument, std::move(out));
}

JsonObject::JsonObject(JsonValue value, JsonProblems& problems, bool tolerant, std::size_t max_text)
    : value_(value), problems_(problems), tolerant_(tolerant), max_text_(max_text) {
  if (!value_.is_object()) problems_.add(value_, expected("an object", value_));
}

JsonObject JsonObject::tolerant(JsonValue value, JsonProblems& problems, std::size_t max_text) {
  return {value, problems, true, max_text};
}

JsonObject::JsonObject(JsonValue value, std::initializer_list<std::string_view> keys,
                       JsonProblems& problems)
    : JsonObject(value, problems, false, limits::kMaxFactBytes) {
  if (!value_.is_object()) return;
  for (const JsonValue member : value_) {
    if (std::find(keys.begin(), keys.end(), member.name()) == keys.end()) {
      problems_.add_unknown_key(member, keys);
    }
  }
}

JsonValue JsonObject::find(std::string_view key) const {
  const JsonValue found = value_[key];
  return tolerant_ && found.is_null() ? JsonValue() : found;
}

std::optional<std::string> JsonObject::text_of(const JsonValue& value) const {
  if (!value) return std::nullopt;
  if (!value.is_string()) {
    problems_.add(value, expected("a string", value));
    return std::nullopt;
  }
  if (value.text().size() > max_text_) {
    problems_.add(value, "has " + std::to_string(value.text().size()) + " bytes, at most " +
                             std::to_string(max_text_) + " are accepted");
    return std::nullopt;
  }
  return std::string(value.text());
}

std::optional<std::string> JsonObject::text(std::string_view key) const {
  return text_of(find(key));
}

std::vector<std::string> JsonObject::texts(std::string_view key, std::size_t max_items) const {
  std::vector<std::string> out;
  for (const JsonValue value : array(key, max_items)) out.push_back(text_of(value).value_or(""));
  return out;
}

std::optional<std::int64_t> as_int64(const JsonValue& value, std::int64_t min, std::int64_t max,
                                     JsonProblems& problems) {
  const std::string range = std::to_string(min) + " to " + std::to_string(max);
  if (!value.is_integer()) {
    problems.add(value, expected("an integer", value) + " (" + range + ")");
    return std::nullopt;
  }
  const std::optional<std::int64_t> out = value.integer();
  if (!out || *out < min || *out > max) {
    problems.add(value, "must be " + range + ", not " + with_dots(value.raw(), 40));
    return std::nullopt;
  }
  return out;
}

std::optional<double> as_number(const JsonValue& value, JsonProblems& problems) {
  const std::optional<double> out = value.number();
  if (out) return out;
  problems.add(value, value.is_number() ? "is too large a number" : expected("a number", value));
  return std::nullopt;
}

std::optional<double> JsonObject::number(std::string_view key) const {
  const JsonValue value = find(key);
  if (!value) return std::nullopt;
  return as_number(value, problems_);
}

std::optional<bool> JsonObject::flag(std::string_view key) const {
  const JsonValue value = find(key);
  if (value && !value.is_boolean()) problems_.add(value, expected("true or false", value));
  return value.boolean();
}

JsonValue JsonObject::container(std::string_view key, JsonValue::Kind kind,
                                std::size_t max_items) const {
  const JsonValue value = find(key);
  if (!value) return {};
  if (!value.is(kind)) {
    problems_.add(value, expected(kind == JsonValue::Kind::array ? "a list" : "an object", value));
    return {};
  }
  if (const std::size_t size = value.size(); size > max_items) {
    problems_.add(value, std::to_string(size) + " entries, at most " + std::to_string(max_items) +
                             " are accepted");
    return {};
  }
  return value;
}

JsonValue JsonObject::array(std::string_view key, std::size_t max_items) const {
  return container(key, JsonValue::Kind::array, max_items);
}

JsonValue JsonObject::map(std::string_view key, std::size_t max_items) const {
  return container(key, JsonValue::Kind::object, max_items);
}

JsonValue JsonObject::require(std::string_view key) const {
  const JsonValue value = find(key);
  if (!value && value_.is_object()) problem(key, "is missing");
  return value;
}

std::optional<std::string> JsonObject::require_text(std::string_view key) const {
  return text_of(require(key));
}

std::string expected(const char* wanted, const JsonValue& got) {
  return std::string("expected ") + wanted + ", got " + kind_of(got);
}

std::string unknown_name(const char* what, std::string_view given,
                         const std::vector<std::string_view>& known) {
  return std::string("unknown ") + what + " " + quoted_excerpt(given) + known_names(given, known);
}

}  // namespace chipweave::codec
