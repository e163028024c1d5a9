// ClusterModel — the nodes of a live scheduler, copied, so that pods can be placed on them without
// the scheduler: which nodes fit, in its order, and which chips a pod would get.
//
// Chips and bandwidths are those of the scheduler's own solver. Its order of nodes also weighs CPU,
// memory and the network, which its HTTP answers do not show; nodes that differ in nothing else may
// come in another order there. A value: copies share the machines, which are not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/scheduler_client.hpp"
#include "common/base/result.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/domain/objective.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "common/solver/nodes/node_score.hpp"

namespace chipweave::cli {

// What a pod asks for.
struct PodNeed {
  std::string resource;  // "nvidia.com/gpu"
  int chips = 1;
  bool distributed = false;  // one of several pods of a job
  std::string job;           // "namespace/name", whose chips count together; empty: none
  domain::Objective objective = domain::Objective::bandwidth;
  double needs_gbps = 0;  // it gains nothing from more; 0: not declared
  int members = 1;        // pods of its group, each of so many chips, that need one node together
  std::string only_node;  // empty: any
};

// What a node would give to a pod.
struct Seat {
  std::size_t node = 0;                // position in ClusterModel::nodes()
  std::vector<domain::ChipSet> parts;  // slots, by member; one for a pod without a group
  double gbps = 0;  // of the chips of all members, with those that the job holds there
  double best_gbps = 0;
  domain::ChipSet left;  // free chips that remain
};

struct Outlook {
  std::vector<Seat> seats;  // best first
  // Reason → positions of the nodes that do not fit for it.
  std::map<std::string, std::vector<std::size_t>> rejected;

  // "3/10 nodes are available: 6 Insufficient nvidia.com/gpu, 1 NotReady (the agent is silent)", in
  // kube-scheduler's form, the most frequent reason first.
  std::string summary() const;
};

class ClusterModel {
 public:
  struct Node {
    std::string name;
    std::shared_ptr<solver::Machine> machine;  // null: its chips are not known
    domain::ChipSet free;
    domain::ChipSet unhealthy;
    domain::ChipSet network_unhealthy;
    std::vector<std::string> resources;
    std::string out_of_use{};  // why no pod may come; empty: they may
    std::uint32_t order = 0;   // position of its name in natural order
  };

  // nodes: with topologies. Errors: a scheduler that sends none; what
  // codec::import_topology_json() reports.
  static Result<ClusterModel> of(const std::vector<codec::NodeView>& nodes,
                                 const std::vector<codec::PodSummary>& pods);

  const std::vector<Node>& nodes() const { return nodes_; }
  std::optional<std::size_t> find(const std::string& name) const;
  // Resources that nodes offer, each once, ascending.
  std::vector<std::string> resources() const;
  // Vendor indices, ascending.
  std::vector<int> indices(std::size_t node, domain::ChipSet chips) const;
  // Predicted bandwidth of these chips with all that the job holds there ("": none); 0 if the
  // machine does not have them.
  double gbps_with_job(std::size_t node, const std::vector<int>& indices,
                       const std::string& job) const;
  // Of the best set of as many chips on the empty, healthy machine, for a job of several pods.
  double best_gbps_with_job(std::size_t node, const std::vector<int>& indices,
                            const std::string& job) const;
  // Free chips of nodes that are in use.
  int free_chips() const;

  // Positions of the nodes where pods may be placed: all of them at first.
  const std::vector<std::size_t>& candidates() const { return candidates_; }
  void set_candidates(std::vector<std::size_t> nodes) { candidates_ = std::move(nodes); }
  // No pod may come from now on, for this reason.
  void take_out(std::size_t node, const std::string& reason);

  Outlook outlook(const PodNeed& need) const;
  // outlook().seats.front(), or nullopt; cheaper.
  std::optional<Seat> best(const PodNeed& need) const;
  // The chips are the pod's from now on, with those of the other members of its group.
  void take(const Seat& seat, const PodNeed& need);

 private:
  // The chips, by slot, with those that the job holds there; empty if the machine lacks one.
  domain::ChipSet with_job(std::size_t node, const std::vector<int>& indices,
                           const std::string& job) const;
  // What is known of one node and one pod.
  struct Judged {
    Seat seat;
    solver::NodeOffer offer;
    std::string reason;  // empty: it fits
  };
  // The nodes that fit, in the order of candidates.
  struct Fitting {
    std::vector<Seat> seats;
    std::vector<solver::ScoreInput> inputs;
    solver::NodeOrder order;
  };
  using ByNode = std::map<std::size_t, domain::ChipSet>;

  Result<void> add(const codec::NodeView& view, solver::MachineCache& machines);
  // Chips that the job holds there.
  domain::ChipSet held_beside(std::size_t position, const std::string& job) const;
  Judged judge(std::size_t position, const PodNeed& need) const;
  // rejected: gets the others; null: not wanted.
  Fitting fitting(const PodNeed& need,
                  std::map<std::string, std::vector<std::size_t>>* rejected) const;

  std::vector<Node> nodes_;
  std::vector<std::size_t> candidates_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, ByNode> held_by_job_;
};

// The nodes as the scheduler knows them now. pods: as it has just answered.
Result<ClusterModel> read_model(SchedulerClient& scheduler,
                                const std::vector<codec::PodSummary>& pods);
// Positions of the named nodes, each once, as named. Errors: one is not known; its context is
// `flag`.
Result<std::vector<std::size_t>> named_nodes(const ClusterModel& model,
                                             const std::vector<std::string>& names,
                                             const std::string& flag);
// Of --node: these are the only candidates; none named: all stay.
Result<void> restrict_to_named(ClusterModel& model, const std::vector<std::string>& names);

}  // namespace chipweave::cli
