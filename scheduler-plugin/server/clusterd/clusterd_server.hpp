// ClusterdServer — the gRPC services by which MindIE learns of its rank table and of faults, and
// others of the cluster's jobs, with the names, messages and behaviour of MindCluster's ClusterD
// (proto/mindcluster; Subscriptions).
//
// Any client that reaches the port may ask, as there. Decodes on gRPC's threads and answers on the
// loop. Made and ticked on the loop thread, started and stopped from one thread that is not gRPC's;
// what it is made of must outlive it, and it every task that it posted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"

namespace chipweave::rpc {
class ServerIdentity;
}

namespace chipweave::sched {

class ClusterdServer {
 public:
  // The uid of a gang's owner object; "": it is not known.
  using OwnerUid = std::function<std::string(const GangRef&)>;
  // Follows the tables. owner: null for a scheduler without a cluster.
  ClusterdServer(http::Loop& loop, RankTables& tables, const Scheduler& scheduler,
                 const Clock& clock, OwnerUid owner);
  ~ClusterdServer();  // stop(), if it was not called
  ClusterdServer(const ClusterdServer&) = delete;
  ClusterdServer& operator=(const ClusterdServer&) = delete;

  // host_port: "127.0.0.1:0"; port 0 takes any free port. tls: null for none. Returns the port.
  // Errors: invalid_argument, unavailable.
  Result<std::uint16_t> start(const std::string& host_port, rpc::ServerIdentity* tls);
  // Ends all calls (UNAVAILABLE: clients try again).
  void stop();
  // leads: this replica leads and knows the cluster; otherwise all are refused. Call it several
  // times a second.
  void tick(bool leads);
  // Open subscriptions of all services.
  std::size_t subscribers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::sched
