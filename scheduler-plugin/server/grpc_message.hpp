// Messages of gRPC's generic calls: bytes to requests, replies to bytes.
#pragma once

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "common/base/result.hpp"

namespace chipweave::sched {

// Parses a message, which may be malformed. Unknown fields are dropped: in memory they could take
// many times the message's size. Errors: invalid_argument.
template <typename Request>
Result<Request> parse_message(grpc::ByteBuffer& message) {
  Request request;
  const grpc::Status parsed = grpc::SerializationTraits<Request>::Deserialize(&message, &request);
  if (!parsed.ok())
    return make_error(Errc::invalid_argument,
                      "the message is not a valid " + request.GetTypeName());
  request.DiscardUnknownFields();
  return request;
}

template <typename Reply>
grpc::Status write_message(const Reply& reply, grpc::ByteBuffer& out) {
  bool own = false;
  return grpc::SerializationTraits<Reply>::Serialize(reply, &out, &own);
}

}  // namespace chipweave::sched
