// ResponseHead — the status line and fields of a reply, written into a buffer that the connection
// reuses. Beast's serializer would need a message with a list of fields for each reply.
#pragma once

#include <string>

#include "common/http/server.hpp"

namespace chipweave::http {

enum class AfterReply { keep_alive, close };

// Whether a reply of this status may carry a body (and a Content-Length): not 1xx, 204 and 304.
bool may_have_body(int status);

// Replaces `out`. `http11`: the client's version, which decides the Connection header.
void write_response_head(std::string& out, const Response& response, AfterReply after, bool http11);

// The body is {"error":{"code":…,"message":…}} and a newline.
Response error_response(int status, std::string_view code, std::string_view message);
// The same as the request's caller understands it; shape may be null.
Response error_response(RefusalShape shape, int status, std::string_view code,
                        std::string_view message);
// The reply when the server holds too many bytes: status 503.
Response busy_response(RefusalShape shape);
// The reply when a handler throws: status 500.
Response internal_error(RefusalShape shape);

}  // namespace chipweave::http
