// An AsyncClient on its own loop, and shorthands for calls and streams.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/http/async_client.hpp"
#include "tests/component/kube_api/on_loop.hpp"
#include "tests/component/kube_api/scripted_server.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave {

using http::AsyncClient;
using http::AsyncReply;
using http::AsyncRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Pem;
using test::ScriptedServer;
using Talk = ScriptedServer::Talk;

// The result of a call, as values that can be passed between threads.
struct Outcome {
  bool ok = false;
  AsyncReply reply;
  Errc code = Errc::internal;
  std::string text;
};

// The result of a stream.
struct Story {
  std::string bytes;
  int refused = 0;
  std::string body;
  std::optional<seconds> retry_after;
  bool in_order = false;
  std::string problem;
};

class Client : public test::OnLoop {
 protected:
  ~Client() override {
    post_and_wait(loop_, [this] {
      tickets_.clear();
      clients_.clear();
    });
  }

  AsyncClient& to(const ScriptedServer& server, http::Origin origin,
                  AsyncClient::Limits limits = {}) {
    origin.port = std::to_string(server.port());
    if (origin.host.empty()) origin.host = "127.0.0.1";
    auto client = AsyncClient::make(loop_, std::move(origin), limits);
    if (!client) throw std::runtime_error(client.error().text());
    clients_.push_back(std::move(*client));
    return *clients_.back();
  }
  static http::Origin plain() {
    http::Origin origin;
    origin.tls = false;
    return origin;
  }
  static http::Origin secure(const Pem& authority) {
    http::Origin origin;
    origin.pem.ca = authority.certificate;
    return origin;
  }

  std::future<Outcome> start(AsyncClient& client, AsyncRequest request, milliseconds deadline) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    auto future = promise->get_future();
    loop_.post([this, &client, deadline, promise, request = std::move(request)] {
      tickets_.push_back(client.call(request, deadline, [promise](Result<AsyncReply> r) {
        Outcome out;
        out.ok = r.ok();
        if (r) out.reply = std::move(*r);
        if (!r) {
          out.code = r.error().code;
          out.text = r.error().text();
        }
        promise->set_value(std::move(out));
      }));
    });
    return future;
  }
  std::future<Outcome> start(AsyncClient& client, const char* method, milliseconds deadline) {
    AsyncRequest request;
    request.method = method;
    request.target = "/";
    return start(client, std::move(request), deadline);
  }
  Outcome call(AsyncClient& client, AsyncRequest request, milliseconds deadline = seconds(10)) {
    return got(start(client, std::move(request), deadline));
  }
  Outcome get(AsyncClient& client, const std::string& target = "/") {
    AsyncRequest request;
    request.target = target;
    return call(client, std::move(request));
  }
  Outcome post(AsyncClient& client) {
    AsyncRequest request;
    request.method = "POST";
    request.target = "/bind";
    request.body = "{}";
    return call(client, std::move(request));
  }
  Story stream(AsyncClient& client, milliseconds idle = seconds(10)) {
    std::promise<Story> promise;
    auto future = promise.get_future();
    auto story = std::make_shared<Story>();
    loop_.post([&, story] {
      AsyncRequest request;
      request.target = "/watch";
      tickets_.push_back(client.stream(std::move(request), idle,
                                       {[&promise, story](const AsyncReply& reply) {
                                          story->refused = reply.status;
                                          story->body = reply.body;
                                          story->retry_after = reply.retry_after;
                                          promise.set_value(*story);
                                        },
                                        [story](std::string_view bytes) { story->bytes += bytes; },
                                        [&promise, story](const Result<void>& result) {
                                          story->in_order = result.ok();
                                          if (!result) story->problem = result.error().text();
                                          promise.set_value(*story);
                                        }}));
    });
    return got(std::move(future));
  }

  std::vector<std::unique_ptr<AsyncClient>> clients_;
  std::vector<std::unique_ptr<http::Ticket>> tickets_;
};

inline void answer_all(Talk& talk) {
  while (const auto request = talk.request()) {
    if (!talk.reply(200, *request)) return;
  }
}

}  // namespace chipweave
