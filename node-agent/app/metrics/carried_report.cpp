#include "node-agent/app/metrics/carried_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace chipweave::agent {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr double kLeastChangeGbps = 0.1;

// To three decimals, as it is written.
double gbps_of(double bytes_per_second) {
  const double gbps = std::round(bytes_per_second / kBytesPerGb * 1000) / 1000;
  return std::clamp(gbps, 0.0, domain::kMaxCarriedGbps);
}

bool clearly_different(const domain::CarriedPeaks& a, const domain::CarriedPeaks& b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    const double by = std::abs(x.second - y.second);
    return x.first == y.first &&
           (by <= kLeastChangeGbps || by <= std::max(x.second, y.second) / 10);
  });
}

}  // namespace

void CarriedReport::take(const domain::MetricsSample& sample, Clock::Steady now) {
  throughput_.take(sample);
  taken_ = now;
  newest_.clear();
  for (const domain::ChipMetrics& chip : sample.chips) {
    if (const auto carried = throughput_.of(chip.chip)) {
      newest_.emplace(chip.chip, gbps_of(carried->peak));
    }
  }
}

bool CarriedReport::due(Clock::Steady now) {
  if (taken_ && now - *taken_ >= kSilent) {
    taken_.reset();
    newest_.clear();
  }
  if (!clearly_different(reported_, newest_)) return false;
  // What can no longer be measured is withdrawn at once.
  const bool gone = newest_.empty();
  if (!gone && changed_ && now - *changed_ < std::chrono::seconds(domain::kCarriedEverySeconds))
    return false;
  changed_ = now;
  reported_ = newest_;
  return true;
}

}  // namespace chipweave::agent
