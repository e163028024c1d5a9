// Placements — PlacementApi on the scheduler's state. Owner: the loop thread.
#pragma once

#include <chrono>

#include "scheduler-plugin/app/explainer.hpp"
#include "scheduler-plugin/app/extender.hpp"
#include "scheduler-plugin/app/placement_api.hpp"

namespace chipweave::sched {

class Placements final : public PlacementApi, public UseCase {
 public:
  // Explanations and what-if requests, which any reader may make, may together use a fifth of the
  // loop's time, and this much at once.
  static constexpr std::chrono::milliseconds kExplainBurst{200};
  static constexpr int kExplainShare = 5;

  Placements(Core& core, Evaluator& evaluator, Reservations& reservations,
             const Decisions& decisions, Extender& extender, const GangView& gangs)
      : UseCase(core),
        evaluator_(evaluator),
        reservations_(reservations),
        decisions_(decisions),
        extender_(extender),
        gangs_(gangs) {}

  Result<PlacedChips> place(const PodRequest& pod, std::span<const std::string_view> nodes,
                            bool reserve) override;
  Result<PlacedChips> reserve(const PodRequest& pod, std::string_view node) override;
  Result<void> release(const PodKey& key, std::string_view uid) override;
  Result<ExplainText> explain(const PodKey& key) override;
  Result<PlacedChips> what_if(const PodRequest& pod,
                              std::span<const std::string_view> nodes) override;
  Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const override;

 private:
  Result<void> require_ready() const;
  // Errors: unavailable: too many explanations or what-if requests at a time.
  Result<void> may_explain();
  Result<const ClusterPod*> holdable_pod(const PodRequest& pod) const;
  Result<PlacedChips> place_on(const PodRequest& pod, std::span<const std::string_view> nodes,
                               bool reserve);
  Result<PlacedChips> placed(const Evaluation& evaluation) const;
  PlacedChips kept(const PodRequest& pod, const Holding& holding) const;

  Evaluator& evaluator_;
  Reservations& reservations_;
  const Decisions& decisions_;
  Extender& extender_;
  GangView gangs_;
  Clock::Steady::duration explained_{};  // loop time of both that is not made up for yet
  Clock::Steady explained_at_{};         // when that was computed
};

}  // namespace chipweave::sched
