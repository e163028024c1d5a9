#include "common/codec/ranktable/wrapper.hpp"

#include <variant>

#include "common/codec/ranktable/detect.hpp"

namespace chipweave::codec::ranktable {
namespace {

constexpr int kMaxDepth = 3;

bool is_table(const JsonTree& tree, JsonTree::Id id) {
  const Detected detected = detect(tree, id);
  return detected.dialect || detected.placeholder;
}

// A string that may hold JSON: parsing is for those that begin like an object.
bool holds_table(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos || text[begin] != '{') return false;
  const auto parsed = JsonTree::parse(std::string(text));
  const auto* tree = std::get_if<JsonTree>(&parsed);
  return tree != nullptr && is_table(*tree, tree->root());
}

JsonTree::Id find(const JsonTree& tree, JsonTree::Id object, int depth) {
  for (JsonTree::Id c = tree.first(object); c != JsonTree::kNone; c = tree.next(object, c)) {
    if (tree.is(c, JsonTree::Kind::string) && holds_table(tree.text(c))) return c;
    if (!tree.is(c, JsonTree::Kind::object)) continue;
    if (is_table(tree, c)) return c;
    const JsonTree::Id inner = depth < kMaxDepth ? find(tree, c, depth + 1) : JsonTree::kNone;
    if (inner != JsonTree::kNone) return inner;
  }
  return JsonTree::kNone;
}

}  // namespace

std::string find_wrapped(const JsonTree& tree, JsonTree::Id object) {
  if (!tree.is(object, JsonTree::Kind::object)) return {};
  const JsonTree::Id found = find(tree, object, 1);
  return found == JsonTree::kNone ? std::string() : tree.pointer(found);
}

}  // namespace chipweave::codec::ranktable
