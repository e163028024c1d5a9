// SchedulerClient — calls the HTTP API of a scheduler over a Transport: common/http's blocking
// client, or a function in tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/http/client.hpp"
#include "common/tls/client_files.hpp"

namespace chipweave::cli {

// method, target, body → reply; an Error only if the scheduler did not reply.
using Transport = std::function<Result<http::Reply>(
    std::string_view method, std::string_view target, std::string_view body)>;

// URL of the scheduler, TLS files, and the file of a reader's secret.
struct SchedulerAddress {
  std::string url;  // "https://host:port", "http://host:port" or "host:port", optional trailing '/'
  tls::ClientFiles files;
  std::string token_file;  // empty: none
};

// The secret in a file, without the line end that editors write. Empty name: "".
Result<std::string> read_token(const std::string& file);
// Errors from incompatible flags have the flag as context.
Result<Transport> connect(const SchedulerAddress& to);

// Of a node that a flag names; not_found, with the names near it. known: all names.
Error unknown_node(std::string_view name, const std::vector<std::string_view>& known);

struct CreatedPod {
  codec::PodView view;
  std::string json;  // as answered by the scheduler: what kube-scheduler would see in its watch
};

class SchedulerClient {
 public:
  explicit SchedulerClient(Transport transport) : transport_(std::move(transport)) {}

  Result<std::vector<codec::NodeView>> nodes();
  // With their topologies, fetched by small pages.
  Result<std::vector<codec::NodeView>> nodes_with_topologies();
  Result<std::vector<codec::PodSummary>> pods();
  Result<codec::PodView> pod(const std::string& ns, const std::string& name);
  // Errors: conflict if the pod exists.
  Result<CreatedPod> create_pod(const std::string& json);
  // args: ExtenderArgs.
  Result<codec::FilterReply> filter(const std::string& args);
  Result<std::vector<codec::HostScore>> prioritize(const std::string& args);
  // Why the binding was refused; empty: bound.
  Result<std::string> bind(const std::string& args);
  // The JSON text of /api/v1/explain/NAMESPACE/NAME.
  Result<std::string> explain(const std::string& ns, const std::string& name);
  // The JSON text of a list, {"items":[…]}, which is fetched by pages.
  Result<std::string> list(const std::string& target);
  // The JSON text of any other GET path, for -o json.
  Result<std::string> get(const std::string& target);

 private:
  // The body of a 2xx answer; other statuses become an Error of the matching code with the
  // scheduler's reason.
  Result<std::string> call(std::string_view method, const std::string& target,
                           std::string_view body);
  Transport transport_;
};

}  // namespace chipweave::cli
