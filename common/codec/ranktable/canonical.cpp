#include "common/codec/ranktable/canonical.hpp"

#include <algorithm>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::codec::ranktable {
namespace {

void append(JsonValue value, std::string& out) {
  if (!value.is_object() && !value.is_array()) {
    if (value.is_string()) {
      append_json_string(out, value.text());
    } else {
      out += value.raw();
    }
    return;
  }
  const bool object = value.is_object();
  std::vector<JsonValue> children(value.begin(), value.end());
  if (object) {
    std::stable_sort(children.begin(), children.end(),
                     [](JsonValue a, JsonValue b) { return a.name() < b.name(); });
  }
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (i > 0) out += ',';
    if (object) {
      append_json_string(out, children[i].name());
      out += ':';
    }
    append(children[i], out);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string canonical(const JsonTree& tree, JsonTree::Id id) {
  std::string out;
  out.reserve(tree.end_offset(id) - tree.offset(id));
  append(JsonValue(&tree, id), out);
  return out;
}

}  // namespace chipweave::codec::ranktable
