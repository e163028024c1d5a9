// ApiClient — the Transport to a real API server: TLS, keep-alive, a bearer token that is read
// again each minute and after a 401, and TLS files (CA, client certificate) that are read again
// before a request, every two seconds at most, and after a failed connection. New files apply to
// new connections; streams in progress continue.
//
// Owner: the loop thread.
#pragma once

#include <memory>
#include <string>

#include "common/http/loop.hpp"
#include "common/kube/access.hpp"
#include "common/kube/transport.hpp"
#include "common/tls/client_credentials.hpp"

namespace chipweave::kube {

class ApiClient final : public Transport {
 public:
  // agent: the User-Agent header, "chipweave-scheduler/0.1.0". Errors: invalid_argument (unusable
  // certificate or key), those of reading the token.
  static Result<std::unique_ptr<ApiClient>> make(http::Loop& loop, ApiAccess access,
                                                 std::string agent);

  std::unique_ptr<Ticket> call(Call call, std::function<void(Result<Reply>)> done) override;
  std::unique_ptr<Ticket> stream(StreamRequest wanted, StreamSink sink) override;
  std::unique_ptr<Ticket> after(std::chrono::milliseconds delay,
                                std::function<void()> task) override;
  std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::now();
  }

 private:
  ApiClient(http::Loop& loop, ApiAccess access, std::string agent);
  http::AsyncRequest request(std::string method, const std::string& target, std::string accept);
  Result<void> read_token();
  void check_files();

  http::Loop& loop_;
  ApiAccess access_;
  std::string agent_;
  std::string token_;
  std::chrono::steady_clock::time_point token_read_{};
  tls::ClientCredentials credentials_;
  std::chrono::steady_clock::time_point files_read_;
  std::unique_ptr<http::AsyncClient> client_;
};

}  // namespace chipweave::kube
