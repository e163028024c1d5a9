// AskedCordon — which chips people have taken out of service: by the annotation of the Node and by
// MindCluster's list, whichever names them.
//
// A text that cannot be read leaves in force what its source said last: a slip of the pen must not
// put a broken chip back into service.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// Chips of a selection that the machine has, and sentences about the others.
class KnownChips {
 public:
  // report: for the log; each sentence once.
  explicit KnownChips(std::function<void(const std::string&)> report)
      : report_(std::move(report)) {}

  codec::ChipSelection of(const NodeState& state, codec::ChipSelection chips,
                          const std::string& source);
  void report_once(const std::string& sentence);

 private:
  std::function<void(const std::string&)> report_;
  std::set<std::string> said_;
};

class AskedCordon {
 public:
  explicit AskedCordon(KnownChips& known) : known_(known) {}

  // "": there is none.
  void annotated(const std::string& annotation, const std::string& text);
  // The text of ManuallySeparateNPU.
  void separated(std::string text) { list_ = std::move(text); }
  // Both together, of this machine.
  codec::ChipSelection of(const NodeState& state);

 private:
  KnownChips& known_;
  std::string annotation_;
  codec::ChipSelection annotated_;
  std::string list_;
  std::vector<domain::ChipIndex> separated_;  // by the last list that could be read
};

}  // namespace chipweave::agent
