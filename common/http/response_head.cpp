#include "common/http/response_head.hpp"

#include <array>
#include <ctime>

#include <boost/beast/http/status.hpp>

#include "common/base/json_writer.hpp"

namespace chipweave::http {
namespace {

namespace beast = boost::beast;

std::string_view reason_of(int status) {
  // RFC 9110 renamed these two.
  if (status == 413) return "Content Too Large";
  if (status == 422) return "Unprocessable Content";
  const auto text =
      beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status)));
  return {text.data(), text.size()};
}

// "Sun, 06 Nov 1994 08:49:37 GMT"; made once a second.
const std::string& http_date() {
  thread_local std::time_t made_at = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == made_at) return text;
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> date;
  // English names: a program is in the C locale until it calls setlocale, which ours do not
  text.assign(date.data(),
              std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc));
  made_at = now;
  return text;
}

}  // namespace

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

void write_response_head(std::string& out, const Response& response, AfterReply after,
                         bool http11) {
  out = "HTTP/1.1 ";
  out += std::to_string(response.status);
  out += ' ';
  out += reason_of(response.status);
  if (may_have_body(response.status)) {
    out += "\r\nContent-Type: ";
    out += response.content_type;
    out += "\r\nContent-Length: ";
    out += std::to_string(response.body_bytes());
  }
  if (!response.allow.empty()) {
    out += "\r\nAllow: ";
    out += response.allow;
  }
  if (response.retry_after > 0) {
    out += "\r\nRetry-After: ";
    out += std::to_string(response.retry_after);
  }
  out += "\r\nDate: ";
  out += http_date();
  if (after == AfterReply::close) {
    out += "\r\nConnection: close";
  } else if (!http11) {
    out += "\r\nConnection: keep-alive";
  }
  out += "\r\n\r\n";
}

Response error_response(int status, std::string_view code, std::string_view message) {
  JsonWriter body;
  body.begin_object().key("error").begin_object().field("code", code).field("message", message);
  Response response;
  response.status = status;
  response.body = body.end_object().end_object().take() + "\n";
  return response;
}

Response error_response(RefusalShape shape, int status, std::string_view code,
                        std::string_view message) {
  return shape == nullptr ? error_response(status, code, message) : shape(message);
}

Response busy_response(RefusalShape shape) {
  Response response = error_response(
      shape, 503, "busy",
      "the requests that the server is reading take all its memory for them; try again");
  response.retry_after = 1;
  response.close = true;
  return response;
}

Response internal_error(RefusalShape shape) {
  return error_response(shape, 500, "internal",
                        "the request failed inside the server; see its log");
}

}  // namespace chipweave::http
