// CompatPublisher — publishes this node in the formats of other components: labels, annotations and
// ConfigMaps of MindCluster, ACK, GPU Feature Discovery and Node Feature Discovery. The same
// objects carry the commands of operators (node_commands.hpp), which it passes on.
//
// When it begins with what, its owner decides (start_sequence.hpp).
//
// The content follows from the newest state alone (compat/*). Each object has a keeper of its own,
// so that a slow one does not delay the others. Nothing is deleted at the end.
// Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/node/node_commands.hpp"

namespace chipweave::agent {

struct CompatOptions {
  std::string node;           // a DNS subdomain, checked before
  bool mindcluster = false;   // ConfigMaps, annotations and labels of Ascend nodes
  bool ack = false;           // the ConfigMap of nodes that are in ACK's topology mode
  bool labels = false;        // chipweave.dev/vendor, /topology, /chips
  bool gfd_labels = false;    // nvidia.com/gpu.product …
  bool metax_labels = false;  // metax-tech.com/gpu.product …
  bool in_use = false;        // the kubelet reports which chips pods use
  std::string nfd_file;       // a feature file with chipweave's labels; empty: none
  std::uint64_t seed = 0;     // for the jitter
};

// All may be empty.
struct CompatEvents {
  // Commands of operators (node_commands.hpp), reduced to chips that the machine has.
  NodeCommands::Events commands;
  // The Node was read, or there is none; and MindCluster's list of separated chips.
  std::function<void()> node_known;
  std::function<void()> list_known;
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

  // The first state must be set before start(). An event may call it.
  void want(NodeStatePtr state);
  // Chips that the kubelet has allocated; MindCluster's list of free chips leaves them out.
  void in_use(std::vector<domain::ChipIndex> chips);
  // The kubelet cannot be asked.
  void in_use_unknown();
  // Reads the commands, and keeps labels and annotations from now on.
  void start();
  // Keeps ConfigMaps from now on, too. Once.
  void publish_config_maps();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
