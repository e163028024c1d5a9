// Lists and watches of the Kubernetes API as values: pages of objects, and the events of a stream.
//
// A watch is JSON values one after the other, each on a line of its own; HTTP chunks end anywhere.
// Only what placement reads is kept of an object. Strict in form (broken JSON is an error, wherever
// it stands), tolerant in content: unknown keys are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

enum class WatchKind { added, modified, deleted, bookmark, error };

// What the API server says when it refuses: a Status object.
struct KubeStatus {
  int code = 0;
  std::string reason;  // "Expired", "Conflict", "NotFound" …
  std::string message;
  std::string cause = {};  // the first of several: "NamespaceTerminating", "FieldValueInvalid" …
};

template <class Object>
struct WatchEvent {
  WatchKind kind = WatchKind::error;
  std::string resource_version;  // of the object; empty for an error
  bool initial_end = false;      // the bookmark that ends the initial events of a streaming list
  KubeStatus status;             // of an error
  Object object;                 // of added, modified and deleted
};

template <class Object>
struct ListPage {
  std::string resource_version;
  std::string next;  // metadata.continue; empty: this was the last page
  std::vector<Object> objects;
};

// A Node as placement sees it: that it exists.
struct KubeNode {
  std::string name;
  std::string uid;
  std::string resource_version;
};

// A Node as its own agent sees it: what people and programs hang on it.
struct KubeNodeMetadata {
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
};

// A NodeInventory: its status as it was sent, for inventory.hpp.
struct KubeInventory {
  std::string name;  // of the node
  std::string uid;
  std::string resource_version;
  std::string status;  // JSON; empty: it has none
};

// A Lease: who holds it, and for how long without a renewal.
struct KubeLease {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string holder;                 // empty: not held
  std::int64_t duration_seconds = 0;  // 0: not said
  std::int64_t transitions = 0;
};

// A ResourceClaim (DRA): the devices that are allocated for it.
struct ClaimedDevice {
  std::string driver;
  std::string pool;
};
struct KubeClaim {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::vector<ClaimedDevice> devices;
};

// Reads pages and events of one kind of object; keeps its buffers. Object: one of the above.
// Texts get at least 64 bytes of capacity behind their end. Not thread-safe.
template <class Object>
class WatchReader {
 public:
  WatchReader();
  ~WatchReader();
  WatchReader(const WatchReader&) = delete;
  WatchReader& operator=(const WatchReader&) = delete;

  // Errors: invalid_argument, with the key where it is one of ours.
  Result<ListPage<Object>> read_page(std::string& body);
  Result<WatchEvent<Object>> read_event(std::string& line);
  // One object, as a GET of it answers.
  Result<Object> read_one(std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class WatchReader<KubePod>;
extern template class WatchReader<KubeNode>;
extern template class WatchReader<KubeNodeMetadata>;
extern template class WatchReader<KubeInventory>;
extern template class WatchReader<KubeLease>;
extern template class WatchReader<KubeClaim>;

// The body of a refused request; code 0 and the start of the body as the message if the body is not
// a Status (429 comes as plain text).
KubeStatus read_status(std::string& body);

// Cuts a stream into lines. A line that grows beyond the limit ends the stream: what comes after it
// cannot be trusted.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes) : max_(max_line_bytes) {}
  // Takes what came; false: a line is too long.
  bool feed(std::string_view bytes);
  // The next whole line without its end, empty lines left out; null: there is none yet. Valid until
  // the next call.
  std::string* next();

 private:
  std::size_t max_;
  std::string pending_;
  std::size_t at_ = 0;       // what is before was handed out
  std::size_t scanned_ = 0;  // no end of a line from at_ to here
  std::string line_;
};

}  // namespace chipweave::codec
