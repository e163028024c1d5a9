#include "node-agent/publish/node/node_commands.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxReasonBytes = domain::kMaxFaultTextBytes;

}  // namespace

void NodeCommands::set_machine(NodeStatePtr state) {
  state_ = std::move(state);
  report_cordon();
}

void NodeCommands::set_annotations(const codec::KubeNodeMetadata& node) {
  const auto found = node.annotations.find(kCordonAnnotation);
  requested_.set_annotation(kCordonAnnotation,
                            found == node.annotations.end() ? "" : found->second);
  const auto reason = node.annotations.find(kMaintenanceAnnotation);
  maintenance_.reset();
  if (reason != node.annotations.end()) {
    maintenance_ = reason->second.empty() ? std::string("annotation ") + kMaintenanceAnnotation
                                          : with_dots(reason->second, kMaxReasonBytes);
  }
  node_read();
}

void NodeCommands::node_read() {
  node_read_ = true;
  report_cordon();
  report_maintenance();
}

void NodeCommands::list_read() {
  list_read_ = true;
  report_cordon();
}

void NodeCommands::set_unschedulable(bool yes) {
  unschedulable_ = yes;
  report_maintenance();
}

void NodeCommands::set_in_use(bool any) {
  in_use_ = any;
  report_maintenance();
}

void NodeCommands::in_use_unknown() {
  awaits_use_ = false;
  report_maintenance();
}

// What is not known yet is not an end of the maintenance that the previous run knew.
void NodeCommands::report_maintenance() {
  if (!node_read_) return;
  std::optional<std::string> now = maintenance_;
  if (!now) {
    if (!unschedulable_) return;
    if (*unschedulable_ && awaits_use_ && !in_use_) return;
    if (*unschedulable_ && in_use_ == false) {
      now = "the node is drained: it is unschedulable, and no pod uses its chips";
    }
  }
  if (maintained_ && *maintained_ == now) return;
  maintained_ = now;
  if (events_.maintenance) events_.maintenance(now);
}

void NodeCommands::set_separated(std::string list) {
  requested_.set_separated(std::move(list));
  report_cordon();
}

void NodeCommands::report_cordon() {
  codec::ChipSelection now = requested_.of(*state_);
  const bool complete = node_read_ && list_read_;
  if (now == cordoned_ && complete == complete_) return;
  cordoned_ = std::move(now);
  complete_ = complete;
  if (events_.cordon) events_.cordon(codec::ChipSelection(cordoned_), complete);
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
