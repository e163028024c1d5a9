// Which dialect an object is, by the members that are present, never by the name of its file.
//
// Internal to common/codec/ranktable.
#pragma once

#include <optional>
#include <string>

#include "common/codec/json/json_tree.hpp"
#include "common/domain/ranktable/dialect.hpp"

namespace chipweave::codec::ranktable {

struct Detected {
  std::optional<domain::ranktable::Dialect> dialect;
  // Without dialect: what it is instead, or what is missing. Empty for a place-holder.
  std::string reason;
  bool placeholder = false;  // {"status": "initializing"}: not written yet
};

// Cost: linear in the children of the table's lists, the first match ends it.
Detected detect(const JsonTree& tree, JsonTree::Id object);

}  // namespace chipweave::codec::ranktable
