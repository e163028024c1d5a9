// What filter and prioritize answer, as tests compare it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched::test {

// The names that filter leaves, in the order of the request.
inline std::vector<std::string_view> fitting(Scheduler& scheduler, const PodRequest& pod,
                                             std::span<const std::string_view> names) {
  const Evaluation& evaluation = scheduler.extender().filter(pod, names);
  std::vector<std::string_view> fit;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (evaluation.of(i).fits()) fit.push_back(names[i]);
  }
  return fit;
}

}  // namespace chipweave::sched::test
