// PodBook — the pods of this node that want chips, as the API server shows them, and the chips that
// the scheduler has chosen for them. Pods that are gone are remembered for a while: the kubelet may
// still be admitting them. No I/O, no clock.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/placement.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/device_plugin/core/devices.hpp"

namespace chipweave::device_plugin {

inline constexpr const char* kPlacementAnnotation = "chipweave.dev/placement";

// A container that requests chips, in the order in which the kubelet admits them.
struct AskingContainer {
  std::string name;
  int count = 0;
  bool init = false;  // it ends before the others start, and they get its chips
};

struct PodRecord {
  std::string key;  // "namespace/name"
  std::string uid;
  std::vector<AskingContainer> containers;  // empty: the pod wants no chips
  std::string placement;                    // the annotation; empty: none
  bool over = false;                        // all its containers have ended
  bool running = false;
  bool ending = false;
  bool gone = false;  // the API server has it no more
};

// The chips that the annotation gives to the pod.
struct Decision {
  ChipSet chips;
  std::map<std::string, ChipSet> parts;  // by container; empty: not said
};

// Errors: the annotation is not for this pod, node and resource, or names chips that the machine
// does not have.
Result<Decision> read_decision(const PodRecord& pod, const std::string& node,
                               const std::string& resource, const Devices& devices);

class PodBook {
 public:
  PodBook(std::string node, std::string resource)
      : node_(std::move(node)), resource_(std::move(resource)) {}

  void take(const codec::KubePod& pod);
  void drop(const std::string& key);

  // The pod of that name: the one that exists, else the last one that did; null: never seen.
  const PodRecord* find(const std::string& key) const;
  // Those that exist, by key.
  const std::map<std::string, PodRecord>& pods() const { return pods_; }
  const std::string& node() const { return node_; }
  const std::string& resource() const { return resource_; }

 private:
  std::string node_;
  std::string resource_;
  std::map<std::string, PodRecord> pods_;
  std::map<std::string, PodRecord> gone_;
  std::deque<std::string> gone_order_;  // oldest first
};

inline constexpr std::size_t kMaxGonePods = 1024;

}  // namespace chipweave::device_plugin
