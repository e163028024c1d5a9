// RequestedCordon — which chips operators have taken out of service: by the annotation of the Node
// or by MindCluster's list, whichever names them.
//
// A value that cannot be parsed leaves the last valid one in force: a typo must not put a broken
// chip back into service.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// Reduces selections to the chips that the machine has, and reports the others.
class KnownChips {
 public:
  // report: for the log; gets each message once.
  explicit KnownChips(std::function<void(const std::string&)> report)
      : report_(std::move(report)) {}

  codec::ChipSelection of(const NodeState& state, codec::ChipSelection chips,
                          const std::string& source);
  void report_once(const std::string& message);

 private:
  std::function<void(const std::string&)> report_;
  std::set<std::string> reported_;
};

class RequestedCordon {
 public:
  explicit RequestedCordon(KnownChips& known) : known_(known) {}

  // "" if there is no such annotation.
  void set_annotation(const std::string& annotation, const std::string& text);
  // The value of ManuallySeparateNPU.
  void set_separated(std::string text) { list_ = std::move(text); }
  // Both together, reduced to this machine.
  codec::ChipSelection of(const NodeState& state);

 private:
  KnownChips& known_;
  std::string annotation_;
  codec::ChipSelection annotated_;
  std::string list_;
  std::vector<domain::ChipIndex> separated_;  // of the last valid list
};

}  // namespace chipweave::agent
