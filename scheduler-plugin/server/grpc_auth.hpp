// Who calls a gRPC method, and whether that caller may: by the names of its certificate and by its
// bearer token. Any thread; no state.
#pragma once

#include <string>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "scheduler-plugin/kube/token_review.hpp"
#include "scheduler-plugin/server/certificate_names.hpp"

namespace chipweave::sched {

enum class GrpcAccess {
  read,    // changes nothing
  decide,  // reserves or releases chips
  report,  // an agent's inventory; per report the certificate must name the node
};

struct GrpcCaller {
  const char* method;  // of static lifetime
  GrpcAccess access;
  std::string from{};                // address; empty: unknown
  std::vector<std::string> names{};  // DNS names, URIs and common name of its verified certificate
  bool has_certificate = false;      // a verified one
  std::string token{};               // until it is checked
};
// The address in gRPC's name of a peer: "ipv4:10.0.0.1:4711", "ipv6:%5B::1%5D:4711".
std::string address_of(const std::string& peer);
GrpcCaller caller_of(const grpc::CallbackServerContext& context, const char* method,
                     GrpcAccess access);

struct ShownToken {
  grpc::Status status;  // UNAUTHENTICATED with the reason
  std::string token;
};
// The token of the one `authorization: Bearer …` entry; its characters are checked. Its size is
// bounded by the limit on all metadata (rpc::start_server).
ShownToken shown_token(const grpc::CallbackServerContext& context);

// OK or PERMISSION_DENIED.
grpc::Status check_names(const GrpcCaller& caller, const CertificateNames& listed);
// An agent with a certificate may report only a node that the certificate names.
grpc::Status check_node(const GrpcCaller& caller, const std::string& node);

grpc::Status to_status(const CallerVerdict& verdict, GrpcAccess access);

}  // namespace chipweave::sched
