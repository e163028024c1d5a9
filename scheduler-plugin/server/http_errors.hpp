// JSON replies and errors as HTTP: one table of status codes for all handlers.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/http/server.hpp"

namespace chipweave::sched {

int http_status(Errc code);
http::Response json_response(std::string body, int status = 200);
// {"error":{"code":"not_found","message":"…"}}
http::Response error_response(const Error& error);
http::Response error_response(int status, std::string_view code, std::string_view message);

}  // namespace chipweave::sched
