#include "scheduler-plugin/app/availability.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "common/base/age.hpp"
#include "scheduler-plugin/app/change_search.hpp"

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

std::vector<std::size_t> by_relevance(const Evaluation& evaluation, const NodeTable& nodes) {
  std::vector<std::pair<int, int>> keys;
  keys.reserve(evaluation.nodes.size());
  for (std::size_t i = 0; i < evaluation.nodes.size(); ++i) {
    const Verdict& v = evaluation.of(i);
    const NodeId id = evaluation.nodes[i];
    const int free = id == kNoNode ? 0 : nodes.node(id).free().size();
    keys.emplace_back(static_cast<int>(v.remedy) + (v.cause == Cause::resource ? 1 : 0), -free);
  }
  std::vector<std::size_t> out(keys.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return out;
}

std::string never_text(const PodRequest& request, const Evaluation& evaluation, bool all) {
  bool any = false;
  bool has_resource = false;
  for (const Verdict& v : evaluation.verdicts) {
    if (v.count == 0) continue;
    any = true;
    if (v.cause == Cause::resource) continue;
    has_resource = true;
    const bool of_machine = v.cause == Cause::size || v.cause == Cause::group;
    if (!of_machine || v.remedy != Remedy::unresolvable) return {};
  }
  if (!any) return {};
  if (!has_resource)
    return (all ? "no node in the cluster has " : "none of the offered nodes has ") +
           request.resource;
  return (all ? "no machine in the cluster can hold " : "none of the offered nodes can hold ") +
         (is_member(request) ? "its group" : chips_word(request.chips));
}

std::string silence_text(const Node& node, Clock::Steady now) {
  if (!node.has_inventory()) return "no agent has reported";
  return "the agent has not reported for " +
         age_text(std::chrono::duration_cast<std::chrono::seconds>(now - node.last_seen));
}

}  // namespace chipweave::sched
