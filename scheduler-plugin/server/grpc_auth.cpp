#include "scheduler-plugin/server/grpc_auth.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <grpc/grpc_security_constants.h>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
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

std::string address_of(const std::string& peer) {
  const std::size_t begin = peer.find(':');
  const std::size_t end = peer.rfind(':');
  if (begin == std::string::npos || end <= begin) return {};
  std::string address = peer.substr(begin + 1, end - begin - 1);
  if (address.starts_with("%5B") && address.ends_with("%5D"))
    address = address.substr(3, address.size() - 6);
  return printable(address);
}

GrpcCaller caller_of(const grpc::CallbackServerContext& context, const char* method,
                     GrpcAccess access) {
  GrpcCaller out{method, access, address_of(context.peer())};
  const auto identity = context.auth_context();
  out.has_certificate = identity != nullptr && identity->IsPeerAuthenticated();
  if (!out.has_certificate) return out;
  for (const char* property :
       {GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : identity->FindPropertyValues(property))
      out.names.emplace_back(name.data(), name.size());
  }
  return out;
}

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

grpc::Status check_names(const GrpcCaller& caller, const CertificateNames& listed) {
  if (caller.access == GrpcAccess::report) return grpc::Status::OK;  // check_node()
  if (listed.clients.empty() && listed.readers.empty()) return grpc::Status::OK;
  if (CallerCheck::is_listed(caller.names, listed.clients)) return grpc::Status::OK;
  if (caller.access == GrpcAccess::decide) {
    return {grpc::StatusCode::PERMISSION_DENIED,
            "grpc-client-names lists no name of the client certificate"};
  }
  if (CallerCheck::is_listed(caller.names, listed.readers)) return grpc::Status::OK;
  return {grpc::StatusCode::PERMISSION_DENIED,
          "grpc-client-names and grpc-reader-names list no name of the client certificate"};
}

grpc::Status check_node(const GrpcCaller& caller, const std::string& node) {
  if (!caller.has_certificate || CallerCheck::is_listed(caller.names, {node}))
    return grpc::Status::OK;
  return {grpc::StatusCode::PERMISSION_DENIED,
          "the client certificate does not name node " + in_quotes(node) +
              ": an agent may report only the node that its certificate names"};
}

grpc::Status to_status(const CallerVerdict& verdict, GrpcAccess access) {
  switch (verdict.kind) {
    case CallerVerdict::Kind::accepted:
      if (!verdict.only_reads || access == GrpcAccess::read) return grpc::Status::OK;
      return {grpc::StatusCode::PERMISSION_DENIED,
              in_quotes(verdict.user) +
                  " may only read: grpc-users lists neither it nor any of its groups"};
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
