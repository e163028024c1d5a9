// Availability — why nodes take a pod or do not, in the form of kube-scheduler's own sentence:
// "0/10 nodes are available: 7 Insufficient nvidia.com/gpu, 3 NotReady (the agent is silent)".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::domain {

inline constexpr std::string_view kAgentSilent = "NotReady (the agent is silent)";
inline constexpr std::string_view kPluginNotReady = "NotReady (the device plugin is not ready)";
std::string insufficient(std::string_view resource);
std::string insufficient_healthy(std::string_view resource);
std::string without_resource(std::string_view resource);

// Nodes that do not take the pod for one reason.
struct Unavailable {
  std::size_t nodes = 0;
  std::string reason;
};
// The sentence without a full stop, the most frequent reason first. fitting: nodes that take it;
// not_offered: those that the pod's scheduler has ruled out itself, named last.
std::string availability_text(std::size_t fitting, std::vector<Unavailable> others,
                              std::size_t not_offered = 0);

}  // namespace chipweave::domain
