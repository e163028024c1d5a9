// JsonValue — one value of a JsonTree: two words, passed by value; valid as long as the tree is
// neither moved nor destroyed.
//
// A look-up that finds nothing returns an absent value. It has neither kind nor members, so chains
// like value["metadata"]["name"] need no checks between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec {

class JsonValue {
 public:
  using Kind = JsonTree::Kind;
  class Iterator;

  JsonValue() = default;  // absent
  // The root. The tree must outlive the value.
  explicit JsonValue(const JsonTree& tree) : JsonValue(&tree, tree.root()) {}
  JsonValue(const JsonTree* tree, JsonTree::Id id)
      : tree_(id == JsonTree::kNone ? nullptr : tree), id_(id) {}

  explicit operator bool() const { return tree_ != nullptr; }
  bool is(Kind kind) const { return tree_ != nullptr && tree_->is(id_, kind); }
  bool is_object() const { return is(Kind::object); }
  bool is_array() const { return is(Kind::array); }
  bool is_string() const { return is(Kind::string); }
  bool is_number() const { return is(Kind::number); }
  bool is_boolean() const { return is(Kind::boolean); }
  bool is_null() const { return is(Kind::null); }
  // A number without fraction and exponent, of any size.
  bool is_integer() const;

  // The content of a string, the text of any other value; "" for an absent one.
  std::string_view text() const { return tree_ == nullptr ? "" : tree_->text(id_); }
  // The JSON text as written in the document; "" for an absent value.
  std::string_view raw() const { return tree_ == nullptr ? "" : tree_->raw(id_); }
  // A string's content; nullopt for any other value.
  std::optional<std::string> string() const;
  // nullopt: not an integer, or beyond 64 bits.
  std::optional<std::int64_t> integer() const;
  // nullopt: not a number, or beyond a double.
  std::optional<double> number() const;
  std::optional<bool> boolean() const;

  // The member of that name; absent if there is none. Linear in the members.
  JsonValue operator[](std::string_view name) const {
    return tree_ == nullptr ? JsonValue() : JsonValue(tree_, tree_->member(id_, name));
  }
  // The name of a member.
  // In its tree; JsonTree::kNone of an absent value.
  JsonTree::Id id() const { return id_; }
  std::string_view name() const { return tree_ == nullptr ? "" : tree_->name(id_); }
  // The number of members or elements; 0 for anything else. Linear.
  std::size_t size() const { return tree_ == nullptr ? 0 : tree_->child_count(id_); }
  bool empty() const { return tree_ == nullptr || tree_->first(id_) == JsonTree::kNone; }
  // Members or elements in the order of the text.
  Iterator begin() const;
  Iterator end() const;

  // "links[3].kind", from `base` (absent: the root), which contains this value. Linear in the text
  // before it.
  std::string path(const JsonValue& base) const;

 private:
  const JsonTree* tree_ = nullptr;
  JsonTree::Id id_ = JsonTree::kNone;
};

class JsonValue::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = JsonValue;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = JsonValue;

  Iterator(const JsonTree* tree, JsonTree::Id container, JsonTree::Id child)
      : tree_(tree), container_(container), child_(child) {}
  JsonValue operator*() const { return {tree_, child_}; }
  Iterator& operator++() {
    child_ = tree_->next(container_, child_);
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.child_ == b.child_; }

 private:
  const JsonTree* tree_;
  JsonTree::Id container_;
  JsonTree::Id child_;
};

inline JsonValue::Iterator JsonValue::begin() const {
  return {tree_, id_, tree_ == nullptr ? JsonTree::kNone : tree_->first(id_)};
}
inline JsonValue::Iterator JsonValue::end() const { return {tree_, id_, JsonTree::kNone}; }

}  // namespace chipweave::codec
