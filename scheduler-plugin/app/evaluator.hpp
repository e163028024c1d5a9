// Evaluator — which nodes fit a request and which is best, from the state as it is; it changes
// nothing but its own caches.
//
// One verdict for each distinct node state. Cost of an evaluation of n nodes whose states were seen
// before: n name look-ups and n counts, about 10 ns per node, no allocation; one solver call for
// each state that is new to this kind of request. Owner: the loop thread.
#pragma once

#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/solver/chips/node_score.hpp"
#include "scheduler-plugin/app/evaluation.hpp"
#include "scheduler-plugin/app/request_context.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/app/verdict_table.hpp"

namespace chipweave::sched {

class Evaluator {
 public:
  explicit Evaluator(Core& core)
      : nodes_(core.state.nodes),
        ledger_(core.state.ledger),
        jobs_(core.state.jobs),
        cluster_(core.cluster),
        groups_(core.groups) {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // part: the fixed holding of the pod, if it has one.
  RequestContext context_of(const PodRequest& pod, const Holding* part) const;
  // The evaluation is valid until the next call.
  const Evaluation& evaluate(const RequestContext& context,
                             std::span<const std::string_view> names);
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

  // The last evaluation in words: "inventory not received; not enough free chips". In alphabetical
  // order and without numbers of nodes, so that the text stays the same while nodes come and go.
  std::string rejection_summary() const;
  // After the last evaluation: why the other nodes are not the best one, best first.
  std::vector<Considered> considered() const;
  // Names of all nodes with inventory.
  std::vector<std::string_view> all_names();
  // "" if the kept verdict of every state equals a newly computed one.
  std::string check_verdicts() const;

 private:
  void accept_all();
  VerdictTable& table_of(const RequestContext& context);
  std::uint32_t judge(const RequestContext& context, NodeId node, VerdictTable& table);
  void rank_nodes(VerdictTable& table);
  std::string why_lost(const Verdict& loser, const Verdict& best) const;
  Answer part_answer(const RequestContext& context) const;
  Answer chips_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;
  Answer group_answer(const RequestContext& context, const NodeState& state, ChipSet beside) const;

  NodeTable& nodes_;
  const Ledger& ledger_;
  const Jobs& jobs_;
  const Cluster& cluster_;
  const Groups& groups_;
  Evaluation evaluation_;
  std::list<VerdictTable> tables_;  // the one used last in front
  Verdict nothing_asked_;           // every node's verdict when a pod requests no chips
  std::vector<solver::ScoreInput> score_inputs_;
};

}  // namespace chipweave::sched
