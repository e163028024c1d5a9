// The Placement service through a real client.
#include <memory>
#include <string>
#include <thread>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "chipweave/v1/placement.grpc.pb.h"
#include "common/rpc/channel.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "tests/component/agent_report/fakes.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::milliseconds;

struct PlacementTest : testing::Test {
  LoopThread thread;
  FakeCore core;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<v1::Placement::Stub> stub;

  void open(GrpcOptions options = {}) {
    server = std::make_unique<GrpcServer>(thread.loop, &core, core, options);
    const auto port = server->start("127.0.0.1:0");
    ASSERT_TRUE(port) << port.error().text();
    stub = v1::Placement::NewStub(rpc::make_channel({"127.0.0.1", *port}));
  }
  grpc::Status place(const v1::PlaceRequest& r, v1::PlaceReply& reply,
                     std::chrono::milliseconds patience = kPatience) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    return stub->Place(&context, r, &reply);
  }
};

TEST_F(PlacementTest, PlaceCarriesTheQuestionAndTheAnswer) {
  open();
  v1::PlaceReply reply;
  const auto status = place(place_request(), reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.node(), "n1");
  ASSERT_EQ(reply.chips_size(), 2);
  EXPECT_EQ(reply.chips(1), 4);
  EXPECT_EQ(reply.gbps(), 40);
  EXPECT_EQ(reply.best_gbps(), 80);
  const auto asked = core.asked.at(0);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->request.key.text(), "ns/p");
  EXPECT_EQ(asked->nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(asked->reserve);
}

TEST_F(PlacementTest, ErrorsKeepTheirCodeAndWords) {
  open();
  v1::PlaceReply reply;
  post_and_wait(thread.loop,
                [&] { core.placed = make_error(Errc::conflict, "5 chips asked, 3 are free"); });
  const auto status = place(place_request(), reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "5 chips asked, 3 are free");
  v1::PlaceRequest bad = place_request();
  bad.mutable_request()->set_chips(0);
  EXPECT_EQ(place(bad, reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(core.asked.size(), 1U);
}

TEST_F(PlacementTest, WhatIfNeedsNoPodAndHoldsNothing) {
  open();
  v1::WhatIfRequest r;
  r.mutable_request()->set_resource("nvidia.com/gpu");
  r.mutable_request()->set_chips(2);
  v1::PlaceReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(stub->WhatIf(&context, r, &reply).ok());
  EXPECT_EQ(reply.chips_size(), 2);
  EXPECT_FALSE(core.asked.at(0)->reserve);
}

TEST_F(PlacementTest, ReleaseAndExplain) {
  open();
  v1::ReleaseRequest release;
  release.mutable_pod()->set_namespace_("ns");
  release.mutable_pod()->set_name("p");
  release.set_uid("u1");
  v1::ReleaseReply released;
  grpc::ClientContext first;
  EXPECT_TRUE(stub->Release(&first, release, &released).ok());
  EXPECT_EQ(core.released.at(0), "ns/p u1");
  release.set_uid("u2");
  grpc::ClientContext second;
  EXPECT_EQ(stub->Release(&second, release, &released).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  v1::ExplainRequest explain;
  *explain.mutable_pod() = release.pod();
  v1::ExplainReply explained;
  grpc::ClientContext third;
  EXPECT_TRUE(stub->Explain(&third, explain, &explained).ok());
  EXPECT_EQ(explained.json(), "{\"pod\":\"ns/p\"}");
  explain.mutable_pod()->set_name("q");
  grpc::ClientContext fourth;
  EXPECT_EQ(stub->Explain(&fourth, explain, &explained).error_code(), grpc::StatusCode::NOT_FOUND);
}

// Blocks the loop until released; requests queue meanwhile.
struct Blocked {
  explicit Blocked(http::Loop& loop) {
    loop.post([this] {
      entered.add(1);
      go_on.at(0);
    });
    EXPECT_TRUE(entered.at(0));
  }
  Journal<int> entered;
  Journal<int> go_on;
};

TEST_F(PlacementTest, NothingIsDecidedForACallerThatHasGone) {
  GrpcOptions options;
  options.max_waiting_calls = 1;
  open(options);
  Blocked blocked(thread.loop);
  v1::PlaceReply reply;
  EXPECT_EQ(place(place_request(), reply, milliseconds(100)).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  // The only slot is freed when the server has noticed, not before.
  v1::PlaceRequest other = place_request();
  other.mutable_request()->mutable_pod()->set_name("other");
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  grpc::StatusCode code = grpc::StatusCode::RESOURCE_EXHAUSTED;
  while (code == grpc::StatusCode::RESOURCE_EXHAUSTED &&
         std::chrono::steady_clock::now() < give_up) {
    code = place(other, reply, milliseconds(100)).error_code();
  }
  EXPECT_EQ(code, grpc::StatusCode::DEADLINE_EXCEEDED);
  blocked.go_on.add(1);
  post_and_wait(thread.loop, [] {});
  for (std::size_t i = 0; i < core.asked.size(); ++i)
    EXPECT_EQ(core.asked.at(i)->request.key.name, "other");
}

TEST_F(PlacementTest, StopRefusesWhatWaitsForABlockedLoop) {
  open();
  Blocked blocked(thread.loop);
  Journal<grpc::Status> answers;
  std::thread caller([&] {
    v1::PlaceReply reply;
    answers.add(place(place_request(), reply));
  });
  server->stop(milliseconds(100));
  const auto answer = answers.at(0);
  caller.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error_code(), grpc::StatusCode::UNAVAILABLE);
  blocked.go_on.add(1);
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.asked.size(), 0U);
}

TEST_F(PlacementTest, TooManyWaitingCallsAreRefused) {
  GrpcOptions options;
  options.max_waiting_calls = 1;
  open(options);
  Blocked blocked(thread.loop);
  Journal<grpc::Status> answers;
  const auto call = [&] {
    v1::PlaceReply reply;
    answers.add(place(place_request(), reply));
  };
  std::thread one(call);
  std::thread two(call);
  const auto first = answers.at(0);  // the refused one comes first: the other waits for the loop
  blocked.go_on.add(1);
  const auto second = answers.at(1);
  one.join();
  two.join();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(second->ok());
}

}  // namespace
}  // namespace chipweave::sched
