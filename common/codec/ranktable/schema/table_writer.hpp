// TableWriter — writes a RankTable by the schema of its dialect: members in the order of the
// dialect's main producer, kept members behind the ones they followed.
//
// Internal to common/codec/ranktable; callers use rank_table.hpp. Cost: linear in the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/schema/schema.hpp"

namespace chipweave::codec::ranktable {

class TableWriter {
 public:
  TableWriter(const Schema& schema, const Layout& layout) : schema_(schema), layout_(layout) {}

  const Schema& schema() const { return schema_; }
  std::string take() { return std::move(out_); }

  // Skips a kept member if the model has a value for that name: the table was read in another
  // dialect.
  template <class T>
  void write_object(const T& object, std::span<const Member<T>> members) {
    const auto said_by_model = [&](std::string_view name) {
      return std::any_of(members.begin(), members.end(), [&](const Member<T>& member) {
        return member.name == name && member.is_modelled() && member.is_in(object);
      });
    };
    const auto is_after = [&](std::string_view name) {
      return std::any_of(members.begin(), members.end(), [&](const Member<T>& member) {
        return member.is_modelled() && member.name == name;
      });
    };
    const auto write_kept = [&](const auto& belongs) {
      for (const auto& extra : object.extras) {
        if (belongs(extra) && !said_by_model(extra.name)) write_raw(extra.name, extra.json);
      }
    };
    open('{');
    write_kept([](const auto& extra) { return extra.after.empty(); });
    for (const Member<T>& member : members) {
      if (member.is_modelled() && member.is_in(object)) write_member(object, member);
      if (object.extras.empty() || !member.is_modelled()) continue;
      write_kept([&](const auto& extra) { return extra.after == member.name; });
    }
    write_kept([&](const auto& extra) { return !extra.after.empty() && !is_after(extra.after); });
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
  // A member whose value is JSON; its layout is adapted.
  void write_raw(std::string_view name, std::string_view json);

 private:
  // Precondition: member.is_in(object).
  template <class T>
  void write_member(const T& object, const Member<T>& member) {
    if (member.write != nullptr) {
      member.write(*this, member.name, object);
      return;
    }
    key(member.name);
    if (member.text != nullptr) {
      string(*(object.*member.text));
    } else if (member.rare != nullptr) {
      string(*(object.*member.rare));
    } else if (member.form == Form::number) {
      number(*(object.*member.number));
    } else {
      string(std::to_string(*(object.*member.number)));
    }
  }

  void line();

  const Schema& schema_;
  Layout layout_;
  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // no element yet in this container
};

}  // namespace chipweave::codec::ranktable
