#include "common/codec/ranktable/edits.hpp"

namespace chipweave::codec::ranktable {

void Edits::render(const JsonTree& tree, JsonTree::Id id, std::string& out) const {
  const auto value = values_.find(id);
  if (value != values_.end()) {
    out += value->second;
    return;
  }
  if (!tree.is(id, JsonTree::Kind::object) && !tree.is(id, JsonTree::Kind::array)) {
    out += tree.raw(id);
    return;
  }
  std::vector<JsonTree::Id> children;
  for (auto c = tree.first(id); c != JsonTree::kNone; c = tree.next(id, c)) children.push_back(c);
  const auto order = orders_.find(id);
  const std::string_view document = tree.document();
  std::size_t at = tree.offset(id);
  for (std::size_t i = 0; i < children.size(); ++i) {
    // Everything between the values (brackets, commas, names, blanks) keeps its place.
    out += document.substr(at, tree.offset(children[i]) - at);
    render(tree, children[order == orders_.end() ? i : order->second[i]], out);
    at = tree.end_offset(children[i]);
  }
  out += document.substr(at, tree.end_offset(id) - at);
}

std::string Edits::apply(const JsonTree& tree) const {
  const std::string_view document = tree.document();
  std::string out;
  out.reserve(document.size());
  out += document.substr(0, tree.offset(tree.root()));
  render(tree, tree.root(), out);
  out += document.substr(tree.end_offset(tree.root()));
  return out;
}

}  // namespace chipweave::codec::ranktable
