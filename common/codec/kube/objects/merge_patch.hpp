// Changes to an object's strings as a merge patch of one version of it: keys of others stay, and of
// two concurrent writers only one succeeds (the other gets 409).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/kube/objects/stored_object.hpp"

namespace chipweave::codec {

// A key without a value is removed.
using StringChanges = std::map<std::string, std::optional<std::string>, std::less<>>;

struct ObjectChanges {
  StringChanges labels;
  StringChanges annotations;
  StringChanges data = {};               // only for a ConfigMap
  std::vector<ObjectOwner> owners = {};  // in place of those that it has; empty: these stay

  bool none() const {
    return labels.empty() && annotations.empty() && data.empty() && owners.empty();
  }
  friend bool operator==(const ObjectChanges&, const ObjectChanges&) = default;
};

std::string write_merge_patch(const ObjectVersion& of, const ObjectChanges& changes);
// The options of a DELETE of exactly this version.
std::string write_delete_options(const ObjectVersion& of);

}  // namespace chipweave::codec
