// Edits — changes to a JSON document that leave everything else as it is: other members, their
// order, white space.
//
// Usage: replace() values, reorder() arrays, then apply(). Cost of apply(): linear in the document.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec::ranktable {

class Edits {
 public:
  // json: the replacement.
  void replace(JsonTree::Id value, std::string json) { values_[value] = std::move(json); }
  // order[i]: which element stands at place i. A permutation of the array's elements.
  void reorder(JsonTree::Id array, std::vector<std::size_t> order) {
    orders_[array] = std::move(order);
  }
  bool empty() const { return values_.empty() && orders_.empty(); }

  // The document as it is after the edits.
  std::string apply(const JsonTree& tree) const;

 private:
  void render(const JsonTree& tree, JsonTree::Id id, std::string& out) const;

  std::unordered_map<JsonTree::Id, std::string> values_;
  std::unordered_map<JsonTree::Id, std::vector<std::size_t>> orders_;
};

}  // namespace chipweave::codec::ranktable
