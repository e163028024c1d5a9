// What the batch forms of all commands share: an error line, one JSON object without newline.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace chipweave::codec {

// id: as JSON text. {"id":…,"error":{"code":"invalid_request","message":"…"}}
std::string write_batch_error(const std::string& id, const Error& error);

}  // namespace chipweave::codec
