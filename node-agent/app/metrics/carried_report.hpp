// CarriedReport — which peaks of the chips' links the agent reports: they change all the time, and
// each report is a write to the API server, so only clear changes count, and rarely.
//
// One owner; the clock is passed in.
#pragma once

#include <optional>

#include "common/base/clock.hpp"
#include "common/domain/carried.hpp"
#include "common/domain/chip_metrics.hpp"
#include "node-agent/app/metrics/link_throughput.hpp"

namespace chipweave::agent {

class CarriedReport {
 public:
  // What no measurement has confirmed for so long is no longer reported.
  static constexpr std::chrono::minutes kSilent{5};

  void take(const domain::MetricsSample& sample, Clock::Steady now);
  // Whether what is reported has changed: a peak by more than a tenth and 0.1 GB/s,
  // kCarriedEverySeconds after the last change at the earliest.
  bool due(Clock::Steady now);
  const domain::CarriedPeaks& reported() const { return reported_; }
  // Of the newest measurement.
  std::optional<CarriedTraffic> of(domain::ChipIndex chip) const { return throughput_.of(chip); }

 private:
  LinkThroughput throughput_;
  domain::CarriedPeaks newest_;
  domain::CarriedPeaks reported_;
  std::optional<Clock::Steady> taken_;
  std::optional<Clock::Steady> changed_;
};

}  // namespace chipweave::agent
