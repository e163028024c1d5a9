// TableReader — walks a JSON tree by a schema and fills a RankTable. What does not fit the schema
// becomes a finding (RT003 to RT006, and the rules of members that are not numbers), and reading
// goes on, so that one run names everything.
//
// Internal to common/codec/ranktable. Cost: linear in the tree; only the first kMaxUnknownLookedUp
// unknown members are checked for typing errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/ranktable/schema/schema.hpp"
#include "common/domain/ranktable/lint/finding.hpp"

namespace chipweave::codec::ranktable {

// "0", "12", "-1" of up to 18 digits; zeros: whether it has leading ones. None: anything else.
inline domain::ranktable::Number strict_number(std::string_view text, bool& zeros) {
  constexpr std::size_t kMaxDigits = 18;  // always fit 64 bits
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  zeros = digits.size() > 1 && digits.front() == '0';
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (digits.size() == text.size()) return value;
  zeros = zeros || value == 0;  // "-0"
  return -value;
}

// JSON without white space between tokens.
std::string minified(std::string_view json);

class TableReader {
 public:
  static constexpr std::size_t kMaxUnknownLookedUp = 2000;
  // Servers, devices, layers and addresses of a table, all together.
  static constexpr std::size_t kMaxEntries = 2'000'000;
  using Id = JsonTree::Id;

  TableReader(const JsonTree& tree, const Schema& schema, domain::ranktable::Findings& findings)
      : tree_(tree), schema_(schema), findings_(findings) {}

  // After the last object.
  void finish(domain::ranktable::Source table) const { limit_.add_summaries(table, findings_); }

  const JsonTree& tree() const { return tree_; }
  const Schema& schema() const { return schema_; }

  // The bits of the members that an object must have.
  template <class T>
  static std::uint64_t required(std::span<const Member<T>> members) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].need == Need::required) out |= std::uint64_t{1} << i;
    }
    return out;
  }

  template <class T>
  void read_object(Id object, std::span<const Member<T>> members, T& out) {
    if (expect(object, JsonTree::Kind::object, "an object")) {
      read_members(object, members, required(members), out);
    }
  }

  template <class T>
  void read_list(Id list, std::span<const Member<T>> members, std::vector<T>& out) {
    if (!expect(list, JsonTree::Kind::array, "an array")) return;
    out.reserve(std::min(tree_.child_count(list), kMaxEntries - entries_));
    const std::uint64_t required_bits = required(members);
    for (Id child = tree_.first(list); child != JsonTree::kNone; child = tree_.next(list, child)) {
      if (!expect(child, JsonTree::Kind::object, "an object")) continue;
      if (entries_ == kMaxEntries) return too_many(list);
      ++entries_;
      read_members(child, members, required_bits, out.emplace_back());
    }
  }
  // False and RT004 if the value is of another kind.
  bool expect(Id value, JsonTree::Kind kind, const char* wanted) {
    if (tree_.is(value, kind)) return true;
    wrong_type(value, wanted);
    return false;
  }
  // A number is reported and its text used; anything else is reported and skipped.
  template <class AnyText>
  void read_text(Id value, AnyText& out) {
    if (expect(value, JsonTree::Kind::string, "a string in double quotes") ||
        tree_.is(value, JsonTree::Kind::number)) {
      out.emplace(tree_.text(value));
    }
  }

 private:
  // Precondition: `object` is one. required_bits: required(members), which lists work out once.
  template <class T>
  void read_members(Id object, std::span<const Member<T>> members, std::uint64_t required_bits,
                    T& out) {
    out.source.node = object;
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
      if (member.is_modelled()) last_known = member.name;
    }
    for (std::size_t i = 0; (seen & required_bits) != required_bits && i < members.size(); ++i) {
      if ((~seen & required_bits) >> i & 1U) missing(object, members[i].name);
    }
    if (unknown.empty()) return;
    std::vector<std::string_view> known;
    for (const Member<T>& member : members) known.push_back(member.name);
    for (const Id member : unknown) look_up_unknown(member, known);
  }

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
      read_text(value, out.*member.text);
    } else if (member.rare != nullptr) {
      read_text(value, out.*member.rare);
    } else if (member.number != nullptr) {
      out.*member.number = read_number(value, member.form, member.number_rule);
    } else if (member.read != nullptr) {
      member.read(*this, value, out);
    } else {
      if (member.form == Form::text) expect(value, JsonTree::Kind::string, "a string");
      keep(value, after, out.extras);
    }
  }

  void wrong_type(Id value, const char* wanted);
  void too_many(Id list);
  domain::ranktable::Number read_number(Id value, Form form, std::string_view rule) {
    const bool right =
        tree_.is(value, form == Form::number ? JsonTree::Kind::number : JsonTree::Kind::string);
    bool zeros = false;
    const domain::ranktable::Number out =
        right ? strict_number(tree_.text(value), zeros) : domain::ranktable::Number();
    return out && !zeros ? out : read_odd_number(value, form, rule);
  }
  // The slow path: a wrong type, leading zeros, or not a number.
  domain::ranktable::Number read_odd_number(Id value, Form form, std::string_view rule);
  void keep(Id member, std::string_view after, domain::ranktable::Extras& extras);
  void missing(Id object, std::string_view name);
  void look_up_unknown(Id member, const std::vector<std::string_view>& known);
  void add(std::string_view code, domain::ranktable::Severity severity, Id node,
           std::string message);

  const JsonTree& tree_;
  const Schema& schema_;
  domain::ranktable::Findings& findings_;
  domain::ranktable::FindingLimit limit_;
  std::size_t looked_up_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace chipweave::codec::ranktable
