#include "common/solver/gang/defrag/defrag.hpp"

#include <utility>

#include "common/solver/gang/defrag/search/exact_moves.hpp"
#include "common/solver/gang/defrag/search/greedy_moves.hpp"
#include "common/solver/gang/defrag/search/move_problem.hpp"

namespace chipweave::solver {
namespace {

DefragPlan plan_of(const MoveProblem& problem, const Targets& targets) {
  DefragPlan out;
  for (std::size_t p = 0; p < targets.size(); ++p) {
    if (targets[p] == kStays) continue;
    const MovablePod& pod = problem.pods()[p];
    out.moves.push_back({pod.input, problem.nodes()[static_cast<std::size_t>(pod.node)].id,
                         problem.nodes()[static_cast<std::size_t>(targets[p])].id});
    out.chips_moved += pod.chips;
  }
  out.free_before = problem.free_domains();
  out.candidates = static_cast<int>(problem.candidates().size());
  const std::vector<char> free = problem.free_after(targets);
  for (std::size_t d = 0; d < free.size(); ++d) {
    const TargetDomain& domain = problem.domains()[d];
    out.free_after += free[d];
    if (domain.counts && !domain.free) ++out.in_use;
    if (free[d] != 0 && !domain.free) out.freed.push_back(domain.id);
    if (free[d] == 0 && domain.free) out.used_up.push_back(domain.id);
  }
  return out;
}

}  // namespace

DefragPlan plan_moves(const DefragRequest& request, std::uint64_t max_steps) {
  const MoveProblem problem(request);
  Targets targets = greedy_moves(problem);
  const MoveScore least = problem.least_cost(problem.most_gain());
  bool optimal = !least.better_than(problem.score(targets));
  if (!optimal && problem.pods().size() <= kMaxExactPods &&
      problem.nodes().size() <= kMaxExactNodes) {
    ExactResult found = exact_moves(problem, std::move(targets), max_steps);
    targets = std::move(found.targets);
    const bool certain = problem.fit() == nullptr || !problem.fit()->uncertain();
    optimal = (found.complete && certain) || !least.better_than(problem.score(targets));
  }
  DefragPlan out = plan_of(problem, targets);
  out.optimal = optimal;
  if (!optimal) {
    out.bound = DefragPlan::Bound{problem.most_gain(),
                                  problem.least_cost(problem.score(targets).gain).chips};
  }
  return out;
}

}  // namespace chipweave::solver
