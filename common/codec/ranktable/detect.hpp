// detect — the dialect of an object, by the members that are present, never by the file name.
//
// Internal to common/codec/ranktable.
#pragma once

#include <optional>
#include <string>

#include "common/codec/json/json_value.hpp"
#include "common/domain/ranktable/dialect.hpp"

namespace chipweave::codec::ranktable {

struct Detected {
  std::optional<domain::ranktable::Dialect> dialect;
  // Without dialect: what it is instead, or what is missing. Empty for a placeholder.
  std::string reason = {};
  bool placeholder = false;  // {"status": "initializing"}: not written yet
};

// Cost: linear in the children of the table's lists; ends at the first match.
Detected detect(const JsonTree& tree, JsonTree::Id object);

// The JSON pointer of the first rank table inside `object`, up to three levels deep; also one that
// is a string of JSON. "" if there is none. Cost: linear.
std::string find_wrapped(const JsonTree& tree, JsonTree::Id object);

}  // namespace chipweave::codec::ranktable
