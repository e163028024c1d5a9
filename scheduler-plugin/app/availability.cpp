#include "scheduler-plugin/app/availability.hpp"

#include <algorithm>
#include <chrono>

#include "common/base/age.hpp"

namespace chipweave::sched {
namespace {

std::string phrase_of(const Rejection& one, std::string_view resource) {
  switch (one.cause) {
    case Cause::busy:
      return "Insufficient " + std::string(resource);
    case Cause::unhealthy:
      return "Insufficient healthy " + std::string(resource);
    case Cause::stale:
      return "NotReady (the agent is silent)";
    case Cause::closed:
      return "NotReady (the device plugin is not ready)";
    case Cause::resource:
      return "without " + std::string(resource);
    default:
      return std::string(one.reason);
  }
}

}  // namespace

std::string availability_text(std::string_view resource, std::vector<Rejection> rejections,
                              std::size_t not_offered) {
  std::sort(rejections.begin(), rejections.end(), [](const Rejection& a, const Rejection& b) {
    return a.nodes != b.nodes ? a.nodes > b.nodes : a.reason < b.reason;
  });
  std::size_t nodes = not_offered;
  std::string why;
  const auto add = [&](std::size_t count, const std::string& phrase) {
    why += (why.empty() ? ": " : ", ") + std::to_string(count) + " " + phrase;
  };
  for (const Rejection& one : rejections) {
    nodes += one.nodes;
    add(one.nodes, phrase_of(one, resource));
  }
  if (not_offered > 0)
    add(not_offered, "not offered by the scheduler (node selector, taints or other resources)");
  return "0/" + std::to_string(nodes) + " nodes are available" + why;
}

std::string silence_text(const Node& node, Clock::Steady now) {
  if (!node.has_inventory()) return "no agent has reported";
  return "the agent has not reported for " +
         age_text(std::chrono::duration_cast<std::chrono::seconds>(now - node.last_seen));
}

}  // namespace chipweave::sched
