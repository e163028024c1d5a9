#include "common/rpc/status.hpp"

#include <array>
#include <string>

namespace chipweave::rpc {

grpc::StatusCode to_status_code(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case Errc::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case Errc::conflict:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case Errc::unavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case Errc::deadline:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Errc::limit_exceeded:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Errc::unsupported:
      return grpc::StatusCode::UNIMPLEMENTED;
    case Errc::internal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

std::string_view to_string(grpc::StatusCode code) {
  constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                       "CANCELLED",
                                                       "UNKNOWN",
                                                       "INVALID_ARGUMENT",
                                                       "DEADLINE_EXCEEDED",
                                                       "NOT_FOUND",
                                                       "ALREADY_EXISTS",
                                                       "PERMISSION_DENIED",
                                                       "RESOURCE_EXHAUSTED",
                                                       "FAILED_PRECONDITION",
                                                       "ABORTED",
                                                       "OUT_OF_RANGE",
                                                       "UNIMPLEMENTED",
                                                       "INTERNAL",
                                                       "UNAVAILABLE",
                                                       "DATA_LOSS",
                                                       "UNAUTHENTICATED"};
  const auto number = static_cast<std::size_t>(code);
  return number < kNames.size() ? kNames[number] : "UNKNOWN";
}

grpc::Status to_status(const Error& error) {
  return grpc::Status(to_status_code(error.code), error.text());
}

Error from_status(const grpc::Status& status) {
  Errc code = Errc::internal;
  for (const Errc known :
       {Errc::invalid_argument, Errc::not_found, Errc::conflict, Errc::unavailable, Errc::deadline,
        Errc::limit_exceeded, Errc::unsupported}) {
    if (to_status_code(known) == status.error_code()) code = known;
  }
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
