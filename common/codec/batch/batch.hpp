// What the batch forms of all commands share.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace chipweave::codec {

// A parsed line: the id to repeat (as JSON text, "null" if there is none) and the request, or the
// error.
template <class Request>
struct BatchRequest {
  std::string id;
  Result<Request> request;
};

// One JSON object without newline; id: as JSON text.
// {"id":…,"error":{"code":"invalid_request","message":"…"}}
std::string write_batch_error(const std::string& id, const Error& error);

}  // namespace chipweave::codec
