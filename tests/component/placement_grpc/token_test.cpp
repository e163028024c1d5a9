// Authentication by token, with a real client, a real TokenReviewer and an API server with scripted
// answers.
#include <atomic>
#include <optional>
#include <thread>

#include <gmock/gmock.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "common/kube/api_client.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/server_identity.hpp"
#include "tests/component/kube_api/scripted_server.hpp"
#include "tests/component/placement_grpc/grpc_fixture.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;
using chipweave::test::ScriptedServer;
using ::testing::HasSubstr;

std::string owner(const std::string& user, const std::string& groups) {
  return R"({"kind":"TokenReview","status":{"authenticated":true,"audiences":["chipweave"],"user":{"username":")" +
         user + R"(","groups":)" + groups + "}}}";
}

struct TokenGrpc : GrpcFixture {
  TokenGrpc() { obs::set_level("error"); }
  ~TokenGrpc() override {
    if (server) server->stop(std::chrono::milliseconds(0));
    post_and_wait(thread.loop, [this] {
      reviewer.reset();
      transport.reset();
    });
  }

  Journal<std::string> reviews;  // requests as the API server saw them
  // Set before the first call.
  std::function<std::pair<int, std::string>(const std::string& request)> api =
      [](const std::string& request) -> std::pair<int, std::string> {
    if (request.find("alices") != std::string::npos) return {201, owner("alice", "[]")};
    if (request.find("planners") != std::string::npos) return {201, owner("bob", "[\"planners\"]")};
    if (request.find("mallorys") != std::string::npos) return {201, owner("mallory", "[]")};
    return {201, R"({"kind":"TokenReview","status":{"user":{},"error":"[invalid bearer token]"}})"};
  };
  std::optional<ScriptedServer> api_server;
  std::unique_ptr<kube::Transport> transport;
  std::unique_ptr<TokenReviewer> reviewer;

  void open_with_tokens(std::vector<std::string> users = {"alice", "group:planners"},
                        std::vector<std::string> readers = {}) {
    api_server.emplace(std::nullopt, [this](ScriptedServer::Talk& talk) {
      while (const auto request = talk.request()) {
        reviews.add(*request);
        const auto [status, body] = api(*request);
        if (!talk.reply(status, body)) return;
      }
    });
    post_and_wait(thread.loop, [&] {
      kube::ApiAccess access;
      access.origin.tls = false;
      access.origin.host = "127.0.0.1";
      access.origin.port = std::to_string(api_server->port());
      auto made = kube::ApiClient::make(thread.loop, access, "test");
      ASSERT_TRUE(made) << made.error().text();
      transport = std::move(*made);
      reviewer = std::make_unique<TokenReviewer>(
          *transport, TokenReviewer::Options{"chipweave", std::move(users), std::move(readers)});
    });
    options.check_token = [this](std::string token, TokenReviewer::Done done) {
      reviewer->check(std::move(token), std::move(done));
    };
    open();
  }

  static std::string place(v1::Placement::Stub& stub, const std::string& authorization,
                           std::chrono::milliseconds patience = kPatience) {
    grpc::ClientContext context;
    set_patience(context, patience);
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    v1::PlaceReply reply;
    const auto status = stub.Place(&context, place_request(), &reply);
    return std::to_string(status.error_code()) + " " + status.error_message();
  }
  std::string place(const std::string& authorization) { return place(*stub, authorization); }
};

TEST_F(TokenGrpc, AcceptsListedUsersAndRefusesOthersWithAReason) {
  open_with_tokens();
  EXPECT_EQ(place("Bearer alices.token"), "0 ");
  EXPECT_EQ(place("bearer planners-token"), "0 ");
  EXPECT_EQ(core.asked.size(), 2U);
  EXPECT_THAT(place("Bearer mallorys"), HasSubstr("7 \"mallory\" is not in grpc-users"));
  EXPECT_THAT(place("Bearer nobodys"), HasSubstr("16 the API server does not accept the token"));
  EXPECT_THAT(place(""), HasSubstr("16 a token is required"));
  EXPECT_EQ(core.asked.size(), 2U);
  const auto request = reviews.at(0);
  ASSERT_TRUE(request);
  EXPECT_THAT(*request, HasSubstr("POST /apis/authentication.k8s.io/v1/tokenreviews"));
  EXPECT_THAT(*request, HasSubstr(R"("token":"alices.token","audiences":["chipweave"])"));
}

TEST_F(TokenGrpc, MalformedTokensAreNotReviewed) {
  open_with_tokens();
  for (const std::string& bad :
       {std::string("Basic YWxpY2U6eA=="), std::string("Bearer"), std::string("Bearer "),
        std::string("alices"), std::string("Bearer a b"), std::string("Bearer a\"b"),
        std::string("Bearer a,b")}) {
    EXPECT_THAT(place(bad), ::testing::StartsWith("16 ")) << bad;
  }
  grpc::ClientContext twice;
  twice.AddMetadata("authorization", "Bearer alices");
  twice.AddMetadata("authorization", "Bearer mallorys");
  v1::PlaceReply reply;
  const auto status = stub->Place(&twice, place_request(), &reply);
  EXPECT_EQ(status.error_code(), Code::UNAUTHENTICATED);
  EXPECT_THAT(status.error_message(), HasSubstr("more than once"));
  EXPECT_EQ(reviews.size(), 0U);
  EXPECT_EQ(core.asked.size(), 0U);
}

TEST_F(TokenGrpc, ALargeTokenIsReviewedAndOneBeyondTheLimitIsNot) {
  open_with_tokens();
  EXPECT_EQ(place("Bearer alices" + std::string(12000, 'x')), "0 ");
  EXPECT_THAT(place("Bearer alices" + std::string(limits::kMaxGrpcMetadataBytes, 'x')),
              ::testing::StartsWith("8 "));
  EXPECT_EQ(reviews.size(), 1U);
}

TEST_F(TokenGrpc, EveryMethodOfBothServicesIsCovered) {
  open_with_tokens();
  const auto codes = [&](const std::string& token) {
    std::vector<Code> out;
    const auto unary = [&](auto method, const auto& request, auto reply) {
      grpc::ClientContext context;
      set_patience(context);
      show(context, token);
      out.push_back((stub.get()->*method)(&context, request, &reply).error_code());
    };
    using Stub = v1::Placement::Stub;
    unary(&Stub::Place, place_request(), v1::PlaceReply());
    unary(&Stub::Reserve, reserve_request(), v1::PlaceReply());
    v1::ReleaseRequest release;
    *release.mutable_pod() = place_request().request().pod();
    release.set_uid("u1");
    unary(&Stub::Release, release, v1::ReleaseReply());
    v1::ExplainRequest explain;
    *explain.mutable_pod() = release.pod();
    unary(&Stub::Explain, explain, v1::ExplainReply());
    v1::WhatIfRequest what_if;
    *what_if.mutable_request() = place_request().request();
    unary(&Stub::WhatIf, what_if, v1::PlaceReply());
    {
      grpc::ClientContext context;
      set_patience(context);
      show(context, token);
      const auto reader = stub->WatchDecisions(&context, {});
      v1::DecisionEvent event;
      const bool live = reader->Read(&event);
      if (live) context.TryCancel();
      const Code code = reader->Finish().error_code();
      out.push_back(live ? Code::OK : code);
    }
    {
      grpc::ClientContext context;
      set_patience(context);
      show(context, token);
      const auto inventory = v1::Inventory::NewStub(rpc::make_channel({"127.0.0.1", port}));
      const auto stream = inventory->Report(&context);
      v1::InventoryReport report;
      report.set_node("n1");
      report.set_boot_id("b");
      report.mutable_heartbeat();
      stream->Write(report);
      stream->WritesDone();
      v1::ReportAck ack;
      while (stream->Read(&ack)) continue;
      out.push_back(stream->Finish().error_code());
    }
    return out;
  };
  EXPECT_EQ(codes("alices"), std::vector<Code>(7, Code::OK));
  EXPECT_EQ(codes("mallorys"), std::vector<Code>(7, Code::PERMISSION_DENIED));
  EXPECT_EQ(codes("nobodys"), std::vector<Code>(7, Code::UNAUTHENTICATED));
  EXPECT_EQ(codes(""), std::vector<Code>(7, Code::UNAUTHENTICATED));
  EXPECT_EQ(reviews.size(), 3U) << "each token is reviewed once";
}

TEST_F(TokenGrpc, AUserThatMayOnlyReadDecidesNothing) {
  open_with_tokens({"alice"}, {"mallory", "group:planners"});
  for (const char* token : {"mallorys", "planners"}) {
    EXPECT_THAT(place(std::string("Bearer ") + token), HasSubstr("may only read")) << token;
    grpc::ClientContext context;
    set_patience(context);
    show(context, token);
    v1::ExplainRequest explain;
    *explain.mutable_pod() = place_request().request().pod();
    v1::ExplainReply reply;
    EXPECT_TRUE(stub->Explain(&context, explain, &reply).ok()) << token;
  }
  EXPECT_EQ(place("Bearer alices"), "0 ");
  EXPECT_EQ(core.asked.size(), 1U);
}

TEST_F(TokenGrpc, ARefusedOwnerIsLoggedByName) {
  open_with_tokens();
  obs::set_level("warn");
  ::testing::internal::CaptureStderr();
  place("Bearer mallorys");
  place("Bearer nobodys");
  const std::string log = ::testing::internal::GetCapturedStderr();
  obs::set_level("error");
  EXPECT_THAT(log, HasSubstr("method=Place from=127.0.0.1 caller=\"user mallory\""));
  EXPECT_THAT(log, HasSubstr("method=Place from=127.0.0.1 caller=unknown"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr("nobodys")));
}

TEST_F(TokenGrpc, UnauthorisedCallersLearnNothingAboutTheRequest) {
  open_with_tokens();
  v1::PlaceRequest bad = place_request();
  bad.mutable_request()->set_chips(0);
  for (const auto& [token, code] : {std::pair("alices", Code::INVALID_ARGUMENT),
                                    {"mallorys", Code::PERMISSION_DENIED},
                                    {"nobodys", Code::UNAUTHENTICATED}}) {
    grpc::ClientContext context;
    show(context, token);
    v1::PlaceReply reply;
    EXPECT_EQ(stub->Place(&context, bad, &reply).error_code(), code) << token;
  }
}

TEST_F(TokenGrpc, WithoutTheApiServerAllCallersAreRefused) {
  std::atomic<int> status = 500;
  api = [&](const std::string&) { return std::pair{status.load(), owner("alice", "[]")}; };
  open_with_tokens();
  for (const int answer : {500, 403, 429}) {
    status = answer;
    EXPECT_EQ(place("Bearer alices"), "14 the token could not be checked; try again");
  }
  EXPECT_EQ(core.asked.size(), 0U);
  status = 201;
  EXPECT_EQ(place("Bearer alices"), "0 ");
  api_server.reset();  // down: a verdict from a moment ago still holds
  EXPECT_EQ(place("Bearer alices"), "0 ");
  EXPECT_EQ(place("Bearer planners"), "14 the token could not be checked; try again");
}

TEST_F(TokenGrpc, NothingIsReservedForACallerThatLeavesDuringTheReview) {
  Journal<int> asked;
  Journal<int> go_on;
  api = [&](const std::string&) {
    asked.add(1);
    go_on.at(0);
    return std::pair{201, owner("alice", "[]")};
  };
  open_with_tokens();
  std::thread caller([&] {
    EXPECT_THAT(place(*stub, "Bearer alices", std::chrono::milliseconds(200)),
                ::testing::StartsWith("4 "));
  });
  ASSERT_TRUE(asked.at(0));
  caller.join();
  ASSERT_TRUE(ended.at(0));
  go_on.add(1);
  EXPECT_EQ(place("Bearer alices"), "0 ");  // by the cached answer
  EXPECT_EQ(core.asked.size(), 1U);
  EXPECT_EQ(reviews.size(), 1U);
}

TEST_F(TokenGrpc, StopDoesNotWaitForACheck) {
  Journal<int> asked;
  Journal<int> go_on;
  api = [&](const std::string&) {
    asked.add(1);
    go_on.at(0);
    return std::pair{201, owner("alice", "[]")};
  };
  open_with_tokens();
  std::thread caller(
      [&] { EXPECT_EQ(place("Bearer alices"), "14 the scheduler is shutting down; try again"); });
  ASSERT_TRUE(asked.at(0));
  server->stop(std::chrono::milliseconds(50));
  caller.join();
  go_on.add(1);
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.asked.size(), 0U);
}

TEST_F(TokenGrpc, AStreamByATokenDoesNotLastForEver) {
  options.token_stream_life = std::chrono::milliseconds(100);
  open_with_tokens();
  grpc::ClientContext context;
  set_patience(context);
  show(context, "alices");
  const auto reader = stub->WatchDecisions(&context, {});
  v1::DecisionEvent event;
  while (reader->Read(&event)) continue;
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), Code::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("call again"));
}

TEST_F(TokenGrpc, WithClientCertificatesBothMustHold) {
  const Pem ca = make_authority("CA");
  const Pem own = make_certificate(ca, "IP:127.0.0.1");
  const Pem caller = make_certificate(ca, "DNS:caller");
  options.tls =
      std::make_shared<rpc::ServerIdentity>(ServerPem{own.certificate, own.key, ca.certificate});
  open_with_tokens();
  const auto with = client(ClientPem{ca.certificate, caller.certificate, caller.key, {}});
  const auto without = client(ClientPem{ca.certificate, {}, {}, {}});
  EXPECT_EQ(place(*with, "Bearer alices"), "0 ");
  EXPECT_THAT(place(*with, ""), ::testing::StartsWith("16 "));
  EXPECT_THAT(place(*with, "Bearer mallorys"), ::testing::StartsWith("7 "));
  EXPECT_THAT(place(*without, "Bearer alices"), ::testing::StartsWith("14 "));
  EXPECT_EQ(core.asked.size(), 1U);
  EXPECT_EQ(reviews.size(), 2U);
}

TEST_F(TokenGrpc, WithoutTheSettingTokensAreNotLookedAt) {
  open();
  EXPECT_EQ(place("Basic nonsense"), "0 ");
  EXPECT_EQ(place(""), "0 ");
}

}  // namespace
}  // namespace chipweave::sched
