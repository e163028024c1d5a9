#include "common/solver/simulate/arrivals.hpp"

#include <algorithm>

#include "common/solver/simulate/random_numbers.hpp"

namespace chipweave::simulate {

std::vector<Arrival> inflated(const std::vector<domain::TracePod>& pods, const Inflation& by) {
  std::vector<Arrival> out;
  const bool any =
      std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return pod.chips > 0; });
  if (!any) return out;
  RandomNumbers random(by.seed);
  const double wanted = by.load * by.cluster_chips;
  for (double asked = 0; asked < wanted && out.size() < by.most;) {
    const std::size_t pod = random.below(pods.size());
    out.push_back({pod, 0, 0});
    asked += pods[pod].chips;
  }
  return out;
}

std::vector<Arrival> recorded(const std::vector<domain::TracePod>& pods) {
  std::vector<Arrival> out;
  out.reserve(pods.size());
  for (std::size_t i = 0; i < pods.size(); ++i)
    out.push_back({i, pods[i].arrival_s, pods[i].duration_s});
  return out;
}

std::vector<Arrival> generated(const std::vector<domain::TracePod>& pods, const Generator& by) {
  std::vector<Arrival> out;
  if (pods.empty()) return out;
  constexpr double kHour = 3600;
  RandomNumbers random(by.seed);
  double now = 0;
  for (std::size_t i = 0; i < by.pods; ++i) {
    const std::size_t pod = random.below(pods.size());
    out.push_back({pod, now, random.exponential(by.mean_duration_s)});
    now += random.exponential(kHour / by.per_hour);
  }
  return out;
}

}  // namespace chipweave::simulate
