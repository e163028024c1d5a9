#include "scheduler-plugin/app/availability.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "common/base/age.hpp"
#include "common/domain/availability.hpp"
#include "scheduler-plugin/app/change_search.hpp"

namespace chipweave::sched {
namespace {

std::string phrase_of(const Rejection& one, std::string_view resource) {
  switch (one.cause) {
    case Cause::busy:
      return domain::insufficient(resource);
    case Cause::unhealthy:
      return domain::insufficient_healthy(resource);
    case Cause::stale:
      return std::string(domain::kAgentSilent);
    case Cause::closed:
      return std::string(domain::kPluginNotReady);
    case Cause::resource:
      return domain::without_resource(resource);
    default:
      return std::string(one.reason);
  }
}

}  // namespace

std::string availability_text(std::string_view resource, const std::vector<Rejection>& rejections,
                              std::size_t not_offered) {
  std::vector<domain::Unavailable> others;
  others.reserve(rejections.size());
  for (const Rejection& one : rejections) others.push_back({one.nodes, phrase_of(one, resource)});
  return domain::availability_text(0, std::move(others), not_offered);
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
