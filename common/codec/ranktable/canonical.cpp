#include "common/codec/ranktable/canonical.hpp"

#include <algorithm>
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

}  // namespace

std::string canonical(const JsonTree& tree, JsonTree::Id id) {
  JsonWriter out;
  write(out, JsonValue(&tree, id));
  return out.take();
}

}  // namespace chipweave::codec::ranktable
