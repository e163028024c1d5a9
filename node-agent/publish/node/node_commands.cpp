#include "node-agent/publish/node/node_commands.hpp"

#include <utility>

namespace chipweave::agent {

void NodeCommands::set_machine(NodeStatePtr state) {
  state_ = std::move(state);
  report_cordon();
}

void NodeCommands::set_annotations(const codec::KubeNodeMetadata& node) {
  const auto found = node.annotations.find(kCordonAnnotation);
  requested_.set_annotation(kCordonAnnotation,
                            found == node.annotations.end() ? "" : found->second);
  report_cordon();
}

void NodeCommands::set_separated(std::string list) {
  requested_.set_separated(std::move(list));
  report_cordon();
}

void NodeCommands::report_cordon() {
  codec::ChipSelection now = requested_.of(*state_);
  if (now == cordoned_) return;
  cordoned_ = std::move(now);
  if (events_.cordon) events_.cordon(codec::ChipSelection(cordoned_));
}

std::optional<std::string> NodeCommands::take_clear_command(const codec::KubeNodeMetadata& node) {
  const auto command = node.annotations.find(kClearAnnotation);
  if (command == node.annotations.end()) {
    cleared_.reset();
    return std::nullopt;
  }
  if (cleared_ == command->second) return std::nullopt;  // not removed yet
  cleared_ = command->second;
  const auto chips = codec::parse_chip_selection(kClearAnnotation, command->second);
  if (!chips) {
    known_.report_once(chips.error().text());
    return std::nullopt;
  }
  const codec::ChipSelection ours =
      known_.of(*state_, *chips, std::string("annotation ") + kClearAnnotation);
  if (!ours.none() && events_.clear) events_.clear(ours);
  return cleared_;
}

}  // namespace chipweave::agent
