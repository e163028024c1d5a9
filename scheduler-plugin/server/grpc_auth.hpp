// The bearer token in a gRPC call's metadata, and the status for the result of its check. Any
// thread; no state.
#pragma once

#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "scheduler-plugin/kube/token_review.hpp"

namespace chipweave::sched {

struct ShownToken {
  grpc::Status status;  // UNAUTHENTICATED with the reason
  std::string token;
};
// The token of the one `authorization: Bearer …` entry; its characters are checked. Its size is
// bounded by the limit on all metadata (rpc::start_server).
ShownToken shown_token(const grpc::CallbackServerContext& context);

grpc::Status to_status(const CallerVerdict& verdict);

}  // namespace chipweave::sched
