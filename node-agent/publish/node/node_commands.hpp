// NodeCommands — operators' commands for this node's chips: to take chips out of service (by an
// annotation of the Node or by MindCluster's list), and to forget faults (by another annotation).
//
// Each request is passed on once, reduced to chips that the machine has. Loop thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "common/codec/kube/watch.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/node/cordon.hpp"
#include "node-agent/publish/node/own_keys.hpp"

namespace chipweave::agent {

inline constexpr const char* kCordonAnnotation = "chipweave.dev/cordon-chips";

class NodeCommands {
 public:
  // Both may be empty, and may change the machine's state.
  struct Events {
    // Whenever the cordoned chips change; none are at the start.
    std::function<void(const codec::ChipSelection&)> cordon;
    // Once per command.
    std::function<void(const codec::ChipSelection&)> clear;
  };
  NodeCommands(KnownChips& known, Events events)
      : known_(known), requested_(known), events_(std::move(events)) {}

  // Call it first, and again whenever the state changes.
  void set_machine(NodeStatePtr state);
  void set_annotations(const codec::KubeNodeMetadata& node);
  // The value of ManuallySeparateNPU.
  void set_separated(std::string list);
  // Carries out the command to forget faults, if the Node has a new one; returns its value, so that
  // the annotation can be removed.
  std::optional<std::string> take_clear_command(const codec::KubeNodeMetadata& node);

 private:
  void report_cordon();

  KnownChips& known_;
  RequestedCordon requested_;
  Events events_;
  NodeStatePtr state_;
  codec::ChipSelection cordoned_;       // as reported last
  std::optional<std::string> cleared_;  // the command that was carried out and is still on the Node
};

}  // namespace chipweave::agent
