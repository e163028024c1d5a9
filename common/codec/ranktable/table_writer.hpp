// TableWriter — writes a RankTable by the schema of its dialect: members in the order of the
// dialect's main producer, kept members behind the ones they followed.
//
// Internal to common/codec/ranktable; rank_table.hpp has the door. Cost: linear in the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/schema.hpp"

namespace chipweave::codec::ranktable {

class TableWriter {
 public:
  TableWriter(const Schema& schema, const Layout& layout) : schema_(schema), layout_(layout) {}

  const Schema& schema() const { return schema_; }
  std::string take() { return std::move(out_); }

  template <class T>
  void write_object(const T& object, std::span<const Member<T>> members) {
    open('{');
    write_kept(object.extras, {});
    for (const Member<T>& member : members) {
      write_member(object, member);
      if (is_modelled(member)) write_kept(object.extras, member.name);
    }
    for (const auto& extra : object.extras) {
      const bool follows = std::any_of(members.begin(), members.end(), [&](const Member<T>& m) {
        return is_modelled(m) && m.name == extra.after;
      });
      if (!follows && !extra.after.empty()) write_raw(extra.name, extra.json);
    }
    close('}');
  }

  template <class T>
  void write_list(std::string_view name, const std::vector<T>& list,
                  std::span<const Member<T>> members) {
    key(name);
    open('[');
    for (const T& each : list) {
      element();
      write_object(each, members);
    }
    close(']');
  }

  void key(std::string_view name);
  void string(std::string_view text);
  void number(std::int64_t number);
  void open(char bracket);
  void close(char bracket);
  // Before each element of an array.
  void element();
  // A member whose value is JSON already; it is laid out anew.
  void write_raw(std::string_view name, std::string_view json);

 private:
  template <class T>
  static bool is_modelled(const Member<T>& member) {
    return member.text != nullptr || member.number != nullptr || member.write != nullptr;
  }

  template <class T>
  void write_member(const T& object, const Member<T>& member) {
    if (member.text != nullptr && object.*member.text) {
      key(member.name);
      string(*(object.*member.text));
    } else if (member.number != nullptr && object.*member.number) {
      key(member.name);
      if (member.form == Form::number) {
        number(*(object.*member.number));
      } else {
        string(std::to_string(*(object.*member.number)));
      }
    } else if (member.write != nullptr) {
      member.write(*this, member.name, object);
    }
  }

  void write_kept(const domain::ranktable::Extras& extras, std::string_view after);
  void line();

  const Schema& schema_;
  Layout layout_;
  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // nothing stands before in this container
};

}  // namespace chipweave::codec::ranktable
