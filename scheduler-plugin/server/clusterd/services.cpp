#include "scheduler-plugin/server/clusterd/services.hpp"

#include <string>

#include "scheduler-plugin/server/clusterd/pushed_stream.hpp"
#include "scheduler-plugin/server/grpc_auth.hpp"

namespace chipweave::sched::clusterd {
namespace {

config::RankTableStream table_message(const std::string& job, const std::string& table) {
  config::RankTableStream out;
  out.set_jobid(job);
  out.set_ranktable(table);
  return out;
}

fault::FaultMsgSignal fault_message(const std::string& /*job*/, const std::string& pushed) {
  fault::FaultMsgSignal out;
  out.ParseFromString(pushed);
  return out;
}

template <class Request, class Response>
grpc::ServerUnaryReactor* register_client(const CallContext& context, Subscriptions& with,
                                          const Request& request, Response* response) {
  return UnaryCall::begin(context, [&with, response, job = request.jobid()] {
    auto registered = with.register_for(job);
    if (!registered) return rpc::to_status(registered.error());
    response->set_code(0);
    response->set_info("register success");
    return grpc::Status::OK;
  });
}

}  // namespace

grpc::ServerUnaryReactor* ConfigService::Register(grpc::CallbackServerContext* /*context*/,
                                                  const config::ClientInfo* request,
                                                  config::Status* response) {
  return register_client(context_, feed_.subscriptions(), *request, response);
}

grpc::ServerWriteReactor<config::RankTableStream>* ConfigService::SubscribeRankTable(
    grpc::CallbackServerContext* context, const config::ClientInfo* request) {
  return PushedStream<config::RankTableStream>::begin(context_, feed_.subscriptions(),
                                                      request->jobid(), address_of(context->peer()),
                                                      table_message);
}

grpc::ServerUnaryReactor* FaultService::Register(grpc::CallbackServerContext* /*context*/,
                                                 const fault::ClientInfo* request,
                                                 fault::Status* response) {
  return register_client(context_, feed_.subscriptions(), *request, response);
}

grpc::ServerWriteReactor<fault::FaultMsgSignal>* FaultService::SubscribeFaultMsgSignal(
    grpc::CallbackServerContext* context, const fault::ClientInfo* request) {
  return PushedStream<fault::FaultMsgSignal>::begin(context_, feed_.subscriptions(),
                                                    request->jobid(), address_of(context->peer()),
                                                    fault_message);
}

grpc::ServerUnaryReactor* FaultService::GetFaultMsgSignal(grpc::CallbackServerContext* /*context*/,
                                                          const fault::ClientInfo* request,
                                                          fault::FaultQueryResult* response) {
  return UnaryCall::begin(context_, [this, response, job = request->jobid()] {
    response->set_code(0);
    response->set_info("success");
    *response->mutable_faultsignal() = feed_.signal(job);
    return grpc::Status::OK;
  });
}

}  // namespace chipweave::sched::clusterd
