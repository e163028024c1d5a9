#include "common/codec/ranktable/canonical.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::codec::ranktable {
namespace {

void write(JsonWriter& out, JsonValue value) {
  if (value.is_string()) {
    out.string(value.text());
  } else if (value.is_array()) {
    out.begin_array();
    for (const JsonValue element : value) write(out, element);
    out.end_array();
  } else if (value.is_object()) {
    std::vector<JsonValue> members(value.begin(), value.end());
    std::stable_sort(members.begin(), members.end(),
                     [](JsonValue a, JsonValue b) { return a.name() < b.name(); });
    out.begin_object();
    for (const JsonValue member : members) write(out.key(member.name()), member);
    out.end_object();
  } else {
    out.raw(value.raw());
  }
}

std::string text_of(JsonValue value) {
  if (!value) return "";
  JsonWriter out;
  write(out, value);
  return out.take();
}

std::vector<std::string> element_texts(JsonValue list) {
  std::vector<std::string> out;
  for (const JsonValue element : list) out.push_back(text_of(element));
  return out;
}

std::optional<Mismatch> mismatch_at(const std::string& pointer, JsonValue a, JsonValue b);

std::optional<Mismatch> mismatch_of_members(const std::string& pointer, JsonValue a, JsonValue b) {
  std::set<std::string> names;
  for (const JsonValue object : {a, b}) {
    for (const JsonValue member : object) names.emplace(member.name());
  }
  for (const std::string& name : names) {
    auto found = mismatch_at(pointer + "/" + JsonTree::escaped_step(name), a[name], b[name]);
    if (found) return found;
  }
  return Mismatch{pointer, false, text_of(a), text_of(b)};  // repeated members
}

std::optional<Mismatch> mismatch_of_elements(const std::string& pointer, JsonValue a, JsonValue b) {
  const std::vector<std::string> x = element_texts(a);
  const std::vector<std::string> y = element_texts(b);
  const auto [at_x, at_y] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
  if (x.size() != y.size()) {
    return Mismatch{pointer, false, at_x == x.end() ? "" : *at_x, at_y == y.end() ? "" : *at_y};
  }
  const auto sorted = [](std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  if (sorted(x) == sorted(y)) {
    return Mismatch{pointer, true, *at_x, *at_y};
  }
  const auto index = std::distance(x.begin(), at_x);
  return mismatch_at(pointer + "/" + std::to_string(index), *std::next(a.begin(), index),
                     *std::next(b.begin(), index));
}

std::optional<Mismatch> mismatch_at(const std::string& pointer, JsonValue a, JsonValue b) {
  std::string x = text_of(a);
  std::string y = text_of(b);
  if (x == y) return std::nullopt;
  if (a.is_object() && b.is_object()) return mismatch_of_members(pointer, a, b);
  if (a.is_array() && b.is_array()) return mismatch_of_elements(pointer, a, b);
  return Mismatch{pointer, false, std::move(x), std::move(y)};
}

}  // namespace

std::optional<Mismatch> first_mismatch(JsonValue a, JsonValue b) { return mismatch_at("", a, b); }

std::string canonical(const JsonTree& tree, JsonTree::Id id) {
  JsonWriter out;
  write(out, JsonValue(&tree, id));
  return out.take();
}

}  // namespace chipweave::codec::ranktable
