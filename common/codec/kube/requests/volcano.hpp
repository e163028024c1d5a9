// Requests of Volcano's extender plugin, read straight from the body (simdjson On Demand).
//
// A predicate request contains the whole node with every pod on it, a prioritize request all
// candidate nodes: up to hundreds of megabytes, of which only names are needed. The rest is skipped
// unchecked, since the body comes from Go's encoder. The pod of a task is read only if the caller
// does not know it. Cost: some 0.4 ns per byte, no allocation per node. Keys match
// case-insensitively; unknown ones are skipped. Not thread-safe: one owner (the loop).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

// One pod as a session sees it.
struct VolcanoTask {
  // Bits of Status; others mean that the pod waits, runs or has finished.
  static constexpr std::int64_t kPending = 1;
  static constexpr std::int64_t kAllocated = 2;

  std::string ns;
  std::string name;
  std::string uid;
  std::string node;         // where the session has placed it for now; empty: nowhere
  std::int64_t status = 0;  // a single bit
  bool pod_read = false;
  KubePod pod;  // only if pod_read
};

// A candidate of a predicate.
struct VolcanoNode {
  std::string name;
  StringMap idle;  // extended resource → free amount in thousandths, as written

  // In thousandths; 0 if the request does not give it.
  double idle_of(std::string_view resource) const;
};

struct VolcanoEvictee {
  std::string uid;
  std::string node;
  std::string_view text;  // the whole TaskInfo as sent; the reply must repeat it
};

class VolcanoReader {
 public:
  // Whether the pod of this task need not be read; its ns, name and uid are set.
  using Known = std::function<bool(const VolcanoTask&)>;

  VolcanoReader();
  ~VolcanoReader();
  VolcanoReader(const VolcanoReader&) = delete;
  VolcanoReader& operator=(const VolcanoReader&) = delete;

  // Results are overwritten; views are valid until the next call and as long as the body. A body
  // needs 64 bytes of spare capacity (grown here otherwise). Errors: invalid_argument, with the key
  // if it is one of ours.
  Result<void> read_predicate(std::string& body, const Known& known, VolcanoTask& task,
                              VolcanoNode& node);
  // nodes: also empty if the request has null.
  Result<void> read_prioritize(std::string& body, const Known& known, VolcanoTask& task,
                               std::vector<std::string_view>& nodes);
  // allocate, deallocate
  Result<void> read_event(std::string& body, const Known& known, VolcanoTask& task);
  // preemptable, reclaimable
  Result<void> read_eviction(std::string& body, const Known& known, VolcanoTask& evictor,
                             std::vector<VolcanoEvictee>& evictees);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::codec
