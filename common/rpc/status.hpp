// Errc ↔ gRPC status codes: the one table for every service.
#pragma once

#include <string_view>

#include <grpcpp/support/status.h>

#include "common/base/result.hpp"

namespace chipweave::rpc {

grpc::StatusCode to_status_code(Errc code);
// gRPC's name of a code: "NOT_FOUND"; of a number that is none: "UNKNOWN".
std::string_view to_string(grpc::StatusCode code);
// Code and text (with context) of an error.
grpc::Status to_status(const Error& error);
// Of a status that is not OK. Codes that no Errc maps to: CANCELLED and ABORTED are unavailable,
// permission codes conflict, the rest internal.
Error from_status(const grpc::Status& status);

}  // namespace chipweave::rpc
