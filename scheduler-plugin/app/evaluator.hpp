// Evaluator — which nodes fit a request and which is best: a function of the request's context and
// the nodes. It changes nothing but its own caches.
//
// One verdict for each distinct node state. Cost of an evaluation of n nodes whose states were seen
// before: n name look-ups and n counts, about 10 ns per node (20 where the network has levels), no
// allocation; one solver call for each state that is new to this kind of request. Owner: the loop
// thread.
#pragma once

#include <array>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/solver/nodes/demand_estimate.hpp"
#include "common/solver/nodes/node_score.hpp"
#include "scheduler-plugin/app/evaluation.hpp"
#include "scheduler-plugin/app/nearness.hpp"
#include "scheduler-plugin/app/request_context.hpp"
#include "scheduler-plugin/app/verdict_table.hpp"

namespace chipweave::sched {

class Evaluator {
 public:
  // demand, network: null: nothing is known of pods, or of it.
  explicit Evaluator(const NodeTable& nodes, solver::NodePreference preference = {},
                     const solver::DemandEstimate* demand = nullptr, Network* network = nullptr)
      : nodes_(nodes),
        preference_(preference),
        demand_(demand != nullptr ? *demand : unknown_),
        nearness_(network) {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // The evaluation is valid until the next call.
  const Evaluation& evaluate(const RequestContext& context,
                             std::span<const std::string_view> names);
  // The same verdict for all nodes.
  const Evaluation& refuse(const Verdict& verdict, std::span<const std::string_view> names) {
    nodes_.find_all(names, evaluation_.nodes);
    return evaluation_.refuse(verdict);
  }
  // The last evaluation.
  const Evaluation& evaluation() const { return evaluation_; }

  // What one node can do for the request: chips that the solver chose, or why there are none.
  Answer answer(const RequestContext& context, NodeId node) const;
  // The same for a state that a node has or might have. beside: what other pods of the job hold.
  Answer answer_of(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  // Whether it is enough for the request; cheaper, since no chips are chosen.
  bool fits(const RequestContext& context, const NodeState& state) const;
  static ChipSet beside_on(const RequestContext& context, NodeId node);
  // Whether all chips of the holding are present and healthy.
  bool usable(const Holding& holding, const PodRequest& pod, bool distributed) const;

  // Names of all nodes with inventory.
  std::vector<std::string_view> all_names() const { return nodes_.reported_names(); }
  // "" if the kept verdict of every state equals a newly computed one.
  std::string check_verdicts() const;

 private:
  void accept_all();
  VerdictTable& table_of(const RequestContext& context);
  std::uint32_t judge(const RequestContext& context, NodeId node, VerdictTable& table);
  void rank_nodes(const RequestContext& context, VerdictTable& table);
  Answer part_answer(const RequestContext& context) const;
  Answer chips_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  Answer group_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;

  const NodeTable& nodes_;
  solver::NodePreference preference_;
  solver::DemandEstimate unknown_;
  const solver::DemandEstimate& demand_;
  Evaluation evaluation_;
  std::list<VerdictTable> tables_;  // the one used last in front
  // When a pod requests no chips: the verdict of each level.
  std::array<Verdict, solver::kBestScore> nothing_asked_;
  std::vector<solver::ScoreInput> score_inputs_;
  Nearness nearness_;
};

}  // namespace chipweave::sched
