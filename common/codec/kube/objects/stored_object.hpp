// StoredObject — what the writer of an object must know about the stored version: its
// resourceVersion, whether it has an owner, and for a NodeInventory who wrote it last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

// The version of the object that a write replaces; the API server rejects it (409) for any other.
struct ObjectVersion {
  std::string uid;
  std::string resource_version;
};

// An ownerReference: an object of the same namespace, or of none. With its last owner the object is
// deleted.
struct ObjectOwner {
  std::string api_version;  // "batch/v1"
  std::string kind;
  std::string name;
  std::string uid;
  friend bool operator==(const ObjectOwner&, const ObjectOwner&) = default;
};

struct StoredObject {
  ObjectVersion version;
  std::vector<std::string> owners;  // uids of its ownerReferences
  // status.bootId and status.sequence; empty and 0 if absent.
  std::string boot_id;
  std::int64_t sequence = 0;
  StringMap labels;
  StringMap data;  // only of a ConfigMap, without binaryData
};

// An object of any kind. `body` may get a larger capacity. Errors: invalid_argument, naming the key
// if it is one of ours.
Result<StoredObject> read_stored_object(std::string& body);

}  // namespace chipweave::codec
