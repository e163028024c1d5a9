// The Inventory service with a client that writes each message of the protocol itself.
#include <memory>
#include <string>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "common/rpc/channel.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "tests/component/agent_report/fakes.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::milliseconds;

v1::InventoryReport full_of(const std::string& node, const std::string& boot,
                            std::uint64_t sequence, int chips = 2) {
  v1::InventoryReport m;
  m.set_node(node);
  m.set_boot_id(boot);
  m.set_sequence(sequence);
  for (int i = 0; i < chips; ++i) {
    v1::Chip& chip = *m.mutable_full()->mutable_topology()->add_chips();
    chip.set_index(i);
    chip.set_health(v1::HEALTH_HEALTHY);
  }
  return m;
}

v1::InventoryReport delta_of(const std::string& node, const std::string& boot,
                             std::uint64_t sequence) {
  v1::InventoryReport m;
  m.set_node(node);
  m.set_boot_id(boot);
  m.set_sequence(sequence);
  v1::ChipHealthChange& change = *m.mutable_delta()->add_chips();
  change.set_chip(0);
  change.set_health(v1::HEALTH_UNHEALTHY);
  return m;
}

v1::InventoryReport beat_of(const std::string& node, const std::string& boot) {
  v1::InventoryReport m;
  m.set_node(node);
  m.set_boot_id(boot);
  m.mutable_heartbeat();
  return m;
}

class Peer {
 public:
  explicit Peer(std::uint16_t port)
      : stub_(v1::Inventory::NewStub(rpc::make_channel({"127.0.0.1", port}))) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    stream_ = stub_->Report(&context_);
  }
  // The ack, or one with outcome UNSPECIFIED when the stream is over.
  v1::ReportAck send(const v1::InventoryReport& report) {
    v1::ReportAck ack;
    if (!stream_->Write(report) || !stream_->Read(&ack)) ack.Clear();
    return ack;
  }
  v1::Outcome outcome(const v1::InventoryReport& report) { return send(report).outcome(); }
  bool write(const v1::InventoryReport& report) { return stream_->Write(report); }
  bool read_fails() {
    v1::ReportAck ack;
    return !stream_->Read(&ack);
  }
  grpc::Status finish() {
    stream_->WritesDone();
    return stream_->Finish();
  }
  void cancel() { context_.TryCancel(); }

 private:
  std::unique_ptr<v1::Inventory::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::InventoryReport, v1::ReportAck>> stream_;
};

struct InventoryStream : testing::Test {
  LoopThread thread;
  FakeCore core;
  std::unique_ptr<GrpcServer> server;
  std::uint16_t port = 0;

  void open(const GrpcOptions& options = {}) {
    server = std::make_unique<GrpcServer>(thread.loop, &core, core, options);
    const auto got = server->start("127.0.0.1:0");
    ASSERT_TRUE(got) << got.error().text();
    port = *got;
    ASSERT_NE(port, 0);
  }
  ~InventoryStream() override {
    if (server) server->stop(milliseconds(0));
  }
};

TEST_F(InventoryStream, AcksEachReportWithItsNodeAndSequence) {
  open();
  Peer peer(port);
  const auto ack = peer.send(full_of("a", "b1", 41));
  EXPECT_EQ(ack.outcome(), v1::OUTCOME_TAKEN);
  EXPECT_EQ(ack.node(), "a");
  EXPECT_EQ(ack.sequence(), 41U);
  EXPECT_EQ(peer.outcome(delta_of("a", "b1", 42)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(beat_of("a", "b1")), v1::OUTCOME_TAKEN);
  EXPECT_EQ(core.beats.at(0), "a");
  EXPECT_TRUE(peer.finish().ok());
}

TEST_F(InventoryStream, AnOlderSequenceIsAnsweredOlder) {
  std::uint64_t newest = 0;
  core.outcome = [&newest](const InventoryReport& r) {
    if (r.sequence <= newest) return ReportOutcome::older;
    newest = r.sequence;
    return ReportOutcome::taken;
  };
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 5)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(delta_of("a", "b1", 4)), v1::OUTCOME_OLDER);
  EXPECT_EQ(peer.outcome(delta_of("a", "b1", 6)), v1::OUTCOME_TAKEN);
}

TEST_F(InventoryStream, WithoutItsFullReportNothingIsTaken) {
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(delta_of("a", "b1", 1)), v1::OUTCOME_NEEDS_FULL);
  EXPECT_EQ(peer.outcome(beat_of("a", "b1")), v1::OUTCOME_NEEDS_FULL);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 2)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(delta_of("a", "b2", 3)), v1::OUTCOME_NEEDS_FULL);  // another boot
  EXPECT_EQ(core.reports.size(), 1U);
}

TEST_F(InventoryStream, ARefusedReportDoesNotEndTheStream) {
  open();
  Peer peer(port);
  const auto refused = peer.send(full_of("a", "b1", 1, 65));
  EXPECT_EQ(refused.outcome(), v1::OUTCOME_REFUSED);
  EXPECT_NE(refused.message().find("65"), std::string::npos) << refused.message();
  v1::InventoryReport nameless = full_of("", "b1", 2);
  EXPECT_EQ(peer.outcome(nameless), v1::OUTCOME_REFUSED);
  EXPECT_EQ(core.reports.size(), 0U);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 3)), v1::OUTCOME_TAKEN);
}

TEST_F(InventoryStream, FaultsThatMakeNoSenseAreRefusedByName) {
  open();
  Peer peer(port);
  v1::InventoryReport report = full_of("a", "b1", 1);
  v1::Fault& fault = *report.mutable_full()->mutable_faults()->add_faults();
  fault.set_code("xid.79");
  fault.set_chip(-4);
  const auto refused = peer.send(report);
  EXPECT_EQ(refused.outcome(), v1::OUTCOME_REFUSED);
  EXPECT_NE(refused.message().find("full: faults[0].chip is -4"), std::string::npos)
      << refused.message();
  fault.set_chip(4);  // of a chip that no longer exists
  EXPECT_EQ(peer.outcome(report), v1::OUTCOME_TAKEN);
  const auto taken = core.reports.at(0);
  ASSERT_TRUE(taken && taken->faults);
  EXPECT_EQ(taken->faults->front().chip, domain::ChipIndex{4});
}

// The state may be half changed, so nothing goes on as if the report had been refused.
TEST_F(InventoryStream, AnExceptionInTheCoreEndsTheStreamAndEscapes) {
  core.outcome = [](const InventoryReport&) -> ReportOutcome {
    throw std::runtime_error("secret detail");
  };
  Journal<std::string> escaped;
  post_and_wait(thread.loop, [&] {
    thread.loop.on_escape([&](const std::string& what) { escaped.add(what); });
  });
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("bad", "b1", 1)), v1::OUTCOME_UNSPECIFIED);
  const grpc::Status status = peer.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message().find("secret"), std::string::npos);
  EXPECT_EQ(escaped.at(0), std::optional<std::string>("secret detail"));
}

TEST_F(InventoryStream, AStreamMayCarrySeveralNodesAndItsEndIsReportedForEach) {
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(full_of("b", "b1", 2)), v1::OUTCOME_TAKEN);
  peer.cancel();
  const auto first = core.gone.at(0);
  const auto second = core.gone.at(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->node + second->node, "ab");
}

TEST_F(InventoryStream, TheEndOfAnOlderStreamIsNotTheEndOfTheNode) {
  open();
  Peer old(port);
  EXPECT_EQ(old.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(old.outcome(full_of("only-here", "b1", 2)), v1::OUTCOME_TAKEN);
  Peer fresh(port);
  EXPECT_EQ(fresh.outcome(full_of("a", "b1", 3)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(old.outcome(delta_of("a", "b1", 4)), v1::OUTCOME_OLDER);
  EXPECT_TRUE(old.finish().ok());
  const auto gone = core.gone.at(0);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->node, "only-here");
  EXPECT_EQ(fresh.outcome(beat_of("a", "b1")), v1::OUTCOME_TAKEN);
  EXPECT_EQ(core.gone.size(), 1U);
}

TEST_F(InventoryStream, TooManyNodesEndTheStream) {
  GrpcOptions options;
  options.max_nodes = 2;
  open(options);
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(full_of("b", "b1", 2)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 3)), v1::OUTCOME_TAKEN);
  ASSERT_TRUE(peer.write(full_of("c", "b1", 4)));
  EXPECT_TRUE(peer.read_fails());
  EXPECT_EQ(peer.finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(core.gone.at(1));
}

TEST_F(InventoryStream, AMessageAboveTheLimitEndsTheStream) {
  GrpcOptions options;
  options.max_message_bytes = 10000;
  open(options);
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  v1::InventoryReport big = full_of("a", "b1", 2);
  big.mutable_full()->set_machine(std::string(20000, 'x'));
  peer.write(big);
  EXPECT_TRUE(peer.read_fails());
  EXPECT_EQ(peer.finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(core.gone.at(0));
}

TEST_F(InventoryStream, StopEndsOpenStreams) {
  open();
  Peer one(port);
  Peer two(port);
  EXPECT_EQ(one.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  EXPECT_EQ(two.outcome(full_of("b", "b1", 1)), v1::OUTCOME_TAKEN);
  server->stop(milliseconds(1000));
  EXPECT_TRUE(one.read_fails());
  EXPECT_EQ(one.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(two.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(core.gone.size(), 0U);
}

TEST_F(InventoryStream, StopOnTheLoopItselfDoesNotWaitForTheLoop) {
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  post_and_wait(thread.loop, [this] {
    server->stop(milliseconds(1000));
    server.reset();
  });
  EXPECT_TRUE(peer.read_fails());
}

TEST_F(InventoryStream, StopWhileADecisionIsDueEndsTheStreamToo) {
  open();
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
  Journal<int> blocked;
  Journal<int> go_on;
  thread.loop.post([&] {
    blocked.add(1);
    go_on.at(0);
  });
  ASSERT_TRUE(blocked.at(0));
  ASSERT_TRUE(peer.write(delta_of(
      "a", "b1", 2)));  // its decision waits behind the blocked task, if it arrives in time
  server->stop(milliseconds(0));
  EXPECT_TRUE(peer.read_fails());
  EXPECT_EQ(peer.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  go_on.add(1);
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.reports.size(), 1U);
}

// In a cluster agents report to the API server.
TEST_F(InventoryStream, WithoutASinkThereIsNoSuchService) {
  GrpcServer of_a_cluster(thread.loop, nullptr, core);
  const auto at = of_a_cluster.start("127.0.0.1:0");
  ASSERT_TRUE(at) << at.error().text();
  Peer peer(*at);
  EXPECT_TRUE(peer.read_fails());
  EXPECT_EQ(peer.finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(core.reports.size(), 0U);
}

TEST_F(InventoryStream, ATakenPortIsAnErrorAndSoIsNonsense) {
  open();
  FakeCore other;
  GrpcServer second(thread.loop, &other, other);
  const auto taken = second.start("127.0.0.1:" + std::to_string(port));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::unavailable);
  EXPECT_FALSE(second.start("nowhere"));
  EXPECT_FALSE(second.start("192.0.2.1:0"));  // not an address of this machine
  Peer peer(port);
  EXPECT_EQ(peer.outcome(full_of("a", "b1", 1)), v1::OUTCOME_TAKEN);
}

}  // namespace
}  // namespace chipweave::sched
