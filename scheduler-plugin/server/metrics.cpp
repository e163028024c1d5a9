#include "scheduler-plugin/server/metrics.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scheduler-plugin/server/pod_metrics.hpp"

namespace chipweave::sched {
namespace {

// A decision takes microseconds with warm tables on a small cluster, milliseconds with cold tables
// on thousands of nodes.
const std::vector<double> kDecisionBuckets = {1e-6,   5e-6, 2.5e-5, 1e-4,   2.5e-4, 5e-4, 1e-3,
                                              2.5e-3, 5e-3, 1e-2,   2.5e-2, 0.1,    0.5,  1};
const std::vector<double> kRequestBuckets = {1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
                                             1e-2, 2.5e-2, 0.1,  0.5,  1,      5};
const std::vector<double> kHoldBuckets = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1};
const std::vector<double> kShareBuckets = {0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

// Some 100 us of work each.
constexpr std::size_t kPodsAPart = 256;
constexpr NodeId kNodesAPart = 128;

double seconds(std::chrono::nanoseconds ns) { return std::chrono::duration<double>(ns).count(); }

enum Total : std::size_t {
  kNodes,
  kClasses,
  kHeld,
  kPredicted,
  kBest,
  kConnections,
  kUnderWay,
  kBytes,
  kConflicts,
  kUnplaced
};
enum GangEvent : std::size_t {
  kPlanned,
  kUnplaceable,
  kReleased,
  kPreempting,
  kPreempted,
  kNotPreempting,
  kNotStored,
  kGateFailed,
  kNotNominated,
  kOverdue,
  kFaultEnded,
  kFaultNotEnded,
  kKeepsChips
};
enum Trouble : std::size_t { kDisputed, kUnaccounted, kDrifted, kUnenforced };

}  // namespace

Metrics::Metrics(std::string_view version)
    : requests_(registry_.counter("chipweave_http_requests_total",
                                  "HTTP requests by route and status code")),
      request_seconds_(registry_.histogram(
          "chipweave_http_request_duration_seconds",
          "Time from the complete request to the complete reply, by route", kRequestBuckets)),
      grpc_requests_(registry_.counter("chipweave_grpc_requests_total",
                                       "gRPC calls that ended, by method and status code")),
      bind_failures_(
          registry_.counter("chipweave_bind_failures_total", "Failed binds, by error code")),
      crashes_(registry_
                   .counter("chipweave_crashes_total",
                            "Times that this replica's process ended because of a bug")
                   .with()),
      pods_(registry_.gauge("chipweave_pods", "Pods by state")),
      certificate_(registry_.gauge("chipweave_tls_certificate_expiry_timestamp_seconds",
                                   "When the certificate in use expires, Unix time")) {
  auto& took =
      registry_.histogram("chipweave_decision_duration_seconds",
                          "Time of a decision by verb, without HTTP and JSON", kDecisionBuckets);
  auto& decisions = registry_.counter("chipweave_decisions_total",
                                      "Decisions by verb and whether any node fitted");
  for (const Verb verb : kVerbs) {
    const std::string name(to_string(verb));
    decision_seconds_.push_back(took.with({{"verb", name}}));
    decisions_fit_.push_back(decisions.with({{"verb", name}, {"result", "fits"}}));
    decisions_none_.push_back(decisions.with({{"verb", name}, {"result", "rejected"}}));
  }
  auto& rejected = registry_.counter("chipweave_rejected_nodes_total",
                                     "Nodes rejected by filter and prioritize, by reason");
  for (int i = 1; i < kCauseCount; ++i) {  // Cause::none is not a rejection
    rejected_.push_back(rejected.with({{"reason", std::string(to_string(static_cast<Cause>(i)))}}));
  }
  auto& reservations = registry_.counter(
      "chipweave_reservations_total", "Reservations by event: held, confirmed, expired or dropped");
  for (const ReservationEvent event : {ReservationEvent::held, ReservationEvent::confirmed,
                                       ReservationEvent::expired, ReservationEvent::dropped}) {
    reservations_.push_back(reservations.with({{"event", std::string(to_string(event))}}));
  }
  share_.push_back(
      registry_
          .histogram(
              "chipweave_placement_bandwidth_ratio",
              "Predicted bandwidth of placed sets divided by the best possible on their machine",
              kShareBuckets)
          .with());
  totals_ = {registry_.gauge("chipweave_nodes", "Nodes with inventory").with(),
             registry_.gauge("chipweave_machine_classes", "Distinct wirings in use").with(),
             registry_.gauge("chipweave_reservations", "Reservations held now").with(),
             registry_
                 .gauge("chipweave_placed_bandwidth_bytes_per_second",
                        "Sum of the predicted bandwidth of the sets of bound pods")
                 .with(),
             registry_
                 .gauge("chipweave_placed_best_bandwidth_bytes_per_second",
                        "Best bandwidth of the same pods on empty machines")
                 .with(),
             registry_.gauge("chipweave_http_connections", "Open HTTP connections").with(),
             registry_
                 .gauge("chipweave_bindings_in_flight",
                        "Bindings whose outcome the API server has not reported yet")
                 .with(),
             registry_
                 .gauge("chipweave_http_held_bytes",
                        "Memory of requests being read and replies being written")
                 .with(),
             registry_
                 .gauge("chipweave_network_conflicts",
                        "Nodes that two sources of the network place differently")
                 .with(),
             registry_
                 .gauge("chipweave_network_unplaced_nodes",
                        "Nodes with inventory that no source of the network knows")
                 .with()};
  trouble_ = {
      registry_
          .counter("chipweave_disputed_chips_total",
                   "Chips claimed by a bound pod although another bound pod has them")
          .with(),
      registry_
          .counter("chipweave_unaccounted_pods_total",
                   "Bound pods on nodes that did not fit into the node table")
          .with(),
      registry_
          .counter("chipweave_placement_drift_total",
                   "Pods that the kubelet gave other chips than were chosen for them")
          .with(),
      registry_
          .counter("chipweave_unenforced_bindings_total",
                   "Pods bound where the kubelet picks chips itself, likely slower ones than "
                   "the chosen ones")
          .with()};
  plan_seconds_.push_back(registry_
                              .histogram("chipweave_gang_plan_duration_seconds",
                                         "Time of a plan for a whole gang, reservations included",
                                         kDecisionBuckets)
                              .with());
  auto& gang_events = registry_.counter(
      "chipweave_gang_events_total",
      "Gangs by event: planned, unplaceable, released (not all pods were bound in time), "
      "preempting (others are to end for it), preempted (pods that were evicted), "
      "not_preempting (none end for it, or no more), not_stored, gate_failed, not_nominated, "
      "overdue (pods have not come for 5 minutes), fault_ended (pods whose node or chip failed), "
      "fault_not_ended (the API server did not accept that), keeps_chips (chips that come free are "
      "kept for it)");
  for (const char* event : {"planned", "unplaceable", "released", "preempting", "preempted",
                            "not_preempting", "not_stored", "gate_failed", "not_nominated",
                            "overdue", "fault_ended", "fault_not_ended", "keeps_chips"})
    gang_events_.push_back(gang_events.with({{"event", event}}));
  auto& gangs =
      registry_.gauge("chipweave_gangs", "Gangs by state; planned: running ones included");
  for (const GangState state : kGangStages)
    gangs_.push_back(gangs.with({{"state", std::string(to_string(state))}}));
  auto& tables = registry_.gauge("chipweave_rank_tables", "Rank tables of jobs by state");
  rank_tables_ = {tables.with({{"state", "complete"}}), tables.with({{"state", "incomplete"}}),
                  registry_
                      .gauge("chipweave_rank_table_subscribers",
                             "Open subscriptions to rank tables, faults and jobs over gRPC")
                      .with()};
  server_ = {registry_
                 .counter("chipweave_http_connections_refused_total",
                          "Connections refused or dropped because too many were open")
                 .with(),
             registry_
                 .counter("chipweave_http_bad_requests_total",
                          "Malformed, oversized or slow requests and failed TLS handshakes")
                 .with(),
             registry_
                 .counter("chipweave_http_over_budget_total",
                          "Requests and replies that the limit on held bytes left no room for")
                 .with()};
  auto& refused_callers = registry_.counter("chipweave_refused_callers_total",
                                            "Requests of callers that were not authenticated or "
                                            "not authorised, by reason");
  for (int i = 0; i < kCallerRefusals; ++i) {
    refused_callers_.push_back(
        refused_callers.with({{"reason", std::string(to_string(static_cast<CallerRefusal>(i)))}}));
  }
  auto& hold =
      registry_.histogram("chipweave_loop_hold_seconds",
                          "Time that one task held the loop, by kind of task", kHoldBuckets);
  for (const http::LoopTask task : http::kLoopTasks)
    loop_hold_.push_back(hold.with({{"task", std::string(to_string(task))}}));
  registry_.gauge("chipweave_build_info", "1, with the version as label")
      .with({{"version", std::string(version)}})
      .set(1);
}

void Metrics::count(const DecisionMade& decision) {
  const auto i = static_cast<std::size_t>(decision.verb);
  decision_seconds_[i].observe(seconds(decision.took));
  (decision.fits > 0 ? decisions_fit_ : decisions_none_)[i].add();
}

void Metrics::on(const Observation& seen) {
  std::visit(ByKind{[this](const DecisionMade& decision) { count(decision); },
                    [this](const NodesRejected& rejected) {
                      rejected_[static_cast<std::size_t>(rejected.cause) - 1].add(
                          static_cast<double>(rejected.nodes));
                    },
                    [this](ReservationEvent event) {
                      reservations_[static_cast<std::size_t>(event)].add();
                    },
                    [this](const PodBound& pod) {
                      if (pod.best_gbps > 0) share_[0].observe(pod.gbps / pod.best_gbps);
                      if (pod.unenforced_gbps) trouble_[kUnenforced].add();
                    },
                    [this](const BindFailed& failure) {
                      bind_failures_.with({{"code", to_string(failure.error.code)}}).add();
                    },
                    [this](const PodDisputed& dispute) {
                      trouble_[kDisputed].add(static_cast<double>(dispute.chips.size()));
                    },
                    [this](const PodDrifted&) { trouble_[kDrifted].add(); },
                    [this](const PodUnaccounted&) { trouble_[kUnaccounted].add(); },
                    [this](const GangPlanned& gang) {
                      plan_seconds_[0].observe(seconds(gang.took));
                      gang_events_[kPlanned].add();
                    },
                    [this](const GangUnplaceable&) { gang_events_[kUnplaceable].add(); },
                    [this](const GangReleased&) { gang_events_[kReleased].add(); },
                    [this](const GangKeepsChips&) { gang_events_[kKeepsChips].add(); },
                    [this](const GangPreempting&) { gang_events_[kPreempting].add(); },
                    [this](const PodPreempted&) { gang_events_[kPreempted].add(); },
                    [this](const GangNotPreempting&) { gang_events_[kNotPreempting].add(); },
                    [this](const GangNotStored&) { gang_events_[kNotStored].add(); },
                    [this](const GangGateFailed&) { gang_events_[kGateFailed].add(); },
                    [this](const GangNotNominated&) { gang_events_[kNotNominated].add(); },
                    [this](const GangOverdue&) { gang_events_[kOverdue].add(); },
                    [this](const GangPodEnded& pod) {
                      gang_events_[pod.error.empty() ? kFaultEnded : kFaultNotEnded].add();
                    },
                    [](const auto&) {}},
             seen);
}

void Metrics::request(std::string_view route, int status, std::chrono::nanoseconds took) {
  const std::pair<std::string, int> key(route, status);
  auto it = routes_.find(key);
  if (it == routes_.end()) {
    it = routes_
             .emplace(
                 key,
                 std::pair{requests_.with({{"path", key.first}, {"code", std::to_string(status)}}),
                           request_seconds_.with({{"path", key.first}})})
             .first;
  }
  it->second.first.add();
  it->second.second.observe(seconds(took));
}

void Metrics::refused_caller(CallerRefusal why) {
  refused_callers_[static_cast<std::size_t>(why)].add();
}

void Metrics::loop_held(http::LoopTask task, std::chrono::nanoseconds took) {
  loop_hold_[static_cast<std::size_t>(task)].observe(seconds(took));
}

void Metrics::grpc_call(std::string_view method, std::string_view code) {
  grpc_requests_.with({{"method", std::string(method)}, {"code", std::string(code)}}).add();
}

struct Metrics::Scrape {
  Scheduler* scheduler;
  http::Server::Stats server;
  std::optional<Kubernetes::Stats> kubernetes;
  std::uint64_t arrival = 0;                   // pods up to it are counted
  std::array<std::size_t, kPodStates> pods{};  // by state
  double predicted = 0;
  double best = 0;
  bool counted = false;
  int family = -1;  // of NodeMetrics; before them the registry
  NodeId node = 0;  // the next one
  int pod_family = 0;
  std::uint64_t pod = 0;  // arrival of the last one that is shown
};

// False: all are counted.
bool Metrics::scrape_pods(Scrape& at) {
  const Scheduler& scheduler = *at.scheduler;
  const auto count = [&](const ClusterPod& pod) {
    at.arrival = pod.arrival;
    if (const Decision* d = scheduler.decision(pod.request.uid)) {
      at.predicted += d->gbps * 1e9;
      at.best += d->best_gbps * 1e9;
    }
    ++at.pods[static_cast<std::size_t>(scheduler.records().state_of(pod))];
  };
  if (at.scheduler->cluster().each_after(at.arrival, kPodsAPart, count) == kPodsAPart) return true;
  for (std::size_t i = 0; i < kPodStates; ++i) {
    const auto state = static_cast<PodState>(i);
    if (state == PodState::absent) continue;
    pods_.with({{"state", std::string(to_string(state))}}).set(static_cast<double>(at.pods[i]));
  }
  totals_[kPredicted].set(at.predicted);
  totals_[kBest].set(at.best);
  return false;
}

void Metrics::scrape_server(const http::Server::Stats& server) {
  totals_[kConnections].set(static_cast<double>(server.connections_open));
  totals_[kBytes].set(static_cast<double>(server.bytes_held));
  if (const auto expiry = server.certificate_not_after.time_since_epoch(); expiry.count() > 0)
    certificate_.with().set(seconds(expiry));
  server_[0].add(static_cast<double>(server.connections_refused - seen_.connections_refused));
  server_[1].add(static_cast<double>(server.bad_requests - seen_.bad_requests));
  server_[2].add(static_cast<double>(server.over_budget - seen_.over_budget));
  seen_ = server;
}

void Metrics::scrape_kubernetes(const Kubernetes::Stats& now) {
  if (kubernetes_.empty()) {
    auto& events = registry_.counter("chipweave_events_total", "Events on pods by result");
    auto& reviews = registry_.counter("chipweave_token_reviews_total",
                                      "Token reviews of gRPC callers, by result");
    kubernetes_ = {
        events.with({{"result", "sent"}}),
        events.with({{"result", "dropped"}}),
        registry_
            .counter("chipweave_requeue_triggers_total",
                     "Nodes annotated so that kube-scheduler retries waiting pods")
            .with(),
        registry_
            .counter("chipweave_watch_failures_total",
                     "Watches and lists of the API server that failed and were restarted")
            .with(),
        registry_
            .counter("chipweave_unusable_inventories_total",
                     "NodeInventories that could not be read")
            .with(),
        reviews.with({{"result", "accepted"}}),
        reviews.with({{"result", "refused"}}),
        reviews.with({{"result", "failed"}}),
        events.with({{"result", "refused"}})};
  }
  const Kubernetes::Stats& was = seen_kubernetes_;
  kubernetes_[0].add(static_cast<double>(now.events_sent - was.events_sent));
  kubernetes_[1].add(static_cast<double>(now.events_dropped - was.events_dropped));
  kubernetes_[2].add(static_cast<double>(now.requeue_triggers - was.requeue_triggers));
  kubernetes_[3].add(static_cast<double>(now.watch_failures - was.watch_failures));
  kubernetes_[4].add(static_cast<double>(now.unusable_inventories - was.unusable_inventories));
  const TokenReviewer::Stats& reviews = now.token_reviews;
  const TokenReviewer::Stats& reviewed = was.token_reviews;
  kubernetes_[5].add(static_cast<double>(reviews.accepted - reviewed.accepted));
  kubernetes_[6].add(static_cast<double>(reviews.refused - reviewed.refused));
  kubernetes_[7].add(static_cast<double>(reviews.failed - reviewed.failed));
  kubernetes_[8].add(static_cast<double>(now.events_refused - was.events_refused));
  auto& repaired = registry_.counter(
      "chipweave_pod_claims_repaired_total",
      "Claims of pods that are not bound, which were ended, and of bound pods whose claims others "
      "had ended, which were made again");
  repaired.with({{"what", "ended"}})
      .add(static_cast<double>(now.leftover_claims - was.leftover_claims));
  repaired.with({{"what", "made_again"}})
      .add(static_cast<double>(now.lost_claims - was.lost_claims));
  if (now.waiting_claims)
    scrape_claims(*now.waiting_claims, was.waiting_claims.value_or(WaitingClaims::Stats{}));
  seen_kubernetes_ = now;
  if (now.leader) scrape_leader(*now.leader);
}

void Metrics::scrape_claims(const WaitingClaims::Stats& now, const WaitingClaims::Stats& was) {
  auto& writes = registry_.counter("chipweave_claim_writes_total",
                                   "ResourceClaims of waiting pods that were changed, by what");
  writes.with({{"what", "allocated"}}).add(static_cast<double>(now.allocated - was.allocated));
  writes.with({{"what", "reserved"}}).add(static_cast<double>(now.reserved - was.reserved));
  writes.with({{"what", "released"}}).add(static_cast<double>(now.released - was.released));
  registry_
      .counter(
          "chipweave_claim_nodes_refused_total",
          "Allocations of waiting pods that kube-scheduler ended because it cannot use the node")
      .with()
      .add(static_cast<double>(now.refused_nodes - was.refused_nodes));
  registry_
      .gauge("chipweave_pods_waiting_for_claims", "Pods whose claims are not all allocated yet")
      .with()
      .set(static_cast<double>(now.waiting));
}

void Metrics::scrape_leader(const LeaderElection::Stats& now) {
  registry_.gauge("chipweave_leader", "1 on the leading replica, 0 on a standby")
      .with()
      .set(now.leads ? 1 : 0);
  registry_.counter("chipweave_leader_terms_total", "Times this replica became the leader")
      .with()
      .add(static_cast<double>(now.terms - seen_leader_.terms));
  registry_
      .counter("chipweave_leader_failures_total", "Failed requests for the leader's Lease or label")
      .with()
      .add(static_cast<double>(now.failures - seen_leader_.failures));
  seen_leader_ = now;
}

void Metrics::set_rank_tables(std::pair<std::size_t, std::size_t> jobs, std::size_t subscribers) {
  rank_tables_[0].set(static_cast<double>(jobs.first));
  rank_tables_[1].set(static_cast<double>(jobs.second));
  rank_tables_[2].set(static_cast<double>(subscribers));
}

void Metrics::scrape_totals(const Scheduler& scheduler) {
  std::size_t inventories = 0;
  for (NodeId id = 0; id < scheduler.nodes().size(); ++id)
    inventories += scheduler.nodes().node(id).has_inventory() ? 1 : 0;
  totals_[kNodes].set(static_cast<double>(inventories));
  totals_[kUnderWay].set(static_cast<double>(scheduler.records().in_flight()));
  totals_[kClasses].set(static_cast<double>(scheduler.nodes().machine_classes()));
  totals_[kHeld].set(static_cast<double>(scheduler.ledger().reserved()));
  std::array<std::size_t, kGangStates.size()> gangs{};
  for (const auto& [id, gang] : scheduler.gangs().all())
    ++gangs[static_cast<std::size_t>(scheduler.gang_view().stage(gang))];
  for (std::size_t i = 0; i < gangs_.size(); ++i) gangs_[i].set(static_cast<double>(gangs[i]));
  totals_[kConflicts].set(static_cast<double>(scheduler.network().conflicts().size()));
  totals_[kUnplaced].set(static_cast<double>(scheduler.network().without_place()));
}

bool Metrics::scrape_part(Scrape& at, std::string& out) {
  if (!at.counted) {
    at.counted = !scrape_pods(at);
    return true;
  }
  if (at.family < 0) {
    scrape_totals(*at.scheduler);
    scrape_server(at.server);
    if (at.kubernetes) scrape_kubernetes(*at.kubernetes);
    out += registry_.expose();
    at.family = 0;
    return true;
  }
  if (at.family < NodeMetrics::kFamilies) {
    out += nodes_.expose(*at.scheduler, at.family, at.node, kNodesAPart);
    at.node += kNodesAPart;
    if (at.node < at.scheduler->nodes().size()) return true;
    at.node = 0;
    ++at.family;
    return true;
  }
  if (expose_pods(*at.scheduler, at.pod_family, kPodsAPart, at.pod, out)) return true;
  at.pod = 0;
  return ++at.pod_family < kPodFamilies;
}

SlicedReplies::Parts Metrics::scrape_in_parts(Scheduler& scheduler,
                                              const http::Server::Stats& server,
                                              const std::optional<Kubernetes::Stats>& kubernetes) {
  Scrape scrape;
  scrape.scheduler = &scheduler;
  scrape.server = server;
  scrape.kubernetes = kubernetes;
  return [this, at = scrape](std::string& out) mutable { return scrape_part(at, out); };
}

std::string Metrics::scrape(Scheduler& scheduler, const http::Server::Stats& server,
                            const Kubernetes::Stats* kubernetes) {
  const auto parts = scrape_in_parts(
      scheduler, server,
      kubernetes == nullptr ? std::nullopt : std::optional<Kubernetes::Stats>(*kubernetes));
  std::string out;
  while (parts(out)) continue;
  return out;
}

}  // namespace chipweave::sched
