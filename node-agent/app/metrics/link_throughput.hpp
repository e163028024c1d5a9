// LinkThroughput — how much the fast links of each chip carry: rates from successive counters, and
// their peak, to be compared with the bandwidth that a placement was predicted to have.
//
// What a chip carries is the sum over its fast links in the direction that carries more: a ring of
// a collective library sends as much as it receives. A chip without fast links is measured by its
// PCIe traffic. Each rate is an average between two measurements, so bursts shorter than their
// interval are not seen; where the driver reports rates instead of totals, they count as they are.
// A counter that is smaller than before has restarted or wrapped, and its
// link counts as idle for that interval. Pure; loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "common/domain/carried.hpp"
#include "common/domain/chip_metrics.hpp"

namespace chipweave::agent {

// Bytes a second.
struct CarriedTraffic {
  double now = 0;   // between the last two measurements
  double peak = 0;  // the largest such value within the window
};

class LinkThroughput {
 public:
  explicit LinkThroughput(
      std::chrono::milliseconds window = std::chrono::seconds(domain::kCarriedWindowSeconds))
      : window_(window) {}

  // Chips that the sample does not have are forgotten.
  void take(const domain::MetricsSample& sample);

  // nullopt: the chip was measured less than twice, or has no links that the driver counts.
  std::optional<CarriedTraffic> of(domain::ChipIndex chip) const;

 private:
  using Link = std::pair<domain::TrafficKind, int>;
  struct Carried {
    std::chrono::milliseconds at{0};
    double bytes_per_second = 0;
  };
  struct Track {
    std::map<Link, domain::LinkTraffic> last;
    double now = 0;
    std::deque<Carried> peaks;  // values that no later one exceeds; the first is the largest
  };

  void measure(Track& track, const domain::ChipMetrics& chip, std::chrono::milliseconds at,
               double seconds) const;

  std::chrono::milliseconds window_;
  std::optional<std::chrono::milliseconds> taken_;
  std::map<domain::ChipIndex, Track> tracks_;
};

}  // namespace chipweave::agent
