#include "common/codec/ranktable/canonical.hpp"

#include <algorithm>
#include <vector>

#include "common/base/json_writer.hpp"

namespace chipweave::codec::ranktable {
namespace {

void append(const JsonTree& tree, JsonTree::Id id, std::string& out) {
  const bool object = tree.is(id, JsonTree::Kind::object);
  if (!object && !tree.is(id, JsonTree::Kind::array)) {
    if (tree.is(id, JsonTree::Kind::string)) {
      append_json_string(out, tree.text(id));
    } else {
      out += tree.raw(id);
    }
    return;
  }
  std::vector<JsonTree::Id> children;
  for (auto c = tree.first(id); c != JsonTree::kNone; c = tree.next(id, c)) children.push_back(c);
  if (object) {
    std::stable_sort(children.begin(), children.end(),
                     [&](JsonTree::Id a, JsonTree::Id b) { return tree.name(a) < tree.name(b); });
  }
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (i > 0) out += ',';
    if (object) {
      append_json_string(out, tree.name(children[i]));
      out += ':';
    }
    append(tree, children[i], out);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string canonical(const JsonTree& tree, JsonTree::Id id) {
  std::string out;
  out.reserve(tree.end_offset(id) - tree.offset(id));
  append(tree, id, out);
  return out;
}

}  // namespace chipweave::codec::ranktable
