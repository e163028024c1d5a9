#include "scheduler-plugin/state/network/network_shape.hpp"

#include <algorithm>
#include <iterator>

#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

using domain::LabelLevel;

bool same_names(const std::vector<LabelLevel>& a, const std::vector<LabelLevel>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LabelLevel& x, const LabelLevel& y) { return x.name == y.name; });
}

bool shares_a_name(const std::vector<LabelLevel>& a, const std::vector<LabelLevel>& b) {
  return std::any_of(a.begin(), a.end(), [&](const LabelLevel& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const LabelLevel& other) { return one.name == other.name; });
  });
}

}  // namespace

std::string_view name_of(AcceleratorLevels how) {
  switch (how) {
    case AcceleratorLevels::none:
      return "none";
    case AcceleratorLevels::nested:
      return "nested";
    case AcceleratorLevels::apart:
      return "not-nested";
    case AcceleratorLevels::same_name:
      return "same-name";
    case AcceleratorLevels::too_many:
      return "too-many-levels";
  }
  return {};
}

NetworkShape::NetworkShape(const std::vector<const PlaceSource*>& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == nullptr) continue;
    const SourceLevels& levels = sources[i]->levels();
    if (!source_ && !levels.levels.empty()) {
      source_ = i;
      named_ = levels.levels;
      node_ = levels.node;
    }
    if (!accelerator_source_ && !levels.accelerators.empty()) {
      accelerator_source_ = i;
      accelerator_levels_ = levels.accelerators;
    }
  }
  if (node_.empty()) node_ = domain::kHostnameLabel;
  constexpr std::size_t kMost = limits::kMaxNetworkLevels - 1;  // and the node
  left_out_ = named_.size() > kMost ? named_.size() - kMost : 0;
  switches_.assign(named_.begin() + static_cast<std::ptrdiff_t>(left_out_), named_.end());
  nest(static_cast<int>(switches_.size()));
}

void NetworkShape::nest(int position) {
  nesting_ = position;
  if (accelerator_levels_.empty()) {
    accelerators_ = AcceleratorLevels::none;
  } else if (shares_a_name(accelerator_levels_, switches_) ||
             shares_a_name(accelerator_levels_, {{node_, {}}})) {
    accelerators_ = AcceleratorLevels::same_name;
  } else if (switches_.size() + accelerator_levels_.size() >= limits::kMaxNetworkLevels) {
    accelerators_ = AcceleratorLevels::too_many;
  } else {
    accelerators_ = position < 0 ? AcceleratorLevels::apart : AcceleratorLevels::nested;
  }
  make_levels();
}

void NetworkShape::make_levels() {
  std::vector<LabelLevel> all = switches_;
  if (accelerators_ == AcceleratorLevels::nested) {
    all.insert(all.begin() + nesting_, accelerator_levels_.begin(), accelerator_levels_.end());
  }
  all.push_back({node_, {std::string(domain::kHostnameLabel)}});
  names_.clear();
  labels_.clear();
  for (LabelLevel& level : all) {
    names_.push_back(std::move(level.name));
    labels_.push_back(std::move(level.labels));
  }
}

bool NetworkShape::is_accelerators(std::size_t level) const {
  if (accelerators_ != AcceleratorLevels::nested) return false;
  const auto first = static_cast<std::size_t>(nesting_);
  return level >= first && level < first + accelerator_levels_.size();
}

std::optional<int> NetworkShape::level_of(std::string_view name) const {
  for (std::size_t level = 0; level < names_.size(); ++level) {
    if (names_[level] == name) return static_cast<int>(level);
  }
  for (std::size_t level = 0; level < labels_.size(); ++level) {
    const std::vector<std::string>& labels = labels_[level];
    if (std::find(labels.begin(), labels.end(), name) != labels.end())
      return static_cast<int>(level);
  }
  return std::nullopt;
}

bool NetworkShape::has_levels_of(const PlaceSource& source) const {
  return !named_.empty() && same_names(named_, source.levels().levels);
}

bool NetworkShape::has_accelerators_of(const PlaceSource& source) const {
  return !accelerator_levels_.empty() &&
         same_names(accelerator_levels_, source.levels().accelerators);
}

NetworkPath NetworkShape::switch_path(NetworkPath path) const {
  path.resize(named_.size());
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(left_out_));
  return path;
}

NetworkPath NetworkShape::whole_path(const NetworkPath& switches, const NetworkPath& accelerator,
                                     const std::string& node) const {
  NetworkPath out = switches;
  if (accelerators_ == AcceleratorLevels::nested) {
    NetworkPath own = accelerator;
    own.resize(accelerator_levels_.size());
    out.insert(out.begin() + nesting_, std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
  }
  out.push_back(node);
  return out;
}

}  // namespace chipweave::sched
