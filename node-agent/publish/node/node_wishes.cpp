#include "node-agent/publish/node/node_wishes.hpp"

#include <utility>

namespace chipweave::agent {

void NodeWishes::machine(NodeStatePtr state) {
  state_ = std::move(state);
  tell_cordon();
}

void NodeWishes::annotated(const codec::KubeNodeMarks& node) {
  const auto found = node.annotations.find(kCordonAnnotation);
  asked_.annotated(kCordonAnnotation, found == node.annotations.end() ? "" : found->second);
  tell_cordon();
}

void NodeWishes::separated(std::string list) {
  asked_.separated(std::move(list));
  tell_cordon();
}

void NodeWishes::tell_cordon() {
  codec::ChipSelection now = asked_.of(*state_);
  if (now == told_) return;
  told_ = std::move(now);
  if (events_.cordon) events_.cordon(codec::ChipSelection(told_));
}

std::optional<std::string> NodeWishes::order(const codec::KubeNodeMarks& node) {
  const auto asked = node.annotations.find(kClearAnnotation);
  if (asked == node.annotations.end()) {
    cleared_.reset();
    return std::nullopt;
  }
  if (cleared_ == asked->second) return std::nullopt;  // and not removed yet
  cleared_ = asked->second;
  const auto chips = codec::parse_chip_selection(kClearAnnotation, asked->second);
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
