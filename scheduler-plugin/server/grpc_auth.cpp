#include "scheduler-plugin/server/grpc_auth.hpp"

#include "common/base/text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <grpc/grpc_security_constants.h>

#include "scheduler-plugin/server/caller_check.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kScheme = "bearer ";

ShownToken bad_token(const char* why) { return {{grpc::StatusCode::UNAUTHENTICATED, why}, {}}; }

// RFC 6750, b64token.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (lower_case(c) >= 'a' && lower_case(c) <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  });
}

}  // namespace

ShownToken shown_token(const grpc::CallbackServerContext& context) {
  const auto [begin, end] = context.client_metadata().equal_range("authorization");
  if (begin == end)
    return bad_token("a token is required: send the metadata 'authorization: Bearer TOKEN'");
  if (std::next(begin) != end) return bad_token("'authorization' is sent more than once");
  const std::string_view text(begin->second.data(), begin->second.size());
  const bool bearer = text.size() > kScheme.size() &&
                      std::equal(kScheme.begin(), kScheme.end(), text.begin(),
                                 [](char wanted, char c) { return wanted == lower_case(c); });
  if (!bearer) return bad_token("'authorization' is not 'Bearer TOKEN'");
  const std::string_view token = text.substr(kScheme.size());
  if (!is_token(token)) return bad_token("the token contains invalid characters");
  return {grpc::Status::OK, std::string(token)};
}

grpc::Status check_names(const grpc::CallbackServerContext& context,
                         const std::vector<std::string>& listed) {
  const auto identity = context.auth_context();
  for (const char* property :
       {GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : identity->FindPropertyValues(property)) {
      const std::string_view text(name.data(), name.size());
      if (std::find(listed.begin(), listed.end(), text) != listed.end()) return grpc::Status::OK;
    }
  }
  return {grpc::StatusCode::PERMISSION_DENIED,
          std::string(explain(CallerRefusal::name_not_allowed))};
}

grpc::Status to_status(const CallerVerdict& verdict) {
  switch (verdict.kind) {
    case CallerVerdict::Kind::accepted:
      return grpc::Status::OK;
    case CallerVerdict::Kind::unknown:
      return {grpc::StatusCode::UNAUTHENTICATED, verdict.why};
    case CallerVerdict::Kind::forbidden:
      return {grpc::StatusCode::PERMISSION_DENIED, verdict.why};
    case CallerVerdict::Kind::unavailable:
      return {grpc::StatusCode::UNAVAILABLE, verdict.why};
    case CallerVerdict::Kind::busy:
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, verdict.why};
  }
  return {grpc::StatusCode::INTERNAL, "the token was checked to no known end"};
}

}  // namespace chipweave::sched
