// NetworkShape — the levels of the fabric: which source names them, and where the accelerators' own
// hierarchy is among them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/state/network/sources/network_source.hpp"

namespace chipweave::sched {

// What became of the accelerators' own hierarchy.
enum class AcceleratorLevels {
  none,       // no source knows one
  nested,     // levels of the fabric
  apart,      // it does not nest in the switches' levels
  same_name,  // a level of the fabric has the name of one of its levels
  too_many,   // the fabric would have more than limits::kMaxNetworkLevels
};
std::string_view name_of(AcceleratorLevels how);

class NetworkShape {
 public:
  // sources: the more specific first; those that are not used are null. Of their levels count the
  // finest that fit into limits::kMaxNetworkLevels.
  explicit NetworkShape(const std::vector<const PlaceSource*>& sources = {});

  // Where the accelerators' domains fit (LevelNesting::position()).
  void nest(int position);
  int nesting() const { return nesting_; }

  // Levels above the node that switches have, without the accelerators'.
  std::size_t switch_levels() const { return switches_.size(); }
  // How many of the source's coarsest levels are left out.
  std::size_t left_out() const { return left_out_; }
  std::optional<std::size_t> source() const { return source_; }
  std::optional<std::size_t> accelerator_source() const { return accelerator_source_; }
  AcceleratorLevels accelerators() const { return accelerators_; }
  const std::vector<domain::LabelLevel>& accelerator_levels() const { return accelerator_levels_; }

  // All levels, coarsest first; the last is the node.
  const std::vector<std::string>& levels() const { return names_; }
  const std::vector<std::string>& labels(std::size_t level) const { return labels_[level]; }
  bool is_accelerators(std::size_t level) const;
  std::optional<int> level_of(std::string_view name) const;

  // Whether the source's paths are on this shape's levels.
  bool has_levels_of(const PlaceSource& source) const;
  bool has_accelerators_of(const PlaceSource& source) const;
  // A path of such a source, without the levels that are left out; one element a level.
  NetworkPath switch_path(NetworkPath path) const;
  // One element a level of levels().
  NetworkPath whole_path(const NetworkPath& switches, const NetworkPath& accelerator,
                         const std::string& node) const;

 private:
  void make_levels();

  std::vector<domain::LabelLevel> named_;     // as the source has them
  std::vector<domain::LabelLevel> switches_;  // without those left out
  std::vector<domain::LabelLevel> accelerator_levels_;
  std::size_t left_out_ = 0;
  std::optional<std::size_t> source_;
  std::optional<std::size_t> accelerator_source_;
  std::string node_;
  int nesting_ = 0;
  AcceleratorLevels accelerators_ = AcceleratorLevels::none;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> labels_;
};

}  // namespace chipweave::sched
