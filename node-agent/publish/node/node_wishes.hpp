// NodeWishes — what people ask of this node's chips, wherever they write it: out of service by the
// Node's annotation or by MindCluster's list, faults to be forgotten by another annotation.
//
// What is asked is told once, in terms of the chips that the machine has. Loop thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "common/codec/kube/watch.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/node/cordon.hpp"

namespace chipweave::agent {

inline constexpr const char* kCordonAnnotation = "chipweave.dev/cordon-chips";
inline constexpr const char* kClearAnnotation = "chipweave.dev/clear-faults";

class NodeWishes {
 public:
  // Both may be empty, and may change the machine's state.
  struct Events {
    // Each time they are others; none at the start.
    std::function<void(const codec::ChipSelection&)> cordon;
    // Once for each order.
    std::function<void(const codec::ChipSelection&)> clear;
  };
  NodeWishes(KnownChips& known, Events events)
      : known_(known), asked_(known), events_(std::move(events)) {}

  // The chips are others perhaps; the first one comes before all else.
  void machine(NodeStatePtr state);
  void annotated(const codec::KubeNodeMarks& node);
  // The text of ManuallySeparateNPU.
  void separated(std::string list);
  // Carries out an order of these annotations to forget faults; returns its text when it is new,
  // for that it be taken from the Node.
  std::optional<std::string> order(const codec::KubeNodeMarks& node);

 private:
  void tell_cordon();

  KnownChips& known_;
  AskedCordon asked_;
  Events events_;
  NodeStatePtr state_;
  codec::ChipSelection told_;           // of the cordon
  std::optional<std::string> cleared_;  // the order that was carried out and still stands there
};

}  // namespace chipweave::agent
