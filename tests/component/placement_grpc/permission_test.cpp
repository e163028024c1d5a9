// Which certificate may call which method: by the names listed for deciding and for reading.
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "common/rpc/server_identity.hpp"
#include "scheduler-plugin/server/caller_audit.hpp"
#include "tests/component/kube_api/certificates.hpp"
#include "tests/component/placement_grpc/grpc_fixture.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;
using ::testing::HasSubstr;

struct Permission : GrpcFixture {
  const Pem ca = make_authority("CA");

  void open_for(CertificateNames names) {
    const Pem own = make_certificate(ca, "IP:127.0.0.1");
    options.tls =
        std::make_shared<rpc::ServerIdentity>(ServerPem{own.certificate, own.key, ca.certificate});
    options.names = std::move(names);
    open();
  }
  std::unique_ptr<v1::Placement::Stub> caller(const std::string& names) {
    const Pem shown = make_certificate(ca, names);
    return client(ClientPem{ca.certificate, shown.certificate, shown.key, {}});
  }

  template <typename Method, typename Request, typename Reply>
  static grpc::Status call(v1::Placement::Stub& stub, Method method, const Request& request,
                           Reply reply) {
    grpc::ClientContext context;
    set_patience(context);
    return (stub.*method)(&context, request, &reply);
  }
  // Of Place, Reserve and Release.
  static std::vector<grpc::Status> decisions(v1::Placement::Stub& stub) {
    using Stub = v1::Placement::Stub;
    v1::ReleaseRequest release;
    *release.mutable_pod() = place_request().request().pod();
    release.set_uid("u1");
    return {call(stub, &Stub::Place, place_request(), v1::PlaceReply()),
            call(stub, &Stub::Reserve, reserve_request(), v1::PlaceReply()),
            call(stub, &Stub::Release, release, v1::ReleaseReply())};
  }
  // Of Explain, WhatIf and WatchDecisions.
  static std::vector<grpc::Status> reads(v1::Placement::Stub& stub) {
    using Stub = v1::Placement::Stub;
    v1::ExplainRequest explain;
    *explain.mutable_pod() = place_request().request().pod();
    v1::WhatIfRequest what_if;
    *what_if.mutable_request() = place_request().request();
    std::vector<grpc::Status> out{call(stub, &Stub::Explain, explain, v1::ExplainReply()),
                                  call(stub, &Stub::WhatIf, what_if, v1::PlaceReply())};
    grpc::ClientContext context;
    set_patience(context);
    const auto reader = stub.WatchDecisions(&context, {});
    v1::DecisionEvent event;
    const bool live = reader->Read(&event);
    if (live) context.TryCancel();
    const grpc::Status end = reader->Finish();
    out.push_back(live ? grpc::Status::OK : end);
    return out;
  }
  static std::vector<Code> codes(const std::vector<grpc::Status>& of) {
    std::vector<Code> out;
    for (const grpc::Status& status : of) out.push_back(status.error_code());
    return out;
  }
  static std::vector<Code> all(Code code) { return std::vector<Code>(3, code); }
};

TEST_F(Permission, ReadersMayNotDecide) {
  open_for({{"planner"}, {"dashboard", "spiffe://cluster/viewer"}});
  const auto planner = caller("DNS:planner");
  EXPECT_EQ(codes(decisions(*planner)), all(Code::OK));
  EXPECT_EQ(codes(reads(*planner)), all(Code::OK));
  const std::size_t asked = core.asked.size();
  const std::size_t released = core.released.size();
  for (const char* names : {"DNS:dashboard", "URI:spiffe://cluster/viewer"}) {
    const auto reader = caller(names);
    EXPECT_EQ(codes(reads(*reader)), all(Code::OK)) << names;
    const auto refused = decisions(*reader);
    EXPECT_EQ(codes(refused), all(Code::PERMISSION_DENIED)) << names;
    EXPECT_THAT(refused[1].error_message(), HasSubstr("grpc-client-names lists no name"));
  }
  const auto other = caller("DNS:kube-scheduler");
  EXPECT_EQ(codes(decisions(*other)), all(Code::PERMISSION_DENIED));
  EXPECT_EQ(codes(reads(*other)), all(Code::PERMISSION_DENIED));
  post_and_wait(thread.loop, [] {});
  EXPECT_EQ(core.asked.size(), asked + 2) << "only WhatIf of the two readers";
  EXPECT_EQ(core.released.size(), released);
}

TEST_F(Permission, AListOfReadersAloneLetsNobodyDecide) {
  open_for({{}, {"dashboard"}});
  EXPECT_EQ(codes(reads(*caller("DNS:dashboard"))), all(Code::OK));
  EXPECT_EQ(codes(decisions(*caller("DNS:dashboard"))), all(Code::PERMISSION_DENIED));
  EXPECT_EQ(codes(decisions(*caller("DNS:other"))), all(Code::PERMISSION_DENIED));
}

TEST_F(Permission, WithoutListsEveryCertificateOfTheAuthorityMayCall) {
  open_for({});
  const auto anyone = caller("DNS:anyone");
  EXPECT_EQ(codes(decisions(*anyone)), all(Code::OK));
  EXPECT_EQ(codes(reads(*anyone)), all(Code::OK));
}

TEST_F(Permission, RefusedCallersAreLoggedByMethodAndName) {
  open_for({{"planner"}, {"dashboard"}});
  const auto reader = caller("DNS:dashboard");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(codes(decisions(*reader)), all(Code::PERMISSION_DENIED));
  for (int i = 0; i < 10; ++i) decisions(*reader);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("msg=\"refused a caller\" method=Place from=127.0.0.1 "
                             "caller=\"certificate dashboard\" reason=\"grpc-client-names lists"));
  EXPECT_THAT(log, HasSubstr("method=Reserve"));
  std::size_t lines = 0;
  for (std::size_t at = log.find("refused a caller"); at != std::string::npos;
       at = log.find("refused a caller", at + 1))
    ++lines;
  EXPECT_EQ(lines, CallerAudit::kLinesAMinute);
}

}  // namespace
}  // namespace chipweave::sched
