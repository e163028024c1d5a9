// Client — blocking HTTP/1.1 client for the command line, tests and benches: one keep-alive
// connection, plain or over TLS, with a deadline for each call.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::http {

struct Reply {
  int status = 0;
  std::string body;
};

class Client {
 public:
  // Whether it is a URL for connect_to().
  static Result<void> check_url(std::string_view url);
  // url: "https://host:port", "http://host:port" or "host:port", no path. pem applies to https:
  // the server's certificate must name the host and be signed by pem.ca or by a CA of the system.
  // token: sent with every request as a bearer token; empty: none.
  static Result<Client> connect_to(std::string_view url, const ClientPem& pem = {},
                                   const std::string& token = {});
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // target: path with query, e.g. "/kube/filter". A kept connection that the server has closed is
  // replaced before anything is sent. If it closes without an answer afterwards, GET and HEAD are
  // sent again; other methods fail as unavailable, since the server may have acted. The reply
  // body is limited to limits::kMaxHttpBodyBytes.
  Result<Reply> call(std::string_view method, std::string_view target, std::string_view body,
                     std::chrono::milliseconds timeout = std::chrono::seconds(10));

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http
