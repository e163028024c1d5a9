// Comparison — which chips other allocators would have chosen for a pod, and their predicted
// bandwidth.
//
// Uses the built-in profile that the node reports as its machine, with the lanes that the scheduler
// reports as down. Nodes without a profile are not compared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/domain/rate_overlay.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {

struct OtherChoice {
  std::vector<int> chips;  // ascending vendor indices
  double gbps = 0;  // predicted by the same model, GB/s, together with the chips in `already_held`
  bool legal = true;  // false: the vendor's runtime would refuse the set
};

struct Comparison {
  std::optional<OtherChoice> pair_sum;   // go-gpuallocator, HAMi; absent: too many sets to try
  std::optional<OtherChoice> first_fit;  // lowest free indices
};

class Comparer {
 public:
  // overlays: constants that replace those of the machines that they match, as in the scheduler.
  explicit Comparer(std::vector<domain::RateOverlay> overlays = {})
      : overlays_(std::move(overlays)) {}

  // node: its state before the pod was placed. already_held: chips already held there by pods of
  // the same job; bandwidths are those of the union, as in the scheduler. nullopt: unknown machine
  // or not enough free chips.
  std::optional<Comparison> compare(const codec::NodeView& node, int size, bool distributed,
                                    const std::vector<int>& already_held = {});

 private:
  solver::Machine* machine(const codec::NodeView& node);
  std::vector<domain::RateOverlay> overlays_;
  // By profile and links that are down; null: no such profile.
  std::map<std::string, std::unique_ptr<solver::Machine>> machines_;
};

}  // namespace chipweave::cli
