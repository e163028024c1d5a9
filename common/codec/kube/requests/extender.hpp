// kube-scheduler's extender/v1 requests, read straight from the body (simdjson On Demand).
//
// Node names are views into the body, or into the reader's own buffer if they contain escapes;
// valid until the reader's next read or destruction, and as long as the body. Keys match
// case-insensitively, unknown keys are skipped but checked, as Go's decoder does; duplicates: last
// wins. Cost: about 60 µs for 5,000 names and a Pod of 6 KB; no allocation per name. Not
// thread-safe: one owner (the loop). Replies: plain appending, see
// scheduler-plugin/server/extender_reply.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {

struct ExtenderArgs {
  KubePod pod;
  bool names_given = false;             // NodeNames was not null
  bool nodes_given = false;             // Nodes was not null
  std::vector<std::string_view> names;  // from NodeNames, else from Nodes.items
  std::vector<std::string_view>
      items;  // the Node objects as sent, by the order of `names`; only if nodes_given
  std::vector<std::string_view> tokens;  // the names as sent, in quotes; empty: all are plain

  // The name as JSON text. At least kReadable bytes can be read from its start, even if it is
  // shorter.
  std::string_view quoted(std::size_t position) const {
    if (!tokens.empty()) return tokens[position];
    const std::string_view name = names[position];
    return {name.data() - 1, name.size() + 2};
  }
  static constexpr std::size_t kReadable = 32;
};

struct ExtenderBindingArgs {
  std::string pod_name, pod_namespace, pod_uid, node;
};

struct PreemptionNode {
  std::string node;
  std::vector<std::string> victim_uids;
  std::int64_t pdb_violations = 0;
};
struct ExtenderPreemptionArgs {
  KubePod pod;
  std::vector<PreemptionNode> nodes;
};

class ExtenderReader {
 public:
  ExtenderReader();
  ~ExtenderReader();
  ExtenderReader(const ExtenderReader&) = delete;
  ExtenderReader& operator=(const ExtenderReader&) = delete;

  // body: needs 64 bytes of spare capacity (grown here otherwise). The result is overwritten; its
  // buffers are kept for the next call.
  Result<void> read_args(std::string& body, ExtenderArgs& to);
  Result<ExtenderBindingArgs> read_binding(std::string& body);
  Result<ExtenderPreemptionArgs> read_preemption(std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::codec
