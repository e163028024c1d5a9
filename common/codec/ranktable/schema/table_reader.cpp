#include "common/codec/ranktable/schema/table_reader.hpp"

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/codec/ranktable/schema/known_names.hpp"

namespace chipweave::codec::ranktable {

using domain::ranktable::Extra;
using domain::ranktable::Extras;
using domain::ranktable::Number;
using domain::ranktable::Severity;

namespace {

const char* kind_name(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::object:
      return "an object";
    case JsonTree::Kind::array:
      return "an array";
    case JsonTree::Kind::string:
      return "a string";
    case JsonTree::Kind::number:
      return "a number";
    case JsonTree::Kind::boolean:
      return "true or false";
    case JsonTree::Kind::null:
      return "null";
  }
  return "something else";
}

}  // namespace

std::string minified(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    out += c;
    if (quoted && c == '\\' && i + 1 < json.size()) {
      out += json[++i];
    } else if (c == '"') {
      quoted = !quoted;
    }
  }
  return out;
}

void TableReader::wrong_type(Id value, const char* wanted) {
  const std::string_view name = tree_.name(value);
  add("RT004", Severity::error, value,
      (name.empty() ? std::string("this") : std::string(name)) + " is " +
          kind_name(tree_.kind(value)) + " and must be " + wanted);
}

Number TableReader::read_odd_number(Id value, Form form, std::string_view rule) {
  const JsonTree::Kind kind = tree_.kind(value);
  const bool wants_number = form == Form::number;
  const bool scalar = kind == JsonTree::Kind::string || kind == JsonTree::Kind::number;
  if (!expect(value, wants_number ? JsonTree::Kind::number : JsonTree::Kind::string,
              wants_number ? "a number without quotes" : "a string in double quotes") &&
      !scalar) {
    return std::nullopt;
  }
  bool zeros = false;
  const Number number = strict_number(tree_.text(value), zeros);
  if (number && !zeros) return number;  // of the wrong type only
  const std::string what = std::string(tree_.name(value)) + " " + in_quotes(tree_.text(value));
  if (!number) {
    add(rule, Severity::error, value, what + " is no whole number");
  } else if (zeros) {
    add(rule, Severity::warning, value,
        what + " has leading zeros, which compare unequal to the same number without");
  }
  return number;
}

void TableReader::too_many(Id list) {
  add("RT002", Severity::error, list,
      "the table has more than " + std::to_string(kMaxEntries) +
          " entries; what follows was not read");
}

void TableReader::keep(Id member, std::string_view after, Extras& extras) {
  extras.push_back(
      Extra{std::string(after), std::string(tree_.name(member)), minified(tree_.raw(member))});
}

void TableReader::missing(Id object, std::string_view name) {
  add("RT005", Severity::error, object, "member " + in_quotes(name) + " is missing");
}

void TableReader::look_up_unknown(Id member, const std::vector<std::string_view>& known) {
  if (looked_up_ >= kMaxUnknownLookedUp) return;
  ++looked_up_;
  const std::string_view near = nearest_name(tree_.name(member), known);
  if (near.empty()) return;
  add("RT006", Severity::warning, member,
      "member " + in_quotes(tree_.name(member)) + " is unknown; did you mean " + in_quotes(near) +
          "?");
}

void TableReader::add(std::string_view code, Severity severity, Id node, std::string message) {
  if (!limit_.admit(code)) return;
  findings_.push_back({code, severity, {{node}, {}}, std::nullopt, std::move(message)});
}

}  // namespace chipweave::codec::ranktable
