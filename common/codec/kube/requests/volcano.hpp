// Requests of Volcano's extender plugin, read straight from the body (simdjson On Demand).
//
// A predicate brings the whole node with every pod on it, a prioritize all candidate nodes: up to
// hundreds of megabytes, of which names are wanted. What is not wanted is stepped over without
// being looked at: the body comes from Go's encoder, and what it says of nodes is not used. The pod
// of a task is read only if the caller does not know it. Cost: some 0.4 ns a byte, no allocation a
// node. Keys match without regard to case; unknown ones are skipped. Not thread-safe: one owner
// (the loop).
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
  // Bits of Status; others mean that the pod waits, runs or is over.
  static constexpr std::int64_t kPending = 1;
  static constexpr std::int64_t kAllocated = 2;

  std::string ns;
  std::string name;
  std::string uid;
  std::string node;         // where the session has put it for now; empty: nowhere
  std::int64_t status = 0;  // a single bit
  bool pod_read = false;
  KubePod pod;  // only if pod_read
};

// A candidate of a predicate.
struct VolcanoNode {
  std::string name;
  StringMap idle;  // extended resource → what is free now, in thousandths, as written

  // In thousandths; 0 where the request does not say it.
  double idle_of(std::string_view resource) const;
};

struct VolcanoEvictee {
  std::string uid;
  std::string node;
  std::string_view text;  // the whole TaskInfo as sent; the reply must repeat it
};

class VolcanoReader {
 public:
  // Whether the pod of this task (its ns, name and uid are filled) need not be read.
  using Known = std::function<bool(const VolcanoTask&)>;

  VolcanoReader();
  ~VolcanoReader();
  VolcanoReader(const VolcanoReader&) = delete;
  VolcanoReader& operator=(const VolcanoReader&) = delete;

  // Results are overwritten; views live until the next call and as long as the body. A body has at
  // least 64 bytes of capacity behind its end, or is grown here. Errors: invalid_argument, with the
  // key where it is one of ours.
  Result<void> read_predicate(std::string& body, const Known& known, VolcanoTask& task,
                              VolcanoNode& node);
  // nodes: empty also where the request has null.
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
