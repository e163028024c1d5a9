// NodeCommands — operators' commands for this node's chips: to take chips out of service (by an
// annotation of the Node or by MindCluster's list), to forget faults, and to judge nothing for a
// while (by other annotations).
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
// Its value is the reason, for people.
inline constexpr const char* kMaintenanceAnnotation = "chipweave.dev/maintenance";

class NodeCommands {
 public:
  // All may be empty, and may change the machine's state.
  struct Events {
    // Whenever the cordoned chips change, and once all sources were read (complete).
    std::function<void(const codec::ChipSelection&, bool complete)> cordon;
    // When it is first known, and when it changes: the reason; nullopt: no maintenance.
    std::function<void(const std::optional<std::string>&)> maintenance;
    // Once per command.
    std::function<void(const codec::ChipSelection&)> clear;
  };
  // What there is to be read besides the Node.
  struct Sources {
    bool list = false;    // MindCluster's list of separated chips
    bool in_use = false;  // the kubelet reports whether pods use chips
  };
  NodeCommands(KnownChips& known, Sources sources, Events events)
      : known_(known),
        requested_(known),
        events_(std::move(events)),
        list_read_(!sources.list),
        awaits_use_(sources.in_use) {}

  // Call it first, and again whenever the state changes.
  void set_machine(NodeStatePtr state);
  void set_annotations(const codec::KubeNodeMetadata& node);
  // The value of ManuallySeparateNPU.
  void set_separated(std::string list);
  // They were read, or there are none.
  void node_read();
  void list_read();
  // Whether the Node is unschedulable, and whether pods use its chips. An unschedulable Node
  // without such pods is drained, which is a maintenance.
  void set_unschedulable(bool yes);
  void set_in_use(bool any);
  // It will not be known whether pods use chips.
  void in_use_unknown();
  // Carries out the command to forget faults, if the Node has a new one; returns its value, so that
  // the annotation can be removed.
  std::optional<std::string> take_clear_command(const codec::KubeNodeMetadata& node);

 private:
  void report_cordon();
  void report_maintenance();

  KnownChips& known_;
  RequestedCordon requested_;
  Events events_;
  NodeStatePtr state_;
  bool node_read_ = false;
  bool list_read_;
  bool complete_ = false;          // as reported last
  codec::ChipSelection cordoned_;  // as reported last
  std::optional<std::string> maintenance_;
  std::optional<bool> unschedulable_;
  bool awaits_use_;
  std::optional<bool> in_use_;
  std::optional<std::optional<std::string>> maintained_;  // as reported last
  std::optional<std::string> cleared_;  // the command that was carried out and is still on the Node
};

}  // namespace chipweave::agent
