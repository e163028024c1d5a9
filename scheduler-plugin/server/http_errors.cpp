#include "scheduler-plugin/server/http_errors.hpp"

#include <utility>

#include "common/base/json_writer.hpp"

namespace chipweave::sched {

int http_status(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return 400;
    case Errc::not_found:
      return 404;
    case Errc::conflict:
      return 409;
    case Errc::unavailable:
    case Errc::not_sent:
      return 503;
    case Errc::deadline:
      return 504;
    case Errc::limit_exceeded:
      return 413;
    case Errc::unsupported:
      return 501;
    case Errc::internal:
      return 500;
  }
  return 500;
}

http::Response json_response(std::string body, int status) {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

http::Response error_response(int status, std::string_view code, std::string_view message) {
  JsonWriter w;
  w.begin_object().key("error").begin_object().field("code", code).field("message", message);
  w.end_object().end_object();
  return json_response(w.take(), status);
}

http::Response error_response(const Error& error) {
  return error_response(http_status(error.code), to_string(error.code), error.text());
}

}  // namespace chipweave::sched
