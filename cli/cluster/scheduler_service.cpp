#include "cli/cluster/scheduler_service.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/base64.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonValue;

constexpr std::string_view kSelector = "chipweave.dev%2Fservice%3Dread";
constexpr std::string_view kDefaultNamespace = "chipweave-system";
constexpr std::string_view kDefaultName = "chipweave-scheduler-read";
constexpr codec::JsonLimits kLimits{std::size_t{16} << 20U, 1000000};

// Of names of objects, so that they can be parts of a path.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

std::string services_path(std::string_view ns) {
  return concat("/api/v1/namespaces/", ns, "/services/");
}

SchedulerService read_service(JsonValue service) {
  SchedulerService out;
  const JsonValue metadata = service["metadata"];
  out.ns = metadata["namespace"].text();
  out.name = metadata["name"].text();
  for (const JsonValue port : service["spec"]["ports"]) {
    const std::string_view name = port["name"].text();
    if (name != "webhook" && name != "http" && name != "https") continue;
    out.port = static_cast<int>(port["port"].integer().value_or(out.port));
    out.scheme = name == "http" && port["appProtocol"].text() != "https" ? "http" : "https";
    break;
  }
  return out;
}

Error refused(const http::Reply& reply, const std::string& what) {
  return make_error(Errc::unavailable,
                    concat("the API server refuses to ", what, ": ", message_of(reply)));
}

Result<SchedulerService> named_service(ApiServer& server, const std::string& named) {
  const std::size_t slash = named.find('/');
  SchedulerService out;
  out.ns = named.substr(0, slash);
  out.name = slash == std::string::npos ? "" : named.substr(slash + 1);
  if (!is_name(out.ns) || !is_name(out.name))
    return make_error(Errc::invalid_argument, "expected NAMESPACE/NAME, got " + in_quotes(named))
        .in("--scheduler-service");
  const auto reply = server.get(services_path(out.ns) + out.name);
  if (!reply) return Error(reply.error());
  if (reply->status == 403) return out;  // the user may still be allowed to use its proxy
  if (reply->status == 404)
    return make_error(Errc::unavailable, concat("Service ", named, " not found in the cluster"));
  if (reply->status != 200) return refused(*reply, "show Service " + named);
  const auto tree = codec::parse_json(reply->body, kLimits);
  if (!tree) return Error(tree.error()).in("Service " + named);
  SchedulerService read = read_service(JsonValue(*tree));
  return read.name == out.name ? read : out;
}

Result<SchedulerService> only_one(std::vector<SchedulerService> found) {
  if (found.empty())
    return make_error(Errc::unavailable,
                      "no scheduler found: no Service of the cluster has the label "
                      "chipweave.dev/service=read; is "
                      "chipweave installed? Otherwise give --scheduler-service NAMESPACE/NAME");
  if (found.size() == 1) return std::move(found.front());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const SchedulerService& one : found) names.push_back(one.text());
  return make_error(Errc::unavailable,
                    "the cluster has several schedulers; choose one with --scheduler-service: " +
                        joined(names, ", "));
}

}  // namespace

std::string SchedulerService::proxy_path() const {
  return concat(services_path(ns), scheme, ":", name, ":", port, "/proxy");
}

Result<SchedulerService> find_scheduler(ApiServer& server, const std::string& named) {
  if (!named.empty()) return named_service(server, named);
  const auto reply = server.get(concat("/api/v1/services?labelSelector=", kSelector, "&limit=100"));
  if (!reply) return Error(reply.error());
  if (reply->status == 401) return refused(*reply, "authenticate the user of the kubeconfig");
  if (reply->status == 403)
    return named_service(server, concat(kDefaultNamespace, "/", kDefaultName));
  if (reply->status != 200) return refused(*reply, "list Services");
  const auto tree = codec::parse_json(reply->body, kLimits);
  if (!tree) return Error(tree.error()).in("Services of the cluster");
  std::vector<SchedulerService> found;
  for (const JsonValue service : JsonValue(*tree)["items"]) {
    SchedulerService one = read_service(service);
    if (is_name(one.ns) && is_name(one.name)) found.push_back(std::move(one));
  }
  return only_one(std::move(found));
}

std::string reader_secret(ApiServer& server, const SchedulerService& service) {
  constexpr std::string_view kSuffix = "-scheduler-read";
  if (!service.name.ends_with(kSuffix)) return "";
  const std::string release = service.name.substr(0, service.name.size() - kSuffix.size());
  const auto reply =
      server.get(concat("/api/v1/namespaces/", service.ns, "/secrets/", release, "-callers"));
  if (!reply || reply->status != 200) return "";
  const auto tree = codec::parse_json(reply->body, kLimits);
  if (!tree) return "";
  auto secret = codec::decode_base64(JsonValue(*tree)["data"]["reader"].text());
  if (!secret) return "";
  while (secret->ends_with('\n')) secret->pop_back();
  const bool usable = std::all_of(secret->begin(), secret->end(), [](char c) {
    return c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
  return usable ? *std::move(secret) : "";
}

bool is_status(const http::Reply& reply) {
  if (reply.status < 400) return false;
  const auto tree = codec::parse_json(reply.body);
  return tree && JsonValue(*tree)["kind"].text() == "Status";
}

}  // namespace chipweave::cli
