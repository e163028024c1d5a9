// TableReader — walks a JSON tree by a schema and fills a RankTable; what does not fit the schema
// becomes findings (RT003 to RT006, and the rules of members that are no numbers), and reading goes
// on, so that one run names everything.
//
// Internal to common/codec/ranktable. Cost: linear in the tree; typing errors are looked for in the
// first kMaxUnknownLookedUp unknown members only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/ranktable/schema.hpp"
#include "common/domain/ranktable/finding.hpp"

namespace chipweave::codec::ranktable {

// "0", "12", "-1"; leading zeros only with `zeros`, which is then set. nullopt: anything else, and
// what does not fit 64 bits.
std::optional<std::int64_t> strict_number(std::string_view text, bool& zeros);

// JSON without white space between tokens.
std::string minified(std::string_view json);

class TableReader {
 public:
  static constexpr std::size_t kMaxUnknownLookedUp = 2000;
  using Id = JsonTree::Id;

  TableReader(const JsonTree& tree, const Schema& schema, domain::ranktable::Findings& findings)
      : tree_(tree), schema_(schema), findings_(findings) {}

  const JsonTree& tree() const { return tree_; }
  const Schema& schema() const { return schema_; }

  template <class T>
  void read_object(Id object, std::span<const Member<T>> members, T& out) {
    out.source.node = object;
    if (!expect(object, JsonTree::Kind::object, "an object")) return;
    std::uint64_t seen = 0;
    std::size_t guess = 0;
    std::string_view last_known;
    std::vector<Id> unknown;
    for (Id child = tree_.first(object); child != JsonTree::kNone;
         child = tree_.next(object, child)) {
      const std::size_t index = find_member(members, tree_.name(child), guess);
      if (index == members.size()) {
        keep(child, last_known, out.extras);
        unknown.push_back(child);
        continue;
      }
      guess = index + 1;
      const Member<T>& member = members[index];
      if ((seen >> index & 1U) != 0) continue;  // repeated: RT003, the first counts
      seen |= std::uint64_t{1} << index;
      read_member(child, member, last_known, out);
      if (member.text != nullptr || member.number != nullptr || member.read != nullptr) {
        last_known = member.name;
      }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].need == Need::required && (seen >> i & 1U) == 0) {
        missing(object, members[i].name);
      }
    }
    if (unknown.empty()) return;
    std::vector<std::string_view> known;
    for (const Member<T>& member : members) known.push_back(member.name);
    for (const Id member : unknown) look_up_unknown(member, known);
  }

  template <class T>
  void read_list(Id list, std::span<const Member<T>> members, std::vector<T>& out) {
    if (!expect(list, JsonTree::Kind::array, "an array")) return;
    out.reserve(tree_.child_count(list));
    for (Id child = tree_.first(list); child != JsonTree::kNone; child = tree_.next(list, child)) {
      read_object(child, members, out.emplace_back());
    }
  }

  // RT004 and false if the value is something else.
  bool expect(Id value, JsonTree::Kind kind, const char* wanted);
  domain::ranktable::Text read_text(Id value);

 private:
  template <class T>
  static std::size_t find_member(std::span<const Member<T>> members, std::string_view name,
                                 std::size_t guess) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t index = guess + i < members.size() ? guess + i : guess + i - members.size();
      if (members[index].name == name) return index;
    }
    return members.size();
  }

  template <class T>
  void read_member(Id value, const Member<T>& member, std::string_view after, T& out) {
    if (member.text != nullptr) {
      out.*member.text = read_text(value);
    } else if (member.number != nullptr) {
      out.*member.number = read_number(value, member.form, member.number_rule);
    } else if (member.read != nullptr) {
      member.read(*this, value, out);
    } else {
      if (member.form == Form::text) expect(value, JsonTree::Kind::string, "a string");
      keep(value, after, out.extras);
    }
  }

  domain::ranktable::Number read_number(Id value, Form form, std::string_view rule);
  void keep(Id member, std::string_view after, domain::ranktable::Extras& extras);
  void missing(Id object, std::string_view name);
  void look_up_unknown(Id member, const std::vector<std::string_view>& known);
  void add(std::string_view code, domain::ranktable::Severity severity, Id node,
           std::string message);

  const JsonTree& tree_;
  const Schema& schema_;
  domain::ranktable::Findings& findings_;
  std::size_t looked_up_ = 0;
};

}  // namespace chipweave::codec::ranktable
