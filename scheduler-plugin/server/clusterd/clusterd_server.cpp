#include "scheduler-plugin/server/clusterd/clusterd_server.hpp"

#include <utility>

#include "common/base/endpoint.hpp"
#include "common/rpc/server.hpp"
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
  Impl(http::Loop& loop, const RankTables& of, const Scheduler& scheduler, const Clock& clock)
      : table_feed(of, clock),
        fault_feed(of, scheduler, clock),
        tables({loop, calls}, table_feed),
        faults({loop, calls}, fault_feed) {}
  clusterd::TableFeed table_feed;  // loop thread only, as the next three
  clusterd::FaultFeed fault_feed;
  bool leads = false;
  int turn = 0;
  std::shared_ptr<clusterd::CallSet> calls = std::make_shared<clusterd::CallSet>();
  clusterd::ConfigService tables;
  clusterd::FaultService faults;
  std::unique_ptr<grpc::Server> server;
};

ClusterdServer::ClusterdServer(http::Loop& loop, RankTables& tables, const Scheduler& scheduler,
                               const Clock& clock)
    : impl_(std::make_unique<Impl>(loop, tables, scheduler, clock)) {
  tables.add(impl_->table_feed);
}

void ClusterdServer::tick(bool leads) {
  impl_->table_feed.subscriptions().tick(leads);
  constexpr int kFaultsEvery = 10;  // calls: about a second
  const bool changes = std::exchange(impl_->leads, leads) != leads;
  if (changes || ++impl_->turn % kFaultsEvery == 0) impl_->fault_feed.tick(leads);
}

std::size_t ClusterdServer::subscribers() const {
  return impl_->table_feed.subscriptions().subscribers();
}

ClusterdServer::~ClusterdServer() { stop(); }

Result<std::uint16_t> ClusterdServer::start(const std::string& host_port,
                                            rpc::ServerIdentity* tls) {
  const auto endpoint = parse_endpoint(host_port, PortZero::allowed);
  if (!endpoint) return Error(endpoint.error());
  rpc::ServerLimits server_limits;
  server_limits.max_message_bytes = kMaxMessageBytes;
  server_limits.least_ping_interval = kLeastPingInterval;
  server_limits.max_connection_age = std::chrono::hours(24);
  auto started =
      rpc::start_server(*endpoint, {{&impl_->tables, &impl_->faults}, nullptr}, server_limits, tls);
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
