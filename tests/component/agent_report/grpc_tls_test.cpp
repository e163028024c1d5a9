// The gRPC server over TLS: which servers a client trusts, which clients the server accepts, a
// change of the certificate during calls; and the agent's reporter over TLS.
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "chipweave/v1/placement.grpc.pb.h"
#include "common/domain/topology_builder.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/server_identity.hpp"
#include "node-agent/publish/grpc_reporter.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "tests/component/agent_report/fakes.hpp"
#include "tests/component/kube_api/certificates.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;

const std::string kLocal = "IP:127.0.0.1,DNS:localhost";

struct GrpcTls : ::testing::Test {
  const Pem ca = make_authority("CA");
  const Pem other_ca = make_authority("another CA");
  LoopThread thread;
  FakeCore core;
  std::shared_ptr<rpc::ServerIdentity> identity;
  std::unique_ptr<GrpcServer> server;
  std::uint16_t port = 0;

  void open(const Pem& own, const std::string& client_ca = "") {
    identity =
        std::make_shared<rpc::ServerIdentity>(ServerPem{own.certificate, own.key, client_ca});
    GrpcOptions options;
    options.tls = identity;
    server = std::make_unique<GrpcServer>(thread.loop, &core, core, options);
    const auto got = server->start("127.0.0.1:0");
    ASSERT_TRUE(got) << got.error().text();
    port = *got;
  }

  using Stub = std::unique_ptr<v1::Placement::Stub>;
  Stub client(const std::optional<ClientPem>& tls) const {
    return v1::Placement::NewStub(rpc::make_channel({"127.0.0.1", port}, tls));
  }
  static grpc::StatusCode ask(const Stub& stub) {
    v1::PlaceReply reply;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    return stub->Place(&context, place_request(), &reply).error_code();
  }
  grpc::StatusCode ask(const std::optional<ClientPem>& tls) const { return ask(client(tls)); }
};

constexpr auto kRefused = grpc::StatusCode::UNAVAILABLE;

TEST_F(GrpcTls, AClientBelievesItsAuthorityAndTheNameOnly) {
  open(make_certificate(ca, kLocal));
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, {}}), grpc::StatusCode::OK);
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, "localhost"}), grpc::StatusCode::OK);
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, "elsewhere"}), kRefused);
  EXPECT_EQ(ask(ClientPem{other_ca.certificate, {}, {}, {}}), kRefused);
  EXPECT_EQ(ask(std::nullopt), kRefused);
}

TEST_F(GrpcTls, TheServerNameMayDifferFromTheAddress) {
  open(make_certificate(ca, "DNS:chipweave.kube-system.svc"));
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, {}}), kRefused);
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, "chipweave.kube-system.svc"}),
            grpc::StatusCode::OK);
}

TEST_F(GrpcTls, ClientsNeedACertificateOfTheClientAuthority) {
  open(make_certificate(ca, kLocal), ca.certificate);
  const Pem good = make_certificate(ca, "DNS:agent");
  const Pem bad = make_certificate(other_ca, "DNS:agent");
  const Pem expired = make_certificate(ca, "DNS:agent", -60);
  EXPECT_EQ(ask(ClientPem{ca.certificate, good.certificate, good.key, {}}), grpc::StatusCode::OK);
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, {}}), kRefused);
  EXPECT_EQ(ask(ClientPem{ca.certificate, bad.certificate, bad.key, {}}), kRefused);
  EXPECT_EQ(ask(ClientPem{ca.certificate, expired.certificate, expired.key, {}}), kRefused);
}

TEST_F(GrpcTls, ANewCertificateIsForNewConnections) {
  open(make_certificate(ca, kLocal));
  const Stub before = client(ClientPem{ca.certificate, {}, {}, {}});
  EXPECT_EQ(ask(before), grpc::StatusCode::OK);
  const Pem next = make_certificate(other_ca, kLocal);
  identity->replace({next.certificate, next.key, {}});
  EXPECT_EQ(ask(ClientPem{other_ca.certificate, {}, {}, {}}), grpc::StatusCode::OK);
  EXPECT_EQ(ask(ClientPem{ca.certificate, {}, {}, {}}), kRefused);
  EXPECT_EQ(ask(before), grpc::StatusCode::OK);
}

TEST_F(GrpcTls, AnAgentReportsThroughItAndReadsItsCertificateAfresh) {
  const Pem own = make_certificate(ca, kLocal);
  open(own, ca.certificate);
  const Pem wrong = make_certificate(other_ca, "DNS:n1");
  const Pem right = make_certificate(ca, "DNS:n1");
  LoopThread agent_thread;
  Journal<bool> connected;
  std::atomic<int> reads = 0;
  agent::GrpcReporterOptions options;
  options.scheduler = "127.0.0.1:" + std::to_string(port);
  options.node = "n1";
  options.boot_id = "b";
  options.backoff_min = std::chrono::milliseconds(1);
  options.backoff_max = std::chrono::milliseconds(5);
  // missing, then wrong, then right
  options.tls = [&]() -> Result<ClientPem> {
    const int now = reads++;
    if (now == 0) return make_error(Errc::not_found, "no such file");
    const Pem& shown = now < 3 ? wrong : right;
    return ClientPem{ca.certificate, shown.certificate, shown.key, {}};
  };
  std::unique_ptr<agent::GrpcReporter> reporter;
  post_and_wait(agent_thread.loop, [&] {
    domain::TopologyBuilder b;
    b.vendor = "nvidia";
    domain::Chip chip;
    chip.index = domain::ChipIndex{0};
    b.add_chip(std::move(chip));
    reporter = std::make_unique<agent::GrpcReporter>(
        agent_thread.loop, options,
        agent::ReporterEvents{[&](bool yes) { connected.add(yes); }, {}});
    reporter->want(std::make_shared<const agent::NodeState>(
                       agent::NodeState{"box", {"nvidia.com/gpu"}, std::move(b).build().value()}),
                   true);
    reporter->start();
  });
  EXPECT_EQ(connected.at(0), true);
  EXPECT_GE(reads.load(), 4);
  Journal<bool> stopped;
  agent_thread.loop.post([&] { reporter->stop([&] { stopped.add(true); }); });
  EXPECT_TRUE(stopped.at(0));
  post_and_wait(agent_thread.loop, [&] { reporter.reset(); });
}

// One full report; the ack, or the status that ended the stream.
struct ReportEnd {
  std::optional<v1::ReportAck> ack;
  grpc::Status status;
};

TEST_F(GrpcTls, AnAgentReportsOnlyTheNodeThatItsCertificateNames) {
  open(make_certificate(ca, kLocal), ca.certificate);
  const auto report = [&](const std::string& names, const std::string& node,
                          const std::string& boot) {
    const Pem shown = make_certificate(ca, names);
    const auto stub = v1::Inventory::NewStub(rpc::make_channel(
        {"127.0.0.1", port}, ClientPem{ca.certificate, shown.certificate, shown.key, {}}));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const auto stream = stub->Report(&context);
    v1::InventoryReport message;
    message.set_node(node);
    message.set_boot_id(boot);
    message.set_sequence(1);
    v1::Chip& chip = *message.mutable_full()->mutable_topology()->add_chips();
    chip.set_health(v1::HEALTH_HEALTHY);
    stream->Write(message);
    stream->WritesDone();
    ReportEnd out;
    if (v1::ReportAck ack; stream->Read(&ack)) out.ack = ack;
    out.status = stream->Finish();
    return out;
  };
  const ReportEnd forged = report("DNS:n2", "n1", "forged");
  EXPECT_FALSE(forged.ack);
  EXPECT_EQ(forged.status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_NE(forged.status.error_message().find("does not name node \"n1\""), std::string::npos);
  EXPECT_EQ(core.reports.size(), 0U) << "the decision core never sees the forged boot id";
  for (const char* names : {"DNS:n1", "DNS:other,DNS:n1"}) {
    const ReportEnd own = report(names, "n1", "real");
    ASSERT_TRUE(own.ack) << own.status.error_message();
    EXPECT_EQ(own.ack->outcome(), v1::OUTCOME_TAKEN) << own.ack->message();
  }
}

}  // namespace
}  // namespace chipweave::sched
