// Kubernetes — wires up everything that talks to the API server: pods and bindings, inventories,
// events on pods, requeue triggers for kube-scheduler, and leader election.
//
// Owner: the loop thread. Until pods, inventories and claims were listed once, the scheduler waits
// (Scheduler::set_waiting_for).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/kube/access.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/dra/claim_certainty.hpp"
#include "scheduler-plugin/kube/dra/claim_watch.hpp"
#include "scheduler-plugin/kube/dra/hand_over_check.hpp"
#include "scheduler-plugin/kube/events.hpp"
#include "scheduler-plugin/kube/gangs/api_evictions.hpp"
#include "scheduler-plugin/kube/gangs/config_map_plans.hpp"
#include "scheduler-plugin/kube/gangs/gang_events.hpp"
#include "scheduler-plugin/kube/gangs/gang_watch.hpp"
#include "scheduler-plugin/kube/gangs/hostfiles/gang_hostfiles.hpp"
#include "scheduler-plugin/kube/inventory_watch.hpp"
#include "scheduler-plugin/kube/kube_cluster.hpp"
#include "scheduler-plugin/kube/leader_election.hpp"
#include "scheduler-plugin/kube/network/dlrover_topology.hpp"
#include "scheduler-plugin/kube/network/network_watch.hpp"
#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"
#include "scheduler-plugin/kube/repair/leftover_claims.hpp"
#include "scheduler-plugin/kube/repair/lost_claims.hpp"
#include "scheduler-plugin/kube/requeue_trigger.hpp"
#include "scheduler-plugin/kube/token_review.hpp"
#include "scheduler-plugin/kube/waiting/waiting_claims.hpp"

namespace chipweave::sched {

struct KubernetesOptions {
  std::string lease_namespace;  // where agents' Leases are, and the stored plans of gangs
  std::string version;          // of this program, for the API server's log
  // Of the claims that hand chips over; no other claim may be allocated from it.
  std::string device_class = "chipweave";
  // Allocates the claims of its classes that waiting pods name (WaitingClaims); untainted: see
  // there.
  bool allocate_claims = false;
  bool allocate_untainted = false;
  // Owner objects of gangs that are watched, by the settings of codec::gang_sources().
  std::vector<std::string> gang_kinds;
  // Of NetworkSource::configmap.
  std::optional<ConfigMapName> network_config_map{};
  // Keeps the plans of gangs in ConfigMaps (ConfigMapPlans).
  bool store_gang_plans = false;
  // Writes the hostfiles that pods of gangs ask for (GangHostfiles).
  bool write_hostfiles = false;
  // Which rank tables are written into ConfigMaps.
  TableConfigMaps::Which write_tables{};
  // Where DLRover's node-topology-config is kept up to date (DlroverTopology).
  std::vector<std::string> dlrover_namespaces{};
  // Returns a number from 0 to 1 that shortens a wait; empty: random.
  std::function<double()> jitter;
  // None: this is the only replica.
  std::optional<LeaderElection::Options> election;
};

class Kubernetes {
 public:
  // Errors: invalid_argument, those of reading credentials. resources must outlive it.
  static Result<std::unique_ptr<Kubernetes>> make(http::Loop& loop, const Clock& clock,
                                                  const kube::ApiAccess& access,
                                                  KubernetesOptions options,
                                                  const ResourceTable& resources);
  // For tests: other transports. The election has its own, so that it never waits behind bindings,
  // and so have the ConfigMaps of write_hostfiles and dlrover_namespaces, so that no binding waits
  // behind them; null: the first.
  Kubernetes(std::unique_ptr<kube::Transport> transport,
             std::unique_ptr<kube::Transport> of_election, const Clock& clock,
             KubernetesOptions options, const ResourceTable& resources,
             std::unique_ptr<kube::Transport> of_files = nullptr);

  Cluster& cluster() { return cluster_; }
  Observer& events() { return events_; }
  Observer& gang_events() { return gang_events_; }
  // Where plans of gangs outlive a restart; forgets them without store_gang_plans.
  PlanStore& plans();
  // Ends pods of others, for which it needs more rights.
  Evictions& evictions() { return evictions_; }
  // Checks callers' tokens with the API server. Created by the first call.
  TokenReviewer& token_reviewer(TokenReviewer::Options options);
  // What owner objects say about gangs goes here. Call it before start().
  void set_gang_listener(GangBook::Changed changed) { gang_changed_ = std::move(changed); }
  // Pods are shown to it, and its tables are written as options say. Call it before start(); it
  // must outlive this.
  void use(RankTables& tables) { tables_ = &tables; }
  // Starts the watches. The scheduler must use cluster() and outlive this.
  void start(Scheduler& scheduler);
  // Call several times a second.
  void tick();
  // Why this replica cannot serve read-only requests yet; empty: it can.
  std::string not_ready() const { return election_ ? election_->not_ready() : std::string(); }
  // The owner object of the gang; nullopt: it is not known.
  std::optional<codec::EventObject> owner_of(const GangRef& gang) const;
  // Stops leading for good; `done` is called soon, whatever the API server does.
  void stop(std::function<void()> done);

  struct Stats {
    std::uint64_t events_sent = 0;
    std::uint64_t events_refused = 0;
    std::uint64_t events_dropped = 0;
    std::uint64_t requeue_triggers = 0;
    std::uint64_t watch_failures = 0;
    std::uint64_t unusable_inventories = 0;
    std::uint64_t leftover_claims = 0;                   // that were ended
    std::uint64_t lost_claims = 0;                       // that were made again
    std::optional<WaitingClaims::Stats> waiting_claims;  // where they are allocated
    TokenReviewer::Stats token_reviews{};
    std::optional<LeaderElection::Stats> leader;  // where there is an election
  };
  Stats stats() const;

 private:
  void update_waiting_for();
  LeaderElection::Events election_events();
  void watch_failed(const kube::WatchFailure& failure);
  void wire_plans();
  void wire_waiting_claims();
  void wire_hostfiles();
  void wire_dlrover_topology();
  void wire_tables();
  void wire_pod_watchers();
  void wire_gang_watch();
  // Whether this scheduler writes to claims which devices of the node they have.
  bool allocates_devices_of(const std::string& node) const;

  std::unique_ptr<kube::Transport> transport_;
  std::unique_ptr<kube::Transport> of_files_;  // null: transport_
  const Clock& clock_;
  KubernetesOptions options_;
  KubeCluster cluster_;
  PodEvents events_;
  GangEvents gang_events_;
  std::unique_ptr<ConfigMapPlans> plans_;  // null: off
  NoPlanStore no_plans_;
  ApiEvictions evictions_;
  std::unique_ptr<LeaderElection> election_;  // null: no election
  Scheduler* scheduler_ = nullptr;
  std::unique_ptr<InventoryWatch> inventories_;
  std::unique_ptr<ClaimWatch> claims_;
  std::unique_ptr<HandOverCheck> hand_over_check_;
  std::unique_ptr<ClaimCertainty> claim_certainty_;
  std::unique_ptr<ClaimAllocator> claim_allocator_;
  std::unique_ptr<LeftoverClaims> leftover_claims_;
  std::unique_ptr<LostClaims> lost_claims_;
  std::unique_ptr<WaitingClaims> waiting_claims_;  // null: off
  GangBook::Changed gang_changed_;                 // empty: not listened to
  std::unique_ptr<GangWatch> gang_watch_;          // null: off
  std::unique_ptr<GangHostfiles> hostfiles_;       // null: off
  std::unique_ptr<DlroverTopology> dlrover_;       // null: off
  RankTables* tables_ = nullptr;                   // null: off
  std::unique_ptr<TableConfigMaps> table_maps_;    // null: off
  std::unique_ptr<RequeueTrigger> requeue_trigger_;
  std::unique_ptr<NetworkWatch> network_watch_;
  std::unique_ptr<TokenReviewer> reviewer_;
  std::uint64_t watch_failures_ = 0;
  std::uint64_t unusable_inventories_ = 0;
};

}  // namespace chipweave::sched
