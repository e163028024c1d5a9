#include "cli/scheduler_client.hpp"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

constexpr std::size_t kMaxTokenBytes = 16384;
constexpr int kItemsAPage = 2000;
constexpr int kTopologiesAPage = 200;  // of 64 chips each: 12 MB

// A 404 without the scheduler's own form of an error is another server's.
bool is_of_scheduler(const http::Reply& reply) {
  const auto tree = codec::parse_json(reply.body);
  return tree && codec::JsonValue(*tree)["error"];
}

Errc code_of(const http::Reply& reply) {
  switch (reply.status) {
    case 400:
    case 422:
      return Errc::invalid_argument;
    case 404:
      return is_of_scheduler(reply) ? Errc::not_found : Errc::unsupported;
    case 409:
      return Errc::conflict;
    case 413:
      return Errc::limit_exceeded;
    case 503:
      return Errc::unavailable;
    default:
      return Errc::internal;
  }
}

Result<ClientPem> read_pem(const SchedulerAddress& to) {
  const auto& [ca, certificate, key] = to.files;
  if (ca.empty() && certificate.empty() && key.empty() && to.token_file.empty()) return ClientPem{};
  if (!to.url.starts_with("https://")) {
    return make_error(Errc::invalid_argument,
                      "must be combined with an https:// URL, but --scheduler is " + to.url)
        .in(!ca.empty()                            ? "--ca"
            : !certificate.empty() || !key.empty() ? "--cert"
                                                   : "--token-file");
  }
  if (certificate.empty() != key.empty())
    return make_error(Errc::invalid_argument,
                      key.empty() ? "--cert requires --key" : "--key requires --cert");
  return tls::read_client_files(to.files);
}

}  // namespace

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  auto text = io::read_file(file, kMaxTokenBytes);
  if (!text) return std::move(text).error();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty() || text->find_first_of(" \t\r\n") != std::string::npos)
    return make_error(Errc::invalid_argument,
                      "expected one token without blanks, got several words or none")
        .in("file " + file);
  return std::move(text).value();
}

Error unknown_node(std::string_view name, const std::vector<std::string_view>& known) {
  return make_error(Errc::not_found,
                    concat("unknown node ", in_quotes(name), did_you_mean(name, known),
                           "; known: those that 'chipweave nodes' lists"));
}

Result<Transport> connect(const SchedulerAddress& to) {
  const std::string& url = to.url;
  std::string bare = url;
  while (bare.ends_with('/')) bare.pop_back();
  if (auto ok = http::Client::check_url(bare); !ok) return std::move(ok).error().in("--scheduler");
  auto pem = read_pem(to);
  if (!pem) return std::move(pem).error();
  const auto token = read_token(to.token_file);
  if (!token) return token.error();
  Result<http::Client> client = http::Client::connect_to(bare, *pem, *token);
  if (!client) {
    return std::move(client).error().in("scheduler " + url +
                                        " (give --scheduler or CHIPWEAVE_SCHEDULER)");
  }
  auto shared = std::make_shared<http::Client>(std::move(client).value());
  return Transport([shared, url](std::string_view method, std::string_view target,
                                 std::string_view body) -> Result<http::Reply> {
    Result<http::Reply> reply = shared->call(method, target, body);
    if (!reply) return std::move(reply).error().in("scheduler " + url);
    return reply;
  });
}

Result<std::string> SchedulerClient::call(std::string_view method, const std::string& target,
                                          std::string_view body) {
  Result<http::Reply> reply = transport_(method, target, body);
  if (!reply) return std::move(reply).error();
  if (reply->status >= 200 && reply->status < 300) return std::move(reply->body);
  return make_error(code_of(*reply), fmt::format("{} {} answered {}: {}", method, target,
                                                 reply->status, codec::read_refusal(reply->body)));
}

Result<std::vector<codec::NodeView>> SchedulerClient::nodes() {
  return list("/api/v1/nodes").and_then(codec::read_node_views);
}

Result<std::vector<codec::PodSummary>> SchedulerClient::pods() {
  return list("/api/v1/pods").and_then(codec::read_pod_summaries);
}

Result<codec::PodView> SchedulerClient::pod(const std::string& ns, const std::string& name) {
  return get("/standalone/pods/" + ns + "/" + name).and_then(codec::read_pod_view);
}

Result<CreatedPod> SchedulerClient::create_pod(const std::string& json) {
  return call("POST", "/standalone/pods", json)
      .and_then([](std::string body) -> Result<CreatedPod> {
        Result<codec::PodView> view = codec::read_pod_view(body);
        if (!view) return std::move(view).error();
        return CreatedPod{*std::move(view), std::move(body)};
      });
}

Result<codec::FilterReply> SchedulerClient::filter(const std::string& args) {
  return call("POST", "/kube/filter", args).and_then(codec::read_filter_reply);
}

Result<std::vector<codec::HostScore>> SchedulerClient::prioritize(const std::string& args) {
  return call("POST", "/kube/prioritize", args).and_then(codec::read_prioritize_reply);
}

Result<std::string> SchedulerClient::bind(const std::string& args) {
  return call("POST", "/kube/bind", args).and_then(codec::read_binding_reply);
}

Result<std::string> SchedulerClient::explain(const std::string& ns, const std::string& name) {
  return get("/api/v1/explain/" + ns + "/" + name);
}

// A whole list of a large cluster takes tens of megabytes of the scheduler's memory.
Result<std::string> SchedulerClient::list(const std::string& target) {
  JsonWriter out;
  out.begin_object().key("items").begin_array();
  std::string token;
  do {
    auto page = get(target + "?limit=" + std::to_string(kItemsAPage) +
                    (token.empty() ? "" : "&continue=" + token))
                    .and_then(codec::read_answer_page);
    if (!page) return std::move(page).error();
    if (!page->items.empty()) out.raw(page->items);
    token = std::move(page->continues);
  } while (!token.empty());
  return out.end_array().end_object().take();
}

Result<std::vector<codec::NodeView>> SchedulerClient::nodes_with_topologies() {
  std::vector<codec::NodeView> out;
  std::string token;
  do {
    const auto body = get("/api/v1/nodes?topology=1&limit=" + std::to_string(kTopologiesAPage) +
                          (token.empty() ? "" : "&continue=" + token));
    if (!body) return Error(body.error());
    auto nodes = codec::read_node_views(*body);
    if (!nodes) return std::move(nodes).error();
    out.insert(out.end(), std::make_move_iterator(nodes->begin()),
               std::make_move_iterator(nodes->end()));
    auto page = codec::read_answer_page(*body);
    if (!page) return std::move(page).error();
    token = std::move(page->continues);
  } while (!token.empty());
  return out;
}

Result<std::string> SchedulerClient::get(const std::string& target) {
  return call("GET", target, "");
}

}  // namespace chipweave::cli
