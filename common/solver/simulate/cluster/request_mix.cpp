#include "common/solver/simulate/cluster/request_mix.hpp"

#include <algorithm>
#include <map>

namespace chipweave::simulate {

PodShape shape_of(const domain::TracePod& pod) {
  return {pod.chips, pod.cpu_milli, pod.memory_mib};
}

std::vector<RequestClass> request_mix(const std::vector<domain::TracePod>& pods) {
  std::map<PodShape, std::size_t> counts;
  for (const domain::TracePod& pod : pods) ++counts[shape_of(pod)];
  std::vector<RequestClass> mix;
  mix.reserve(counts.size());
  for (const auto& [shape, count] : counts) mix.push_back({shape, static_cast<double>(count)});
  std::stable_sort(mix.begin(), mix.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  if (mix.size() > kMaxClasses) mix.resize(kMaxClasses);
  double sum = 0;
  for (const RequestClass& c : mix) sum += c.share;
  for (RequestClass& c : mix) c.share /= sum;
  return mix;
}

}  // namespace chipweave::simulate
