#include "common/codec/manifest/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/manifest/manifest.hpp"

namespace chipweave::codec {
namespace {

std::string path_of(const std::string& where, std::string_view key) {
  return (where.empty() ? "" : where + ".") + std::string(key);
}

JsonValue value_of(JsonValue parent, std::string_view key) {
  const JsonValue found = parent[key];
  return found.is_null() ? JsonValue() : found;
}

constexpr std::size_t kMaxProblems = 20;

// Lower-case letters, digits and '-', which may not be first or last.
bool is_label(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

}  // namespace

JsonValue Shape::object(JsonValue parent, std::string_view key, const std::string& where) {
  const JsonValue value = value_of(parent, key);
  if (!value || value.is_object()) return value;
  problem(path_of(where, key), expected("a map", value));
  return {};
}

JsonValue Shape::array(JsonValue parent, std::string_view key, const std::string& where) {
  const JsonValue value = value_of(parent, key);
  if (!value || value.is_array()) return value;
  problem(path_of(where, key), expected("a list", value));
  return {};
}

std::string Shape::text(JsonValue parent, std::string_view key, const std::string& where) {
  const JsonValue value = value_of(parent, key);
  if (!value || value.is_string()) return std::string(value.text());
  problem(path_of(where, key), expected("a string", value) + " (put it in quotes)");
  return {};
}

int Shape::count(JsonValue parent, std::string_view key, const std::string& where, int fallback) {
  const JsonValue value = value_of(parent, key);
  if (!value) return fallback;
  const std::optional<std::int64_t> number = value.integer();
  if (number && *number >= 0 && *number <= std::numeric_limits<int>::max()) {
    return static_cast<int>(*number);
  }
  problem(path_of(where, key), "must be a whole number from 0");
  return fallback;
}

bool Shape::flag(JsonValue parent, std::string_view key, const std::string& where) {
  const JsonValue value = value_of(parent, key);
  if (value && !value.is_boolean()) {
    problem(path_of(where, key), expected("true or false", value));
  }
  return value.boolean().value_or(false);
}

void Shape::check_name(const std::string& name, const std::string& where) {
  if (name.empty()) return problem(where, "is missing");
  if (name.size() > limits::kMaxNameBytes) {
    return problem(where, "is longer than " + std::to_string(limits::kMaxNameBytes) + " bytes");
  }
  const std::vector<std::string_view> parts = split(name, '.');
  if (std::all_of(parts.begin(), parts.end(), is_label)) return;
  problem(where,
          "must be an object name (lower-case letters, digits, '-' and '.', each part between "
          "dots with a letter or digit at both ends), got " +
              in_quotes(name));
}

void Shape::check_namespace(const std::string& name, const std::string& where) {
  if (is_namespace(name)) return;
  problem(where, "must be a namespace (lower-case letters, digits and '-', at most " +
                     std::to_string(limits::kMaxLabelBytes) + "), got " + in_quotes(name));
}

bool is_namespace(std::string_view name) {
  return name.size() <= limits::kMaxLabelBytes && is_label(name);
}

void Shape::problem(const std::string& where, const std::string& what) {
  if (problems_.size() < kMaxProblems)
    problems_.push_back(where.empty() ? what : where + " " + what);
}

Result<void> Shape::done() const {
  if (problems_.empty()) return {};
  return make_error(Errc::invalid_argument,
                    "document at line " + std::to_string(line_) + ": " + joined(problems_, "; "));
}

}  // namespace chipweave::codec
