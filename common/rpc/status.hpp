// Errc ↔ gRPC status codes: the one table for every service.
#pragma once

#include <string>

#include <grpcpp/support/status.h>

#include "common/base/result.hpp"

namespace chipweave::rpc {

grpc::StatusCode to_status_code(Errc code);
// gRPC's name of a code: "NOT_FOUND"; "UNKNOWN" for an undefined number.
std::string to_string(grpc::StatusCode code);
// Code and message (with context) of an error.
grpc::Status to_status(const Error& error);
// Precondition: status is not OK. Codes without an Errc: CANCELLED and ABORTED become unavailable,
// permission codes conflict, all others internal.
Error from_status(const grpc::Status& status);

}  // namespace chipweave::rpc
