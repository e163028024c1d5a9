#include "scheduler-plugin/server/clusterd/clusterd_server.hpp"

#include <utility>

#include "common/base/endpoint.hpp"
#include "common/rpc/server.hpp"
#include "scheduler-plugin/server/clusterd/jobs/job_service.hpp"
#include "scheduler-plugin/server/clusterd/services.hpp"

namespace chipweave::sched {
namespace {

// How long the transport may take to flush the last statuses.
constexpr std::chrono::milliseconds kFlushStatuses{200};
// Of a table, which is smaller than a ConfigMap.
constexpr int kMaxMessageBytes = 2 << 20;
// Clients may ping as often as ClusterD lets them.
constexpr std::chrono::milliseconds kLeastPingInterval{3000};

}  // namespace

struct ClusterdServer::Impl {
  Impl(http::Loop& loop, const RankTables& of, const Scheduler& scheduler, const Clock& clock,
       OwnerUid owner)
      : table_feed(of, clock, limits),
        fault_feed(of, scheduler, clock, limits),
        job_feed(of, scheduler, clock, limits, std::move(owner)),
        tables({loop, calls}, table_feed),
        faults({loop, calls}, fault_feed),
        jobs({loop, calls}, job_feed) {}
  clusterd::CallerLimits limits;  // loop thread only, as the next five
  clusterd::TableFeed table_feed;
  clusterd::FaultFeed fault_feed;
  clusterd::JobFeed job_feed;
  bool leads = false;
  int turn = 0;
  std::shared_ptr<clusterd::CallSet> calls = std::make_shared<clusterd::CallSet>();
  clusterd::ConfigService tables;
  clusterd::FaultService faults;
  clusterd::JobService jobs;
  std::unique_ptr<grpc::Server> server;
};

ClusterdServer::ClusterdServer(http::Loop& loop, RankTables& tables, const Scheduler& scheduler,
                               const Clock& clock, OwnerUid owner)
    : impl_(std::make_unique<Impl>(loop, tables, scheduler, clock, std::move(owner))) {
  tables.add(impl_->table_feed);
  tables.add(impl_->job_feed);
}

void ClusterdServer::tick(bool leads) {
  impl_->table_feed.subscriptions().tick(leads);
  constexpr int kOthersEvery = 10;  // calls: about a second
  const bool changes = std::exchange(impl_->leads, leads) != leads;
  if (!changes && ++impl_->turn % kOthersEvery != 0) return;
  impl_->fault_feed.tick(leads);
  impl_->job_feed.tick(leads);
}

std::size_t ClusterdServer::subscribers() const { return impl_->limits.all(); }

ClusterdServer::~ClusterdServer() { stop(); }

Result<std::uint16_t> ClusterdServer::start(const std::string& host_port,
                                            rpc::ServerIdentity* tls) {
  const auto endpoint = parse_endpoint(host_port, PortZero::allowed);
  if (!endpoint) return Error(endpoint.error());
  rpc::ServerLimits server_limits;
  server_limits.max_message_bytes = kMaxMessageBytes;
  server_limits.least_ping_interval = kLeastPingInterval;
  server_limits.max_connection_age = std::chrono::hours(24);
  auto started = rpc::start_server(
      *endpoint, {{&impl_->tables, &impl_->faults, &impl_->jobs}, nullptr}, server_limits, tls);
  if (!started) return std::move(started).error();
  impl_->server = std::move(started->server);
  return started->port;
}

void ClusterdServer::stop() {
  if (impl_->server == nullptr) return;
  impl_->calls->close();
  impl_->server->Shutdown(std::chrono::system_clock::now() + kFlushStatuses);
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace chipweave::sched
