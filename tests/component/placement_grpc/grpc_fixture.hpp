// The gRPC server on a loop of its own with a decision core that records its requests, and a
// client: shared by the tests of this folder.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "chipweave/v1/placement.grpc.pb.h"
#include "common/rpc/channel.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "scheduler-plugin/server/grpc_watch.hpp"
#include "tests/component/agent_report/fakes.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::sched {

struct GrpcFixture : ::testing::Test {
  using Code = grpc::StatusCode;

  ~GrpcFixture() override {
    if (server) server->stop(std::chrono::milliseconds(0));
  }

  ManualClock clock;
  std::shared_ptr<DecisionFeed> feed = std::make_shared<DecisionFeed>(clock);
  LoopThread thread;
  FakeCore core;
  GrpcOptions options;
  Journal<std::string> ended;  // "Place OK"
  std::unique_ptr<GrpcServer> server;
  std::uint16_t port = 0;
  std::unique_ptr<v1::Placement::Stub> stub;

  void open() {
    options.decisions = feed;
    options.on_end = [this](std::string_view method, std::string_view code) {
      ended.add(std::string(method) + " " + std::string(code));
    };
    server = std::make_unique<GrpcServer>(thread.loop, &core, core, options);
    const auto got = server->start("127.0.0.1:0");
    ASSERT_TRUE(got) << got.error().text();
    port = *got;
    stub = client();
  }
  std::unique_ptr<v1::Placement::Stub> client(
      const std::optional<ClientPem>& tls = std::nullopt) const {
    return v1::Placement::NewStub(rpc::make_channel({"127.0.0.1", port}, tls));
  }

  // The caller's credentials.
  static void show(grpc::ClientContext& context, const std::string& token) {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }
  static void set_patience(grpc::ClientContext& context,
                           std::chrono::milliseconds patience = kPatience) {
    context.set_deadline(std::chrono::system_clock::now() + patience);
  }

  static v1::ReserveRequest reserve_request() {
    v1::ReserveRequest r;
    *r.mutable_request() = place_request().request();
    r.set_node("n2");
    return r;
  }
};

// Blocks the loop until released; requests queue meanwhile.
struct BlockedLoop {
  explicit BlockedLoop(http::Loop& loop) {
    loop.post([this] {
      entered.add(1);
      go_on.at(0);
    });
    EXPECT_TRUE(entered.at(0));
  }
  ~BlockedLoop() { go_on.add(1); }
  BlockedLoop(const BlockedLoop&) = delete;
  BlockedLoop& operator=(const BlockedLoop&) = delete;
  Journal<int> entered;
  Journal<int> go_on;
};

}  // namespace chipweave::sched
