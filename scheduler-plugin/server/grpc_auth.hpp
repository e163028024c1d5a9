// Who calls the gRPC server: the bearer token of a call's metadata, and what its check came to. Any
// thread; no state.
#pragma once

#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "scheduler-plugin/kube/token_review.hpp"

namespace chipweave::sched {

struct ShownToken {
  grpc::Status status;  // UNAUTHENTICATED with what is wrong
  std::string token;
};
// Of `authorization: Bearer …`, shown once, and of the characters that tokens have. Its size is
// bounded by that of all metadata (rpc::start_server).
ShownToken shown_token(const grpc::CallbackServerContext& context);

grpc::Status to_status(const CallerVerdict& verdict);

}  // namespace chipweave::sched
