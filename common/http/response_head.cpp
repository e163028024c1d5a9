#include "common/http/response_head.hpp"

#include <array>
#include <charconv>
#include <ctime>

#include <boost/beast/http/status.hpp>

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

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// "Sun, 06 Nov 1994 08:49:37 GMT"; made once a second.
const std::string& http_date() {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::time_t made_at = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == made_at) return text;
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> rest;
  // names are ours, not strftime's, which speaks the user's language
  text = std::string(kDays.at(static_cast<std::size_t>(utc.tm_wday))) + ", ";
  text.append(rest.data(), std::strftime(rest.data(), rest.size(), "%d ", &utc));
  text += kMonths.at(static_cast<std::size_t>(utc.tm_mon));
  text.append(rest.data(), std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S GMT", &utc));
  made_at = now;
  return text;
}

}  // namespace

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

void write_response_head(std::string& out, const Response& response, AfterReply after,
                         bool http11) {
  out = "HTTP/1.1 ";
  append_number(out, response.status);
  out += ' ';
  out += reason_of(response.status);
  if (may_have_body(response.status)) {
    out += "\r\nContent-Type: ";
    out += response.content_type;
    out += "\r\nContent-Length: ";
    append_number(out, response.body.size());
  }
  if (!response.allow.empty()) {
    out += "\r\nAllow: ";
    out += response.allow;
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

std::string error_body(std::string_view code, std::string_view message) {
  std::string body = R"({"error":{"code":")";
  body += code;
  body += R"(","message":")";
  body += message;
  body += "\"}}\n";
  return body;
}

Response internal_error() {
  Response response;
  response.status = 500;
  response.body = error_body("internal", "the request failed inside the server; see its log");
  return response;
}

}  // namespace chipweave::http
