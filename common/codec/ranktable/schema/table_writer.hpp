// TableWriter — writes a RankTable by the schema of its dialect: members in the order of the
// dialect's main producer, kept members behind the ones they followed.
//
// Internal to common/codec/ranktable; callers use rank_table.hpp. Cost: linear in the text.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/schema/schema.hpp"

namespace chipweave::codec::ranktable {

class TableWriter {
 public:
  TableWriter(const Schema& schema, std::size_t indent) : schema_(schema), json_(indent) {}

  const Schema& schema() const { return schema_; }
  JsonWriter& json() { return json_; }
  std::string take() { return json_.take(); }

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
        if (belongs(extra) && !said_by_model(extra.name))
          json_.key(extra.name).reformatted(extra.json);
      }
    };
    json_.begin_object();
    write_kept([](const auto& extra) { return extra.after.empty(); });
    for (const Member<T>& member : members) {
      if (member.is_modelled() && member.is_in(object)) write_member(object, member);
      if (object.extras.empty() || !member.is_modelled()) continue;
      write_kept([&](const auto& extra) { return extra.after == member.name; });
    }
    write_kept([&](const auto& extra) { return !extra.after.empty() && !is_after(extra.after); });
    json_.end_object();
  }

  template <class T>
  void write_list(std::string_view name, const std::vector<T>& list,
                  std::span<const Member<T>> members) {
    json_.key(name).begin_array();
    for (const T& each : list) write_object(each, members);
    json_.end_array();
  }

 private:
  // Precondition: member.is_in(object).
  template <class T>
  void write_member(const T& object, const Member<T>& member) {
    if (member.write != nullptr) {
      member.write(*this, member.name, object);
      return;
    }
    json_.key(member.name);
    if (member.text != nullptr) {
      json_.string(*(object.*member.text));
    } else if (member.rare != nullptr) {
      json_.string(*(object.*member.rare));
    } else if (member.form == Form::number) {
      json_.integer(*(object.*member.number));
    } else {
      json_.string(std::to_string(*(object.*member.number)));
    }
  }

  const Schema& schema_;
  JsonWriter json_;
};

}  // namespace chipweave::codec::ranktable
