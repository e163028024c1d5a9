// CompatPublisher — tells the components of others what this node is, in their own words: labels,
// annotations and ConfigMaps of MindCluster, ACK, GPU Feature Discovery and Node Feature Discovery.
// The same objects say what people ask of it (node_wishes.hpp), which it hands on.
//
// An agent that starts knows at first neither what people ask of it nor which faults its run before
// held. So it listens before anything is written of its chips, and says nothing of them in other
// words before its inventory has said it: otherwise each start would give chips out of service
// away.
//
// What is said follows from the newest state alone (compat/*), each object is kept by a keeper of
// its own, so that a slow one holds up no other. Nothing is deleted at the end.
// Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/codec/agent/chip_list_annotation.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

struct CompatOptions {
  std::string node;           // a DNS subdomain, checked before
  bool mindcluster = false;   // ConfigMaps, annotations and labels of Ascend nodes
  bool ack = false;           // the ConfigMap of nodes that are in ACK's topology mode
  bool labels = false;        // chipweave.dev/vendor, /topology, /chips
  bool gfd_labels = false;    // nvidia.com/gpu.product …
  bool metax_labels = false;  // metax-tech.com/gpu.product …
  std::string nfd_file;       // a feature file with chipweave's labels; empty: none
  std::uint64_t seed = 0;     // of the jitter
};

// All may be empty.
struct CompatEvents {
  // The wishes of people, of chips that the machine has: out of service, and faults to be
  // forgotten.
  std::function<void(const codec::ChipSelection&)> cordon;
  std::function<void(const codec::ChipSelection&)> clear;
  // Once after start(): what people ask for is known, or was not to be learned within two seconds.
  std::function<void()> heard;
  // Writes the feature file, atomically.
  std::function<Result<void>(const std::string& path, const std::string& text)> write_file;
  // For metrics. part: "node", "device-info", "node-info", "ack".
  std::function<void(const char* part, bool works)> works;
};

class CompatPublisher {
 public:
  // `transport` and `clock` must outlive it.
  CompatPublisher(kube::Transport& transport, const Clock& clock, CompatOptions options,
                  CompatEvents events);
  ~CompatPublisher();
  CompatPublisher(const CompatPublisher&) = delete;
  CompatPublisher& operator=(const CompatPublisher&) = delete;

  // The first state must be there before start(). An event may call it.
  void want(NodeStatePtr state);
  // Chips that the kubelet has given out; MindCluster's readers do not take them for free then.
  void in_use(std::vector<domain::ChipIndex> chips);
  // Listens, and keeps labels and annotations.
  void start();
  // From now on ConfigMaps are kept, too; by itself ten seconds after it has heard, for clusters
  // that take no inventory. May be called twice.
  void speak();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
