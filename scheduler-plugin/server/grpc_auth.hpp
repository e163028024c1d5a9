// The bearer token in a gRPC call's metadata, and the status for the result of its check. Any
// thread; no state.
#pragma once

#include <string>
#include <vector>

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

// OK if the caller's certificate has one of the listed names, else PERMISSION_DENIED.
grpc::Status check_names(const grpc::CallbackServerContext& context,
                         const std::vector<std::string>& listed);

grpc::Status to_status(const CallerVerdict& verdict);

}  // namespace chipweave::sched
