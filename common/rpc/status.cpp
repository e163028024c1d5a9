#include "common/rpc/status.hpp"

#include <utility>

#include <absl/status/status.h>

#include "common/rpc/enum_table.hpp"

namespace chipweave::rpc {
namespace {

constexpr EnumTable<Errc, grpc::StatusCode, 8> kCodes = {{
    {Errc::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
    {Errc::not_found, grpc::StatusCode::NOT_FOUND},
    {Errc::conflict, grpc::StatusCode::FAILED_PRECONDITION},
    {Errc::unavailable, grpc::StatusCode::UNAVAILABLE},
    {Errc::deadline, grpc::StatusCode::DEADLINE_EXCEEDED},
    {Errc::limit_exceeded, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {Errc::unsupported, grpc::StatusCode::UNIMPLEMENTED},
    {Errc::internal, grpc::StatusCode::INTERNAL},
}};

}  // namespace

grpc::StatusCode to_status_code(Errc code) {
  if (code == Errc::not_sent) return grpc::StatusCode::UNAVAILABLE;
  return theirs_of(kCodes, code).value_or(grpc::StatusCode::INTERNAL);
}

// gRPC's codes have the numbers and names of Abseil's.
std::string to_string(grpc::StatusCode code) {
  const std::string name = absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
  return name.empty() ? "UNKNOWN" : name;
}

grpc::Status to_status(const Error& error) {
  return grpc::Status(to_status_code(error.code), error.text());
}

Error from_status(const grpc::Status& status) {
  Errc code = ours_of(kCodes, status.error_code()).value_or(Errc::internal);
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::ABORTED:
      code = Errc::unavailable;
      break;
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      code = Errc::conflict;
      break;
    default:
      break;
  }
  std::string text = status.error_message();
  if (text.empty()) text = "the peer gave no reason";
  return make_error(code, std::move(text));
}

}  // namespace chipweave::rpc
