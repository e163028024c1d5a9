// Metrics — the scheduler's metrics (docs/reference/metrics.md): counters and histograms updated by
// events, gauges at scrape.
//
// Owner: the loop thread. Costs a few atomic additions a decision; a scrape walks the nodes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/loop.hpp"
#include "common/http/server.hpp"
#include "common/obs/metrics.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/server/caller_check.hpp"
#include "scheduler-plugin/server/node_metrics.hpp"
#include "scheduler-plugin/server/sliced_replies.hpp"

namespace chipweave::sched {

class Metrics final : public Observer {
 public:
  explicit Metrics(std::string_view version);

  void on(const Observation& seen) override;

  // Earlier processes of this replica ended because of a bug.
  void crashed(std::uint64_t times) { crashes_.add(static_cast<double>(times)); }
  // A gRPC call has ended. Any thread.
  void grpc_call(std::string_view method, std::string_view code);
  // path: the route, not the client's path.
  void request(std::string_view route, int status, std::chrono::nanoseconds took);
  void refused_caller(CallerRefusal why);
  // How many rank tables of jobs are complete / are not, and who follows those of deployments.
  void set_rank_tables(std::pair<std::size_t, std::size_t> jobs, std::size_t subscribers);
  void loop_held(http::LoopTask task, std::chrono::nanoseconds took);
  // kubernetes: null in standalone mode.
  std::string scrape(Scheduler& scheduler, const http::Server::Stats& server,
                     const Kubernetes::Stats* kubernetes = nullptr);
  // The same in parts, see SlicedReplies. One scrape at a time; the arguments must outlive it.
  SlicedReplies::Parts scrape_in_parts(Scheduler& scheduler, const http::Server::Stats& server,
                                       const std::optional<Kubernetes::Stats>& kubernetes);

 private:
  void count(const DecisionMade& decision);
  struct Scrape;
  bool scrape_part(Scrape& at, std::string& out);
  bool scrape_pods(Scrape& at);
  void scrape_totals(const Scheduler& scheduler);
  void scrape_server(const http::Server::Stats& server);
  void scrape_kubernetes(const Kubernetes::Stats& now);
  void scrape_claims(const WaitingClaims::Stats& now, const WaitingClaims::Stats& was);
  void scrape_leader(const LeaderElection::Stats& now);

  obs::Registry registry_;
  obs::Family<obs::Counter>& requests_;
  obs::Family<obs::Histogram>& request_seconds_;
  obs::Family<obs::Counter>& grpc_requests_;
  obs::Family<obs::Counter>& bind_failures_;
  obs::Counter crashes_;
  obs::Family<obs::Gauge>& pods_;
  obs::Family<obs::Gauge>& certificate_;
  std::vector<obs::Histogram> decision_seconds_;  // by verb
  std::vector<obs::Counter> decisions_fit_;
  std::vector<obs::Counter> decisions_none_;
  std::vector<obs::Counter> rejected_;         // by cause
  std::vector<obs::Counter> reservations_;     // by event
  std::vector<obs::Histogram> share_;          // predicted against best possible; one
  std::vector<obs::Gauge> totals_;             // by Total
  std::vector<obs::Counter> trouble_;          // by Trouble
  std::vector<obs::Histogram> plan_seconds_;   // of gangs; one
  std::vector<obs::Counter> gang_events_;      // by GangEvent
  std::vector<obs::Gauge> gangs_;              // by GangState
  std::vector<obs::Gauge> rank_tables_;        // complete, incomplete, subscribers
  std::vector<obs::Counter> server_;           // refused, bad, over budget
  std::vector<obs::Counter> refused_callers_;  // by CallerRefusal
  std::vector<obs::Histogram> loop_hold_;      // by http::LoopTask
  http::Server::Stats seen_;
  std::vector<obs::Counter> kubernetes_;  // made at the first scrape that has them
  Kubernetes::Stats seen_kubernetes_;
  LeaderElection::Stats seen_leader_;
  std::map<std::pair<std::string, int>, std::pair<obs::Counter, obs::Histogram>> routes_;
  NodeMetrics nodes_;
};

}  // namespace chipweave::sched
