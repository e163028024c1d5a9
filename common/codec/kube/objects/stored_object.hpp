// StoredObject — what the writer of an object must know of it as the API server holds it: which
// state that is, whether somebody owns it, and of a NodeInventory who wrote it last.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Which state of which object a write is meant for: the API server refuses it (409) for any other.
struct ObjectVersion {
  std::string uid;
  std::string resource_version;
};

struct StoredObject {
  ObjectVersion version;
  bool owned = false;  // has ownerReferences
  // status.bootId and status.sequence; empty and 0 where there are none.
  std::string boot_id;
  std::int64_t sequence = 0;
};

// An object of any kind. `body` may get a larger capacity. Errors: invalid_argument, naming the key
// where it is one of ours.
Result<StoredObject> read_stored_object(std::string& body);

}  // namespace chipweave::codec
