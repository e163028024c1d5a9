// Preemption — which pods must end for a pod to fit on a node. Changes nothing.
//
// Cost: up to 50 µs for a node with 16 pods in a cluster of 90,000. kube-scheduler asks for up to a
// tenth of the nodes at once, so a caller with many nodes lets other tasks run in between. Owner:
// the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/nominations.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/app/victim_search.hpp"

namespace chipweave::sched {

class Preemption {
 public:
  Preemption(const Core& core, const Evaluator& evaluator, const Nominations& nominations)
      : nodes_(core.state.nodes),
        ledger_(core.state.ledger),
        jobs_(core.state.jobs),
        cluster_(core.cluster),
        contexts_(core.contexts),
        evaluator_(evaluator),
        nominations_(nominations) {}
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;

  // Whether the pod would fit on the node once the pods that were deleted there are gone.
  bool fits_when_ended(const PodRequest& pod, std::string_view node) const;
  // The work that one request may still do, and its nodes that are still to come. Each may use an
  // equal share of what is left.
  struct Budget {
    explicit Budget(std::size_t count) : nodes(count) {}
    std::size_t nodes;
    std::int64_t work = 300'000;  // see VictimSearch::kFitsWork
  };
  // Which pods (uids) must end for the pod to fit on the proposed node, by descending priority: the
  // cheapest set (see VictimSearch) of the proposed victims and, if the pod's priority is given, of
  // all bound pods with a lower one whose chips are known. Proposed victims that free no chips stay
  // on the list, since they were chosen for other reasons; the others may be replaced by pods that
  // request as much of every other resource. Chips that are kept for another pod do not count.
  // If victims were chosen for the pod on this node a moment ago, it is those that are left of
  // them. Empty: no such set, or the budget was used up before.
  std::vector<std::string> choose_victims(const PodRequest& pod, std::optional<int> priority,
                                          const ProposedVictims& proposed, Budget& budget) const;
  // The same for each of these nodes.
  std::vector<std::vector<std::string>> choose_victims(
      const PodRequest& pod, std::optional<int> priority,
      std::span<const ProposedVictims> nodes) const;

 private:
  bool fits_without(const PodRequest& pod, std::string_view name,
                    std::span<const std::string> victims) const;
  // work: how much may be done, then how much was.
  std::vector<std::string> choose_on_node(const RequestContext& context,
                                          std::optional<int> priority,
                                          const ProposedVictims& proposed,
                                          std::int64_t& work) const;
  std::vector<std::string> chosen_again(const std::string& uid, NodeId node, ChipSet of_others,
                                        const std::function<bool(ChipSet)>& fits) const;
  std::optional<Victim> victim_of(const Holding& holding, bool proposed,
                                  std::optional<int> priority, ChipSet of_others) const;
  struct VictimCandidates {
    std::vector<Victim> victims;
    ChipSet of_proposed;              // chips that come free with all that were proposed
    std::vector<std::string> others;  // proposed, but no chips come free with them
  };
  VictimCandidates candidates_on(NodeId node, const ProposedVictims& proposed,
                                 std::optional<int> priority, ChipSet of_others) const;
  // Null unless it holds chips.
  const ClusterPod* pod_of(const std::string& uid) const;
  bool frees_as_much(const std::vector<std::string>& chosen,
                     const std::vector<std::string>& proposed) const;
  void sort_by_priority(std::vector<std::string>& victims,
                        const std::vector<std::string>& proposed) const;

  const NodeTable& nodes_;
  const Ledger& ledger_;
  const Jobs& jobs_;
  const Cluster& cluster_;
  const RequestContexts& contexts_;
  const Evaluator& evaluator_;
  const Nominations& nominations_;
};

}  // namespace chipweave::sched
