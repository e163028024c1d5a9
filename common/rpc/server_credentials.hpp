// TLS credentials of a gRPC server that present the current certificate of a ServerIdentity.
#pragma once

#include <memory>

#include <grpcpp/security/server_credentials.h>

#include "common/rpc/server_identity.hpp"

namespace chipweave::rpc {

// The identity must outlive the server.
std::shared_ptr<grpc::ServerCredentials> make_server_credentials(ServerIdentity& identity);

}  // namespace chipweave::rpc
