#include "node-agent/publish/node/cordon.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "node-agent/publish/compat/mindcluster_content.hpp"

namespace chipweave::agent {
namespace {

void make_unique(std::vector<domain::ChipIndex>& chips) {
  std::sort(chips.begin(), chips.end());
  chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
}

}  // namespace

codec::ChipSelection KnownChips::of(const NodeState& state, codec::ChipSelection chips,
                                    const std::string& source) {
  std::vector<int> unknown;
  std::erase_if(chips.chips, [&](domain::ChipIndex chip) {
    const bool there = state.topology.slot_of(chip).has_value();
    if (!there) unknown.push_back(chip.value);
    return !there;
  });
  if (!unknown.empty()) {
    report_once(source + " names chips that this machine does not have: " + comma_list(unknown));
  }
  return chips;
}

void KnownChips::report_once(const std::string& message) {
  // Ever new invalid values fill the log, not the memory.
  constexpr std::size_t kMaxMessages = 64;
  if (reported_.size() >= kMaxMessages) reported_.clear();
  if (reported_.insert(message).second && report_) report_(message);
}

void RequestedCordon::set_annotation(const std::string& annotation, const std::string& text) {
  annotation_ = annotation;
  auto chips = codec::parse_chip_selection(annotation, text);
  if (!chips) {
    return known_.report_once(chips.error().text() + "; the last valid value stays in force");
  }
  annotated_ = std::move(chips).value();
}

codec::ChipSelection RequestedCordon::of(const NodeState& state) {
  if (auto chips = manually_separated(state, list_)) {
    separated_ = std::move(chips).value();
  } else {
    known_.report_once(chips.error().text() + "; the last valid value stays in force");
  }
  codec::ChipSelection out = annotated_;
  if (out.all) return out;
  out.chips.insert(out.chips.end(), separated_.begin(), separated_.end());
  make_unique(out.chips);
  return known_.of(state, std::move(out), "annotation " + annotation_);
}

}  // namespace chipweave::agent
