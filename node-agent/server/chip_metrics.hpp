// ChipMetricsPage — the metrics of each chip, as text of the Prometheus format: health, what the
// chip measures of itself, XIDs, traffic of its links, with the labels of the pod that has it.
//
// A series exists as long as its value is known: a measurement is shown until it is kMissed
// intervals old; the chip's health stays. Each value appears once a chip, so that sums over chips
// are right: of several containers that share a chip, the labels that they agree on are shown. A
// chip that no container has, or of which that is not known, has none of the labels namespace, pod
// and container, which Prometheus treats like empty ones.
//
// At most kMaxSeriesOfChip series a chip and limits::kMaxChips chips. Names and labels are
// described in docs/reference/metrics.md. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/app/chip_user.hpp"
#include "node-agent/app/metrics/carried_report.hpp"

namespace chipweave::agent {

class ChipMetricsPage {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  static constexpr int kMissed = 3;
  // XIDs of one chip with a series of their own; further ones are counted as "other".
  static constexpr std::size_t kMaxXids = 16;
  static constexpr std::size_t kMaxLabelBytes = 128;  // of a value; longer ones are cut
  // Single values; throttle reasons; ECC; XIDs; links, both directions.
  static constexpr std::size_t kMaxSeriesOfChip =
      11 + domain::kThrottleReasons + 2 + (kMaxXids + 1) + 2 * domain::kMaxLinksOfChip;

  // interval: between measurements. The clock must outlive it.
  ChipMetricsPage(std::string node, std::chrono::seconds interval, const Clock& clock);

  // Replaces the chips. Series of chips that are not among them disappear.
  void chips(const domain::NodeTopology& topology, const std::vector<domain::Fault>& faults);
  // A measurement, and what the chips' links have carried up to it.
  void sample(const domain::MetricsSample& sample, const CarriedReport& carried);
  // Counts XIDs ("xid.N") of a chip from the agent's start on.
  void event(const domain::Signal& event);
  // Which containers have which chips; replaces what was known.
  void owners(ChipOwners owners);

  // All metrics, each with HELP and TYPE; "" while there are no chips.
  std::string text() const;

 private:
  struct Chip {
    Labels labels;  // without those of the pod
    bool healthy = false;
    bool cordoned = false;
  };

  Labels labels_of(domain::ChipIndex chip) const;

  const std::string node_;
  const std::chrono::seconds interval_;
  const Clock& clock_;
  std::map<domain::ChipIndex, Chip> chips_;
  std::map<domain::ChipIndex, domain::ChipMetrics> measured_;
  Clock::Steady measured_at_{};
  std::map<domain::ChipIndex, double> peaks_;  // bytes a second
  std::map<domain::ChipIndex, std::map<std::string, std::uint64_t>> xids_;
  std::optional<ChipOwners> owners_;
};

}  // namespace chipweave::agent
