// StoredObject — what the writer of an object must know about the stored version: its
// resourceVersion, whether it has an owner, and for a NodeInventory who wrote it last.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

// The version of the object that a write replaces; the API server rejects it (409) for any other.
struct ObjectVersion {
  std::string uid;
  std::string resource_version;
};

struct StoredObject {
  ObjectVersion version;
  bool owned = false;  // has ownerReferences
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
