// Arbitrary bytes → batch lines of `chipweave plan` and `chipweave rank`: no crash, what can be
// read is planned and ordered in bounded time, and answers are one line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/ranks/plan_ranks.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/rank_order.hpp"
#include "common/solver/ranks/weighted_order.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

// The cost of an order for a few pods, or nothing for communicators that do not fit them; jobs with
// more ranks would take too long for a fuzz input.
std::optional<chipweave::codec::CommunicatorCosts> weighed(
    const chipweave::codec::RankRequest& request) {
  using namespace chipweave::solver;
  constexpr std::int64_t kMaxRanks = 1000;
  constexpr std::size_t kMaxPods = 8;
  const std::size_t levels = request.levels.size();
  if (request.paths.size() > kMaxPods || request.communicators->ranks_per_pod > kMaxRanks)
    return std::nullopt;
  const auto traffic = pod_traffic(*request.communicators, request.paths.size());
  if (!traffic) return std::nullopt;
  const WeightedOrder found = weighted_order(levels, request.paths, *traffic);
  chipweave::codec::CommunicatorCosts costs;
  costs.crossings = communicator_crossings(levels, request.paths, *traffic, found.order);
  costs.weighted = weighted_cost(*traffic, costs.crossings);
  costs.depth_first_weighted = weighted_cost(
      *traffic,
      communicator_crossings(levels, request.paths, *traffic, depth_first(levels, request.paths)));
  if (!found.optimal || costs.weighted > costs.depth_first_weighted) std::abort();
  for (const auto& communicator : traffic->communicators) costs.names.push_back(communicator.name);
  return costs;
}

// The ranks of a plan in the order of its communicators: each pod keeps one rank, and none costs
// more than depth-first.
void ranked(const chipweave::solver::Fabric& fabric, const chipweave::codec::PlanRequest& request,
            chipweave::domain::Plan& plan) {
  constexpr std::int64_t kMaxRanks = 1000;
  const chipweave::domain::Communicators& communicators = *request.gang.communicators;
  if (communicators.ranks_per_pod > kMaxRanks || request.gang.running_pods() > 40) return;
  std::vector<int> before;
  for (const auto& pod : plan.pods) before.push_back(pod.rank);
  const auto order =
      chipweave::solver::order_ranks(fabric, request.levels, request.gang, communicators, plan);
  if (!order) return;
  if (order->weighted > order->depth_first_weighted) std::abort();
  std::vector<int> after;
  for (const auto& pod : plan.pods) after.push_back(pod.rank);
  std::sort(before.begin(), before.end());
  if (before != after) std::abort();
}

// Small requests are also planned: everything that can be read must be answered.
chipweave::domain::Plan planned(const chipweave::codec::PlanRequest& request) {
  using namespace chipweave::solver;
  constexpr std::size_t kMaxNodes = 40;
  constexpr int kMaxPods = 40;
  if (request.nodes.size() > kMaxNodes || request.gang.pods > kMaxPods) return {};
  Fabric fabric(request.levels.size());
  for (const chipweave::codec::PlanNode& node : request.nodes) {
    const auto id = fabric.add(node.name, node.place);
    if (!id) std::abort();
    fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) fabric.set_max_pods(*id, node.max_pods);
    fabric.set_healthy(*id, node.healthy);
  }
  chipweave::domain::Plan plan = plan_gang(fabric, request.levels, request.gang);
  if (plan.fits != !plan.pods.empty()) std::abort();
  if (plan.fits != plan.reason.empty()) std::abort();
  if (plan.fits && request.gang.communicators) ranked(fabric, request, plan);
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto one_line = [](const std::string& answer) {
    if (answer.find('\n') != std::string::npos) std::abort();
  };
  const PlanGangsLine plan = parse_plan_gangs(text);
  require_words(plan.request);
  std::vector<std::string> answers;
  if (plan.request) {
    for (const NamedGang& gang : plan.request->gangs)
      answers.push_back(write_plan_answer(plan.id, gang.request, planned(gang.request)));
    one_line(write_gangs_answer(plan.id, plan.request->gangs, answers));
  } else {
    one_line(write_batch_error(plan.id, plan.request.error()));
  }
  const RankLine rank = parse_rank_line(text);
  require_words(rank.request);
  if (!rank.request) return 0;
  const std::size_t levels = rank.request->levels.size();
  RankAnswer answer;
  answer.order = chipweave::solver::depth_first(levels, rank.request->paths);
  answer.crossings = chipweave::solver::ring_crossings(levels, rank.request->paths, answer.order);
  answer.input_crossings = answer.crossings;
  if (rank.request->communicators) answer.communicators = weighed(*rank.request);
  one_line(write_rank_answer(rank.id, *rank.request, answer));
  return 0;
}
