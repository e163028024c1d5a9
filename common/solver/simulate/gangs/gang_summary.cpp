#include "common/solver/simulate/gangs/gang_summary.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace chipweave::simulate {
namespace {

std::int64_t size_class(const domain::TraceGang& gang) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(gang.all_chips())));
}

}  // namespace

GangSummary summary_of(const std::vector<domain::TraceGang>& gangs, const GangReplayed& run) {
  GangSummary out;
  out.arrived = gangs.size();
  out.started = run.runs.size();
  out.never_fit = run.never_fit.size();
  out.refused = run.refused.size();
  out.most_waiting = run.most_waiting;
  out.used_until_last_arrival = run.used_until_last_arrival;
  out.used_until_end = run.used_until_end;
  out.end_s = run.end_s;
  out.levels = run.levels;
  std::vector<double> waits;
  std::map<std::int64_t, std::vector<double>> by_size;
  std::map<std::int64_t, std::size_t> arrived;
  for (const domain::TraceGang& gang : gangs) ++arrived[size_class(gang)];
  for (const GangRun& one : run.runs) {
    waits.push_back(one.start_s - gangs[one.gang].arrival_s);
    by_size[size_class(gangs[one.gang])].push_back(waits.back());
  }
  out.waited = static_cast<std::size_t>(
      std::count_if(waits.begin(), waits.end(), [](double s) { return s > 0; }));
  for (const auto& [chips, count] : arrived) {
    std::vector<double>& here = by_size[chips];
    const std::size_t started = here.size();
    out.sizes.push_back({chips, count, started, distribution_of(std::move(here))});
  }
  out.wait_s = distribution_of(std::move(waits));
  out.decision_ns = distribution_of({run.decision_ns.begin(), run.decision_ns.end()});
  return out;
}

}  // namespace chipweave::simulate
