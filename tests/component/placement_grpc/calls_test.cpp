// Reserve, and calls whose callers disconnect or whose deadlines pass before their turn.
#include "tests/component/placement_grpc/grpc_fixture.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::milliseconds;

struct Calls : GrpcFixture {
  grpc::Status reserve(const v1::ReserveRequest& r, v1::PlaceReply& reply) {
    grpc::ClientContext context;
    set_patience(context);
    return stub->Reserve(&context, r, &reply);
  }
};

TEST_F(Calls, ReserveCarriesTheQuestionAndTheAnswer) {
  open();
  post_and_wait(thread.loop, [&] { core.placed->lifetime = std::chrono::seconds(30); });
  v1::PlaceReply reply;
  const auto status = reserve(reserve_request(), reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.node(), "n1");
  EXPECT_EQ(reply.chips_size(), 2);
  EXPECT_EQ(reply.gbps(), 40);
  EXPECT_EQ(reply.best_gbps(), 80);
  EXPECT_EQ(reply.lifetime_ms(), 30000);
  const auto asked = core.asked.at(0);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->request.key.text(), "ns/p");
  EXPECT_EQ(asked->request.uid, "u1");
  EXPECT_EQ(asked->nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(ended.at(0), "Reserve OK");
}

TEST_F(Calls, AConnectionGrowsOldAndTheNextCallComesOverAnother) {
  options.max_connection_age = milliseconds(50);
  open();
  const auto channel = rpc::make_channel({"127.0.0.1", port}, std::nullopt);
  stub = v1::Placement::NewStub(channel);
  for (int i = 0; i < 3; ++i) {
    v1::PlaceReply reply;
    const auto status = reserve(reserve_request(), reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(channel->WaitForStateChange(GRPC_CHANNEL_READY,
                                            std::chrono::system_clock::now() + kPatience));
  }
}

TEST_F(Calls, ReserveErrorsKeepTheirCodeAndWords) {
  open();
  v1::PlaceReply reply;
  for (const auto& [code, wanted] : {std::pair(Errc::not_found, Code::NOT_FOUND),
                                     {Errc::conflict, Code::FAILED_PRECONDITION},
                                     {Errc::unavailable, Code::UNAVAILABLE}}) {
    post_and_wait(thread.loop, [&, code = code] { core.placed = make_error(code, "why not"); });
    const auto status = reserve(reserve_request(), reply);
    EXPECT_EQ(status.error_code(), wanted);
    EXPECT_EQ(status.error_message(), "why not");
  }
  const std::size_t before = core.asked.size();
  for (const auto& spoil : std::vector<std::function<void(v1::ReserveRequest&)>>{
           [](auto& r) { r.clear_node(); }, [](auto& r) { r.set_node("n\n1"); },
           [](auto& r) { r.mutable_request()->clear_uid(); },
           [](auto& r) { r.mutable_request()->set_chips(65); },
           [](auto& r) { r.mutable_request()->mutable_pod()->set_name("p\r"); }}) {
    v1::ReserveRequest r = reserve_request();
    spoil(r);
    EXPECT_EQ(reserve(r, reply).error_code(), Code::INVALID_ARGUMENT);
  }
  v1::ReserveRequest r = reserve_request();
  r.set_node(std::string(254, 'n'));
  EXPECT_EQ(reserve(r, reply).error_code(), Code::RESOURCE_EXHAUSTED);
  EXPECT_EQ(core.asked.size(), before);
}

// The caller's deadline passes while the loop is busy, before it reaches the call.
TEST_F(Calls, NothingIsReservedAfterTheDeadline) {
  options.max_waiting_calls = 1;
  open();
  {
    const BlockedLoop blocked(thread.loop);
    grpc::ClientContext context;
    set_patience(context, milliseconds(50));
    v1::PlaceReply reply;
    EXPECT_EQ(stub->Reserve(&context, reserve_request(), &reply).error_code(),
              Code::DEADLINE_EXCEEDED);
    // The server's own deadline for the call started on its arrival, so it has expired, too.
    ASSERT_TRUE(ended.at(0));
  }
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.asked.size(), 0U);
  const auto end = ended.at(0);
  ASSERT_TRUE(end);
  EXPECT_TRUE(*end == "Reserve CANCELLED" || *end == "Reserve DEADLINE_EXCEEDED") << *end;
}

TEST_F(Calls, NothingIsReservedForACallerThatCancelled) {
  open();
  Journal<grpc::StatusCode> answers;
  grpc::ClientContext context;
  set_patience(context);
  const v1::ReserveRequest request = reserve_request();
  v1::PlaceReply reply;
  {
    const BlockedLoop blocked(thread.loop);
    stub->async()->Reserve(&context, &request, &reply,
                           [&](const grpc::Status& s) { answers.add(s.error_code()); });
    // A later call on the same connection is refused without the loop, which shows that the first
    // has arrived.
    v1::ReserveRequest bad = request;
    bad.clear_node();
    v1::PlaceReply none;
    EXPECT_EQ(reserve(bad, none).error_code(), Code::INVALID_ARGUMENT);
    context.TryCancel();
    EXPECT_EQ(answers.at(0), Code::CANCELLED);
    // The server has seen it, too.
    ASSERT_TRUE(ended.at(1));
  }
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.asked.size(), 0U);
}

TEST_F(Calls, AreCountedByMethodAndCode) {
  open();
  v1::PlaceReply reply;
  {
    grpc::ClientContext context;
    EXPECT_TRUE(stub->Place(&context, place_request(), &reply).ok());
  }
  {
    grpc::ClientContext context;
    v1::ReleaseRequest r;
    EXPECT_EQ(stub->Release(&context, r, nullptr).error_code(), Code::INVALID_ARGUMENT);
  }
  {
    grpc::ClientContext context;
    v1::ExplainRequest r;
    r.mutable_pod()->set_namespace_("ns");
    r.mutable_pod()->set_name("nobody");
    v1::ExplainReply out;
    EXPECT_EQ(stub->Explain(&context, r, &out).error_code(), Code::NOT_FOUND);
  }
  EXPECT_EQ(ended.at(0), "Place OK");
  EXPECT_EQ(ended.at(1), "Release INVALID_ARGUMENT");
  EXPECT_EQ(ended.at(2), "Explain NOT_FOUND");
}

}  // namespace
}  // namespace chipweave::sched
