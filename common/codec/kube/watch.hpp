// Lists and watches of the Kubernetes API as values: pages of objects, and the events of a stream.
//
// A watch is a sequence of JSON values, one per line; HTTP chunks can end anywhere. Only the parts
// of an object that placement reads are kept. Strict in syntax (broken JSON is an error anywhere),
// tolerant in content: unknown keys are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

enum class WatchKind { added, modified, deleted, bookmark, error };

// A Status object, the API server's answer to a rejected request. The message quotes what went
// wrong behind the API server, so that it comes without_secrets().
struct KubeStatus {
  int code = 0;
  std::string reason;  // "Expired", "Conflict", "NotFound" …
  std::string message;
  std::string cause = {};  // the first one: "NamespaceTerminating", "FieldValueInvalid" …
};

template <class Object>
struct WatchEvent {
  WatchKind kind = WatchKind::error;
  std::string resource_version;  // the object's; empty for an error
  bool initial_end = false;      // the bookmark that ends the initial events of a streaming list
  KubeStatus status;             // only for an error
  Object object;                 // only for added, modified and deleted
};

template <class Object>
struct ListPage {
  std::string resource_version;
  std::string next;  // metadata.continue; empty: this was the last page
  std::vector<Object> objects;
};

// A Node as placement sees it: its existence, the CPU and memory that it has for pods, which pods
// may run on it, and where it is in the network.
struct KubeNode {
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
  std::vector<domain::NodeTaint> taints;
  bool unschedulable = false;
  std::string cpu;  // quantities of status.allocatable; empty: not given
  std::string memory;
  std::string address;  // the first InternalIP of status.addresses, which is its pods' hostIP
};

// A Node as its own agent sees it: labels and annotations.
struct KubeNodeMetadata {
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
};

// A NodeInventory: its status as sent, for inventory.hpp.
struct KubeInventory {
  std::string name;  // the node's
  std::string uid;
  std::string resource_version;
  std::string status;  // JSON; empty: it has none
};

// An object of which only the text counts, for readers of their own: the spec of a HyperNode, the
// data of a ConfigMap.
struct KubeDocument {
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string spec;  // JSON; empty: it has none
  std::string data;  // likewise
};

// A Pod as the agent of its node sees it for the file of its rank table: the marks of its job, and
// the folder of the host behind its volume of this name.
inline constexpr const char* kRankTableVolume = "ranktable";
struct KubeRankTablePod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string node;
  bool ended = false;  // its containers have run: phase Succeeded or Failed
  StringMap labels;
  StringMap annotations;
  std::optional<std::string> folder;  // hostPath; nullopt: it has no such volume
};

// A Lease: its holder, and how long it holds without a renewal.
struct KubeLease {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string holder;                 // empty: not held
  std::int64_t duration_seconds = 0;  // 0: not given
  std::int64_t transitions = 0;
};

// A ConfigMap, without its binaryData.
struct KubeConfigMap {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
  StringMap data;
};

// A ResourceClaim (DRA): the devices that are allocated for it, and for whom.
struct ClaimedDevice {
  std::string driver;
  std::string pool;
  std::string device;
  friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};
// What a claim, or a class, hands to drivers: JSON of {driver, parameters}, as it was written.
struct OpaqueConfig {
  std::vector<std::string> requests;  // it applies to; empty: to all
  std::string opaque;
};
// One request of a claim.
struct DeviceRequest {
  std::string name;
  std::string device_class;
  std::int64_t count = 1;
  std::string problem;  // what it asks for besides a number of devices; empty: nothing
};
// The devices of these requests (empty: of all) must have the same value of the attribute.
struct MatchAttribute {
  std::vector<std::string> requests;
  std::string attribute;  // "domain/name"
};
struct ClaimConsumer {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;
};
struct KubeClaim {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  bool ending = false;  // being deleted
  StringMap labels;
  StringMap annotations;
  std::vector<std::string> finalizers;
  std::vector<DeviceRequest> requests;
  std::vector<MatchAttribute> match;
  std::string problem;  // what its constraints ask for besides; empty: nothing
  std::vector<OpaqueConfig> configs;
  bool allocated = false;
  std::vector<domain::NodeTerm> node_terms;  // where it is allocated; none: anywhere
  std::vector<ClaimedDevice> devices;
  std::vector<ClaimConsumer> consumers;
  std::vector<std::string> pods;  // uids of the pods among them
};

// A DeviceClass (DRA).
struct KubeDeviceClass {
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
  std::vector<std::string> selectors;  // CEL; all must be true of a device
  std::vector<OpaqueConfig> configs;
};

// A ResourceSlice (DRA): devices that a driver offers on a node, as one part of a pool.
struct SliceDevice {
  std::string name;
  std::string uuid;  // attributes that say which chip it is; empty: not given
  std::string pci;
  bool managed = false;  // has the taint kManagedTaint: no other allocator gives it away
  // Of all its attributes: "s:", "i:", "b:" or "v:", by type, and the value; without a domain: in
  // the driver's.
  StringMap attributes{};
};
struct KubeSlice {
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string driver;
  std::string node;  // empty: devices that several nodes reach
  std::string pool;
  std::int64_t generation = 0;  // of the pool: slices of an older one do not count
  std::vector<SliceDevice> devices;
};
inline constexpr const char* kManagedTaint = "chipweave.dev/managed";

// Reads pages and events of one kind of object; keeps its buffers. Object: one of the above.
// Texts get at least 64 bytes of capacity behind their end. Not thread-safe.
template <class Object>
class WatchReader {
 public:
  WatchReader();
  ~WatchReader();
  WatchReader(const WatchReader&) = delete;
  WatchReader& operator=(const WatchReader&) = delete;

  // Errors: invalid_argument, with the key if it is one of ours.
  Result<ListPage<Object>> read_page(std::string& body);
  Result<WatchEvent<Object>> read_event(std::string& line);
  // One object, as a GET returns it.
  Result<Object> read_one(std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class WatchReader<KubePod>;
extern template class WatchReader<KubeRankTablePod>;
extern template class WatchReader<KubeNode>;
extern template class WatchReader<KubeNodeMetadata>;
extern template class WatchReader<KubeInventory>;
extern template class WatchReader<KubeLease>;
extern template class WatchReader<KubeConfigMap>;
extern template class WatchReader<KubeClaim>;
extern template class WatchReader<KubeSlice>;
extern template class WatchReader<KubeDeviceClass>;
extern template class WatchReader<KubeGangObject>;
extern template class WatchReader<KubeDocument>;

// The body of a refused request; code 0 and the start of the body as the message if the body is not
// a Status (429 comes as plain text).
KubeStatus read_status(std::string& body);

// Splits a stream into lines. A line that exceeds the limit ends the stream, since the bytes after
// it cannot be trusted.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes) : max_(max_line_bytes) {}
  // Adds received bytes; false: a line is too long.
  bool feed(std::string_view bytes);
  // The next complete line without its end, skipping empty lines; null: there is none yet. Valid
  // until the next call.
  std::string* next();

 private:
  std::size_t max_;
  std::string pending_;
  std::size_t at_ = 0;       // everything before it has been returned
  std::size_t scanned_ = 0;  // no end of a line from at_ to here
  std::string line_;
};

}  // namespace chipweave::codec
