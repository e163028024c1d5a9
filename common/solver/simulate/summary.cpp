#include "common/solver/simulate/summary.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "common/solver/simulate/bounds.hpp"

namespace chipweave::simulate {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::vector<SizeSummary> sizes_of(const Workload& workload, const Replayed& run,
                                  const std::vector<double>& alone) {
  std::map<int, SizeSummary> sizes;
  for (const Arrival& a : workload.arrivals) ++sizes[workload.pods[a.pod].chips].arrived;
  for (const PlacedPod& p : run.placed) {
    SizeSummary& s = sizes[workload.pods[p.pod].chips];
    s.worst_gbps = s.placed == 0 ? p.gbps : std::min(s.worst_gbps, p.gbps);
    s.mean_gbps += p.gbps;
    s.alone_gbps += alone[p.pod];
    ++s.placed;
  }
  std::vector<SizeSummary> out;
  for (auto& [chips, s] : sizes) {
    s.chips = chips;
    s.mean_gbps = ratio(s.mean_gbps, static_cast<double>(s.placed));
    s.alone_gbps = ratio(s.alone_gbps, static_cast<double>(s.placed));
    out.push_back(s);
  }
  return out;
}

}  // namespace

Distribution distribution_of(std::vector<double> values) {
  Distribution out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  out.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  out.median = at(0.5);
  out.p95 = at(0.95);
  out.p99 = at(0.99);
  out.least = values.front();
  out.most = values.back();
  return out;
}

Summary summary_of(const Workload& workload, const Replayed& run, const std::vector<double>& alone,
                   const ModelCluster& cluster) {
  Summary out;
  out.arrived = workload.arrivals.size();
  out.placed = run.placed.size();
  out.never_placed = run.refused.size();
  out.allocated = run.allocated;
  out.fragmented = run.fragmented;
  out.most_waiting = run.most_waiting;
  out.sizes = sizes_of(workload, run, alone);
  double gbps = 0;
  double possible = 0;
  for (const SizeSummary& s : out.sizes) {
    if (s.chips < 2) continue;
    const auto placed = static_cast<double>(s.placed);
    if (s.placed > 0 && (out.multi_chip_placed == 0 || s.worst_gbps < out.worst_gbps))
      out.worst_gbps = s.worst_gbps;
    out.multi_chip_arrived += s.arrived;
    out.multi_chip_placed += s.placed;
    gbps += s.mean_gbps * placed;
    possible += s.alone_gbps * placed;
  }
  out.mean_gbps = ratio(gbps, static_cast<double>(out.multi_chip_placed));
  out.of_alone = ratio(gbps, possible);
  if (!workload.pods_end)
    out.of_together = ratio(gbps, most_gbps_together(workload.pods, run.placed, cluster));
  out.waited = static_cast<std::size_t>(
      std::count_if(run.waits_s.begin(), run.waits_s.end(), [](double s) { return s > 0; }));
  out.wait_s = distribution_of(run.waits_s);
  out.decision_ns = distribution_of({run.decision_ns.begin(), run.decision_ns.end()});
  return out;
}

}  // namespace chipweave::simulate
