#include "scheduler-plugin/state/network/sources/label_places.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {
namespace {

using domain::LabelLevel;

bool is_node_level(const LabelLevel& level) {
  return std::find(level.labels.begin(), level.labels.end(), domain::kHostnameLabel) !=
         level.labels.end();
}

bool names_level(const std::vector<LabelLevel>& levels, const std::string& name) {
  return std::any_of(levels.begin(), levels.end(),
                     [&](const LabelLevel& level) { return level.name == name; });
}

}  // namespace

void LabelPlaces::name_levels(std::vector<LabelLevel> levels) {
  named_ = std::move(levels);
  looked_ = false;
}

const SourceLevels& LabelPlaces::wanted() const {
  if (looked_ && as_of_ == labels_.version()) return wanted_;
  looked_ = true;
  as_of_ = labels_.version();
  wanted_ = {};
  bool used = false;
  const std::vector<LabelLevel> levels =
      named_.empty() && detects_ ? labels_.network_levels() : named_;
  for (const LabelLevel& level : levels) {
    if (is_node_level(level)) {
      wanted_.node = level.name;
      break;
    }
    if (names_level(wanted_.levels, level.name)) continue;
    used = used || std::any_of(level.labels.begin(), level.labels.end(),
                               [&](const auto& label) { return labels_.with(label) > 0; });
    wanted_.levels.push_back(level);
  }
  if (!used) wanted_.levels.clear();
  if (detects_) wanted_.accelerators = labels_.accelerator_levels();
  return wanted_;
}

SourcePlace LabelPlaces::place(const std::string& node) const {
  SourcePlace out;
  for (const LabelLevel& level : levels_.levels) {
    std::string& element = out.path.emplace_back();
    for (const std::string& label : level.labels) {
      const std::string* value = labels_.find(node, label);
      if (value == nullptr) continue;
      if (is_network_name(*value)) element = *value;
      break;
    }
  }
  for (const LabelLevel& level : levels_.accelerators) {
    std::string& element = out.accelerator.emplace_back();
    const std::string* value = labels_.find(node, level.labels.front());
    if (value == nullptr) continue;
    element = domain::accelerator_value(level.labels.front(), *value);
    if (!is_network_name(element)) element.clear();
  }
  out.path = known_path(std::move(out.path));
  out.accelerator = known_path(std::move(out.accelerator));
  return out;
}

}  // namespace chipweave::sched
