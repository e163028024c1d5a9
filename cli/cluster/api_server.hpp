// ApiServer — calls a Kubernetes API server as the user of a kubeconfig.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/http/client.hpp"

namespace chipweave::cli {

class ApiServer {
 public:
  // kubeconfig, context: as for kubectl. Errors name the file, the entry, or what the server did.
  static Result<ApiServer> connect(const std::string& kubeconfig, const std::string& context);

  // target: path with query, e.g. "/api/v1/nodes".
  Result<http::Reply> call(std::string_view method, const std::string& target,
                           std::string_view body = {});
  Result<http::Reply> get(const std::string& target) { return call("GET", target); }

  const std::string& url() const { return url_; }

 private:
  ApiServer(http::Client client, std::string url, std::string prefix)
      : client_(std::move(client)), url_(std::move(url)), prefix_(std::move(prefix)) {}
  http::Client client_;
  std::string url_;
  std::string prefix_;
};

// "services \"x\" is forbidden: …" of a reply of the API server; its status if it gives no message.
std::string message_of(const http::Reply& reply);

}  // namespace chipweave::cli
