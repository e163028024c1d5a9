#include "common/base/endpoint.hpp"

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave {
namespace {

bool host_char(char c, bool v6) {
  const bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alnum || c == '.' || (v6 ? (c == ':' || c == '%') : (c == '-' || c == '_'));
}

Error bad(std::string_view text, std::string_view why) {
  return make_error(Errc::invalid_argument, "expected HOST:PORT such as 127.0.0.1:9200, got " +
                                                in_quotes(text) + ": " + std::string(why));
}

}  // namespace

std::string Endpoint::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool Endpoint::is_loopback() const {
  const bool digits = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "::1" || (digits && host.starts_with("127."));
}

Result<Endpoint> parse_endpoint(std::string_view text, PortZero zero) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad(text, "the port is missing");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  bool v6 = false;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    v6 = true;
  }
  if (host.empty()) return bad(text, "the host is missing");
  if (host.size() > limits::kMaxNameBytes) return bad(text, "the host is too long");
  for (const char c : host) {
    if (!host_char(c, v6)) return bad(text, "the host contains an invalid character");
  }
  const auto port = parse_number<std::uint16_t>(digits);
  if (!port) return bad(text, "the port must be a number up to 65535");
  if (*port == 0 && zero == PortZero::refused) return bad(text, "port 0 cannot be connected to");
  return Endpoint{std::string(host), *port};
}

Result<void> check_socket_path(std::string_view path) {
  const auto must = [](const std::string& be) {
    return make_error(Errc::invalid_argument, "must be " + be);
  };
  if (!path.starts_with('/') || path.ends_with('/'))
    return must("the absolute path of a socket, such as /run/a/b.sock");
  if (path.size() > limits::kMaxSocketPathBytes)
    return must("at most " + std::to_string(limits::kMaxSocketPathBytes) +
                " bytes long, as paths of sockets are");
  // gRPC reads it as a URI, where '%', '?' and '#' would mean something.
  for (const char c : path) {
    if (!host_char(c, false) && c != '/')
      return must("of letters, digits, '.', '_', '-' and '/' only");
  }
  return {};
}

}  // namespace chipweave
