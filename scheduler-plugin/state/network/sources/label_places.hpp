// LabelPlaces — the places that labels give nodes: on levels that were named by the configuration
// or an object of the cluster, or on those of the label family that most nodes have.
#pragma once

#include <string>
#include <vector>

#include "scheduler-plugin/state/network/sources/network_source.hpp"
#include "scheduler-plugin/state/network/sources/node_labels.hpp"

namespace chipweave::sched {

class LabelPlaces final : public PlaceSource {
 public:
  // detects: while no levels are named, those of the family; and the accelerators' own hierarchy in
  // any case.
  LabelPlaces(const NodeLabels& labels, bool detects) : labels_(labels), detects_(detects) {}

  // Coarsest first. A level of kubernetes.io/hostname is the node itself, and what follows it does
  // not count; nor does a name that was given before.
  void name_levels(std::vector<domain::LabelLevel> levels);

  bool levels_changed() const override { return wanted() != levels_; }
  void take_levels() override { levels_ = wanted(); }
  SourcePlace place(const std::string& node) const override;

 private:
  const SourceLevels& wanted() const;

  const NodeLabels& labels_;
  bool detects_;
  std::vector<domain::LabelLevel> named_;
  mutable SourceLevels wanted_;
  mutable std::uint64_t as_of_ = 0;
  mutable bool looked_ = false;
};

}  // namespace chipweave::sched
