// Schema — the members that each object of a dialect has: their names in the order of the
// dialect's main producer, how their values are written, and where the model keeps them. Readers
// and writers are the same few functions for all dialects; a dialect is its tables of members.
//
// Internal to common/codec/ranktable.
#pragma once

#include <span>
#include <string_view>

#include "common/codec/json/json_tree.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

class TableReader;
class TableWriter;

enum class Need { optional, required };
// "8" and 8. kept: the model does not use the value, and its type is not checked.
enum class Form { text, digits, number, kept };

// A member is text, rare text, number, a list (read and write), or kept.
template <class T>
struct Member {
  std::string_view name;
  Need need = Need::optional;
  Form form = Form::kept;
  domain::ranktable::Text T::*text = nullptr;
  domain::ranktable::RareText T::*rare = nullptr;
  domain::ranktable::Number T::*number = nullptr;
  std::string_view number_rule = {};  // the rule for text that is not a number
  void (*read)(TableReader&, JsonTree::Id list, T&) = nullptr;
  void (*write)(TableWriter&, std::string_view name, const T&) = nullptr;
  bool (*lists)(const T&) = nullptr;  // whether the object has the list

  bool is_in(const T& object) const {
    if (text != nullptr) return (object.*text).has_value();
    if (rare != nullptr) return (object.*rare).has_value();
    if (number != nullptr) return (object.*number).has_value();
    return lists != nullptr && lists(object);
  }
  constexpr bool is_modelled() const {
    return text != nullptr || rare != nullptr || number != nullptr || read != nullptr;
  }
};

struct Schema {
  std::span<const Member<domain::ranktable::RankTable>> table;
  std::span<const Member<domain::ranktable::Group>> group = {};
  std::span<const Member<domain::ranktable::Server>> server = {};
  std::span<const Member<domain::ranktable::Device>> device = {};
  std::span<const Member<domain::ranktable::ServerSet>> super_pod = {};
  std::span<const Member<domain::ranktable::ServerSet>> cluster = {};
  std::span<const Member<domain::ranktable::ServerName>> server_name = {};
  std::span<const Member<domain::ranktable::LayeredRank>> rank = {};
  std::span<const Member<domain::ranktable::NetLayer>> layer = {};
  std::span<const Member<domain::ranktable::RankAddress>> address = {};
};

// Defined in server_lists.cpp, groups.cpp and others.cpp.
extern const Schema kHccl10, kHccl12, kMindieLlm, kDataDist, kMindSpore, kModelArtsLocal;
extern const Schema kTemplate, kConfigMap1980, kModelArtsGlobal, kMindieGlobal;
extern const Schema kHeterogeneous, kLayered, kVllm;

// Constructors of members.
template <class T>
constexpr Member<T> text_member(std::string_view name, domain::ranktable::Text T::*at,
                                Need need = Need::optional) {
  return {.name = name, .need = need, .form = Form::text, .text = at};
}
template <class T>
constexpr Member<T> rare_member(std::string_view name, domain::ranktable::RareText T::*at) {
  return {.name = name, .form = Form::text, .rare = at};
}
template <class T>
constexpr Member<T> digits_member(std::string_view name, domain::ranktable::Number T::*at,
                                  std::string_view rule, Need need = Need::optional) {
  return {.name = name, .need = need, .form = Form::digits, .number = at, .number_rule = rule};
}
template <class T>
constexpr Member<T> number_member(std::string_view name, domain::ranktable::Number T::*at,
                                  std::string_view rule, Need need = Need::optional) {
  return {.name = name, .need = need, .form = Form::number, .number = at, .number_rule = rule};
}
template <class T>
constexpr Member<T> kept_member(std::string_view name) {
  return {.name = name};
}
template <class T>
constexpr Member<T> kept_text(std::string_view name) {
  return {.name = name, .form = Form::text};
}
template <class T>
constexpr Member<T> list_member(std::string_view name, void (*read)(TableReader&, JsonTree::Id, T&),
                                void (*write)(TableWriter&, std::string_view, const T&),
                                bool (*lists)(const T&), Need need = Need::optional) {
  return {.name = name, .need = need, .read = read, .write = write, .lists = lists};
}

}  // namespace chipweave::codec::ranktable
