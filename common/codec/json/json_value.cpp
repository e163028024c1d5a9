#include "common/codec/json/json_value.hpp"

#include "common/base/text.hpp"

namespace chipweave::codec {
bool JsonValue::is_integer() const {
  return is_number() && raw().find_first_of(".eE") == std::string_view::npos;
}

std::optional<std::string> JsonValue::string() const {
  if (!is_string()) return std::nullopt;
  return std::string(text());
}

std::optional<std::int64_t> JsonValue::integer() const {
  return is_integer() ? parse_number<std::int64_t>(raw()) : std::nullopt;
}

std::optional<double> JsonValue::number() const {
  return is_number() ? parse_number<double>(raw()) : std::nullopt;
}

std::optional<bool> JsonValue::boolean() const {
  if (!is_boolean()) return std::nullopt;
  return raw() == "true";
}

std::string JsonValue::path(const JsonValue& base) const {
  if (tree_ == nullptr) return "";
  return tree_->path(id_, base ? base.id_ : tree_->root());
}

}  // namespace chipweave::codec
