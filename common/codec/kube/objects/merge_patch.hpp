// Changes to texts of an object as a merge patch of one version of it: what others put beside our
// keys stays, and of two who write at once only one succeeds (409).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/codec/kube/objects/stored_object.hpp"

namespace chipweave::codec {

// A key without a value is removed.
using StringChanges = std::map<std::string, std::optional<std::string>, std::less<>>;

struct ObjectChanges {
  StringChanges labels;
  StringChanges annotations;
  StringChanges data = {};  // of a ConfigMap

  bool none() const { return labels.empty() && annotations.empty() && data.empty(); }
  friend bool operator==(const ObjectChanges&, const ObjectChanges&) = default;
};

std::string write_merge_patch(const ObjectVersion& of, const ObjectChanges& changes);
// The options of a DELETE that is meant for this version only.
std::string write_delete_options(const ObjectVersion& of);

}  // namespace chipweave::codec
