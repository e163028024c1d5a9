// Callers that start many calls and do not finish their messages: credentials come first, the
// scheduler's memory stays bounded, and good calls are answered.
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "common/base/limits.hpp"
#include "tests/component/agent_hardware/program.hpp"
#include "tests/component/placement_grpc/grpc_fixture.hpp"
#include "tests/component/placement_grpc/raw_caller.hpp"
#include "tests/support/chart_memory.hpp"
#include "tests/support/number_after.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::sched {
namespace {

using test::RawCaller;

constexpr std::string_view kPlace = "/chipweave.v1.Placement/Place";
constexpr std::string_view kWatch = "/chipweave.v1.Placement/WatchDecisions";

struct Flood : GrpcFixture {
  static bool ends(RawCaller& caller, std::uint32_t stream) {
    return eventually([&] { return !caller.pump() || caller.ended().count(stream) != 0; });
  }
};

TEST_F(Flood, ACallerIsRefusedBeforeItsMessageIsRead) {
  options.check_token = [](const std::string&, const TokenReviewer::Done& done) {
    done({CallerVerdict::Kind::unknown, "no such token"});
  };
  open();
  RawCaller caller(port);
  for (const std::string_view method : {kPlace, kWatch}) {
    for (const std::string_view authorization : {"", "Bearer nobodys"}) {
      EXPECT_TRUE(ends(caller, caller.call(method, authorization))) << method << authorization;
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ended.at(i), i < 2 ? "Place UNAUTHENTICATED" : "WatchDecisions UNAUTHENTICATED");
  }
}

TEST_F(Flood, StreamsThatWaitForTheirCheckAreLimited) {
  Journal<TokenReviewer::Done> checks;
  options.check_token = [&](const std::string&, TokenReviewer::Done done) {
    checks.add(std::move(done));
  };
  options.max_nodes = 0;
  options.max_streams = 1;
  open();
  RawCaller caller(port);
  caller.call(kWatch, "Bearer one");
  ASSERT_TRUE(eventually([&] { return caller.pump() && checks.size() == 1; }));
  EXPECT_TRUE(ends(caller, caller.call(kWatch, "Bearer two")));
  EXPECT_EQ(ended.at(0), "WatchDecisions RESOURCE_EXHAUSTED");
  EXPECT_EQ(checks.size(), 1U) << "its token is not reviewed";
}

// More callers than may send at the same time hold their messages back.
TEST_F(Flood, LateMessagesMakeRoomForOthers) {
  open();
  RawCaller caller(port);
  std::vector<std::uint32_t> calls;
  for (std::size_t i = 0; i < 2 * limits::kMaxGrpcMessages; ++i) {
    calls.push_back(caller.call(i % 2 == 0 ? kPlace : kWatch));
    caller.announce(calls.back(), 1000);
  }
  // the others have its room by then
  ASSERT_TRUE(ends(caller, calls.front()));
  grpc::ClientContext context;
  set_patience(context, std::chrono::seconds(60));
  v1::PlaceReply reply;
  EXPECT_TRUE(stub->Place(&context, place_request(), &reply).ok());
  EXPECT_THAT(ended.at(0).value_or(""), ::testing::HasSubstr("DEADLINE_EXCEEDED"));
}

TEST(GrpcMemory, StaysBelowItsShareWhateverIsSent) {
  io::TempFolder folder;
  const std::string ports = folder.path() + "/ports";
  const Program scheduler({"chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                           "127.0.0.1:0", "--port-file", ports},
                          {}, folder.path() + "/log");
  std::optional<long> found;
  ASSERT_TRUE(eventually([&] {
    const std::string text = chipweave::test::file_content(ports).value_or("");
    found = chipweave::test::number_after(text, "\"grpc\":");
    return found.has_value();
  }));
  const auto port = static_cast<std::uint16_t>(*found);

  const long at_start = scheduler.kilobytes("VmHWM");
  std::vector<std::unique_ptr<RawCaller>> callers;
  for (int i = 0; i < 20; ++i) {
    RawCaller& caller = *callers.emplace_back(std::make_unique<RawCaller>(port));
    for (int c = 0; c < 50; ++c) {
      caller.announce(caller.call(kPlace), limits::kMaxGrpcMessageBytes);
    }
  }
  // until slots were given to others twice, or all is taken
  EXPECT_TRUE(eventually([&] {
    std::size_t ended = 0;
    std::size_t sent = 0;
    for (const auto& caller : callers) {
      caller->pump();
      ended += caller->ended().size();
      sent += caller->sent();
    }
    return ended >= 2 * limits::kMaxGrpcMessages || sent > (std::size_t{2} << 30U);
  }));
  EXPECT_LT(scheduler.kilobytes("VmHWM") - at_start, chipweave::test::kGrpcCallersKilobytes);

  const auto stub = v1::Placement::NewStub(rpc::make_channel({"127.0.0.1", port}));
  grpc::ClientContext context;
  GrpcFixture::set_patience(context, std::chrono::seconds(120));
  v1::ExplainRequest request;
  request.mutable_pod()->set_namespace_("ns");
  request.mutable_pod()->set_name("p");
  v1::ExplainReply reply;
  callers.clear();
  EXPECT_EQ(stub->Explain(&context, request, &reply).error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace chipweave::sched
