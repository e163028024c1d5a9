// The services of ClusterD by which MindIE learns of its rank table and of faults. Calls come on
// gRPC's threads, and are answered on the loop.
#pragma once

#include "mindcluster/config.grpc.pb.h"
#include "mindcluster/fault.grpc.pb.h"
#include "scheduler-plugin/server/clusterd/calls.hpp"
#include "scheduler-plugin/server/clusterd/fault_feed.hpp"
#include "scheduler-plugin/server/clusterd/table_feed.hpp"

namespace chipweave::sched::clusterd {

class ConfigService final : public config::Config::CallbackService {
 public:
  ConfigService(CallContext context, TableFeed& feed) : context_(std::move(context)), feed_(feed) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const config::ClientInfo* request,
                                     config::Status* response) override;
  grpc::ServerWriteReactor<config::RankTableStream>* SubscribeRankTable(
      grpc::CallbackServerContext* context, const config::ClientInfo* request) override;

 private:
  CallContext context_;
  TableFeed& feed_;  // loop thread only
};

class FaultService final : public fault::Fault::CallbackService {
 public:
  FaultService(CallContext context, FaultFeed& feed) : context_(std::move(context)), feed_(feed) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const fault::ClientInfo* request,
                                     fault::Status* response) override;
  grpc::ServerWriteReactor<fault::FaultMsgSignal>* SubscribeFaultMsgSignal(
      grpc::CallbackServerContext* context, const fault::ClientInfo* request) override;
  grpc::ServerUnaryReactor* GetFaultMsgSignal(grpc::CallbackServerContext* context,
                                              const fault::ClientInfo* request,
                                              fault::FaultQueryResult* response) override;

 private:
  CallContext context_;
  FaultFeed& feed_;  // loop thread only
};

}  // namespace chipweave::sched::clusterd
