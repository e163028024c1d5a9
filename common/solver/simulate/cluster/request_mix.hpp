// RequestMix — the classes of requests in a trace and how often each occurs.
#pragma once

#include <cstddef>
#include <vector>

#include "common/domain/trace.hpp"
#include "common/solver/simulate/cluster/model_cluster.hpp"

namespace chipweave::simulate {

PodShape shape_of(const domain::TracePod& pod);

struct RequestClass {
  PodShape shape;
  double share = 0;  // of all pods; the shares of a mix sum to 1
};

// The classes of a trace, most frequent first: at most kMaxClasses, as the FGD paper uses the
// "typical" pods of a trace.
inline constexpr std::size_t kMaxClasses = 512;
std::vector<RequestClass> request_mix(const std::vector<domain::TracePod>& pods);

}  // namespace chipweave::simulate
