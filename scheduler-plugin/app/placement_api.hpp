// PlacementApi — placement for other schedulers and tools: choose, reserve, release, explain. All
// calls on the loop thread; none blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/placement.hpp"

namespace chipweave::sched {

struct PlacedChips {
  std::string node;
  std::vector<int> chips;  // vendor indices, ascending
  double gbps = 0;
  double best_gbps = 0;
  // How long the chips stay reserved. Zero: no limit, or nothing is reserved.
  std::chrono::milliseconds lifetime{};
};

// Why a pod is where it is, or why it is pending: as JSON (keys documented in
// docs/reference/http.md) so that every handler shows the same.
struct ExplainText {
  std::string json;
};

class PlacementApi {
 public:
  PlacementApi() = default;
  PlacementApi(const PlacementApi&) = delete;
  PlacementApi& operator=(const PlacementApi&) = delete;
  virtual ~PlacementApi() = default;

  // Chooses (and with `reserve` holds until the reservation's lifetime ends) on one of `nodes`
  // (empty: all).
  virtual Result<PlacedChips> place(const PodRequest& pod, std::span<const std::string_view> nodes,
                                    bool reserve) = 0;
  // Reserves the best set of exactly this node for the pod. Repeated, it keeps the chips and renews
  // the lifetime. An earlier reservation elsewhere is released first.
  virtual Result<PlacedChips> reserve(const PodRequest& pod, std::string_view node) = 0;
  // Releases what a pod holds or has reserved.
  virtual Result<void> release(const PodKey& key, std::string_view uid) = 0;
  // Changes nothing.
  virtual Result<ExplainText> explain(const PodKey& key) = 0;
  // What the pod would get now; reserves nothing.
  virtual Result<PlacedChips> what_if(const PodRequest& pod,
                                      std::span<const std::string_view> nodes) = 0;
  // Visits up to `most` bound pods whose chips are known, in uid order, beginning after `after`.
  // Returns the last uid; empty: there are no more.
  virtual Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const = 0;
};

}  // namespace chipweave::sched
