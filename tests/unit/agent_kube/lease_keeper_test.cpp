// An agent's lease from creation to takeover.
#include "node-agent/publish/kube/lease_keeper.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/agent/api_answers.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/chipweave/leases";
const std::string kLease = kLeases + "/n1";

class Keeper : public testing::Test {
 protected:
  Keeper() {
    LeaseKeeper::Options options;
    options.ns = "chipweave";
    options.node = "n1";
    options.boot_id = "b1";
    keeper_ = std::make_unique<LeaseKeeper>(
        server_, clock_, options,
        LeaseKeeper::Events{[this] { ++renewed_; }, [this](bool yes) { works_ = yes; }});
    keeper_->start();
  }
  static std::string lease(const std::string& version) { return object(version, "", 0); }
  void begin() {
    server_.reply(404, failure(404, "not found"));
    server_.reply(201, lease("1"));
    ASSERT_EQ(server_.target, "wait 10000");
  }
  Json sent() const { return Json::parse(server_.body); }

  kube::ScriptedTransport server_;
  ManualClock clock_;
  int renewed_ = 0;
  bool works_ = false;
  std::unique_ptr<LeaseKeeper> keeper_;
};

TEST_F(Keeper, MakesTheLeaseAndRenewsItWithOneRequestEach) {
  EXPECT_EQ(server_.target, kLease);
  server_.reply(404, failure(404, "not found"));
  EXPECT_EQ(server_.target, "POST " + kLeases);
  EXPECT_EQ(sent()["metadata"], Json::parse(R"({"name":"n1","namespace":"chipweave",
                            "labels":{"chipweave.dev/component":"agent"}})"));
  EXPECT_EQ(sent()["spec"]["holderIdentity"], "b1");
  EXPECT_EQ(sent()["spec"]["leaseDurationSeconds"], 30);
  EXPECT_EQ(renewed_, 0);
  server_.reply(201, lease("1"));
  EXPECT_EQ(renewed_, 1);
  EXPECT_TRUE(works_);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(server_.target, "wait 10000");
    clock_.advance(seconds(10));
    server_.pass_time();
    EXPECT_EQ(server_.target, "PUT " + kLease);
    EXPECT_EQ(sent()["metadata"]["resourceVersion"], std::to_string(i));
    EXPECT_EQ(sent()["spec"]["acquireTime"], "2026-01-02T03:04:05.000000Z");
    EXPECT_EQ(sent()["spec"]["renewTime"],
              "2026-01-02T03:04:" + std::to_string(5 + 10 * i) + ".000000Z");
    server_.reply(200, lease(std::to_string(i + 1)));
    EXPECT_EQ(renewed_, i + 1);
  }
}

TEST_F(Keeper, TakesALeaseOfAnEarlierBoot) {
  server_.reply(200, lease("70"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "70");
  EXPECT_EQ(sent()["spec"]["holderIdentity"], "b1");
}

TEST_F(Keeper, AConflictIsReadAgain) {
  begin();
  server_.pass_time();
  server_.reply(409, failure(409, "modified"));
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, lease("8"));
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "8");
  server_.reply(200, lease("9"));
  EXPECT_EQ(server_.target, "wait 10000");
}

TEST_F(Keeper, ALeaseThatWasDeletedIsMadeAnew) {
  begin();
  server_.pass_time();
  server_.reply(404, failure(404, "not found"));
  EXPECT_EQ(server_.target, kLease);
  server_.reply(404, failure(404, "not found"));
  EXPECT_EQ(server_.target, "POST " + kLeases);
  server_.reply(409, failure(409, "already exists"));
  EXPECT_NE(server_.on_time, nullptr) << "waits after the second conflict in a row";
  server_.pass_time();
  server_.reply(200, lease("3"));
  server_.reply(200, lease("4"));
  EXPECT_EQ(server_.target, "wait 10000");
}

TEST_F(Keeper, FailuresAreWaitedOutAndShown) {
  begin();
  for (const int status : {0, 401, 429, 500}) {
    server_.pass_time();
    status == 0 ? server_.fail(Errc::unavailable, "cut") : server_.reply(status, "busy");
    EXPECT_LE(server_.waiting, milliseconds(100)) << status;
    EXPECT_FALSE(works_);
    server_.pass_time();
    EXPECT_EQ(server_.target, kLease);
    server_.reply(200, lease("5"));
    server_.reply(200, lease("6"));
    EXPECT_TRUE(works_);
  }
  server_.pass_time();
  server_.on_reply(kube::Reply{429, "", seconds(3)});
  EXPECT_EQ(server_.waiting, seconds(3));
}

TEST_F(Keeper, WhatSomebodyMustChangeIsTriedEachHalfMinute) {
  server_.reply(403, failure(403, "leases is forbidden"));
  EXPECT_EQ(server_.target, "wait 30000");
  server_.pass_time();
  server_.reply(404, failure(404, "not found"));
  server_.reply(404, failure(404, "namespaces \"chipweave\" not found"));
  EXPECT_EQ(server_.target, "wait 30000");
  server_.pass_time();
  server_.reply(200, "no object");
  EXPECT_EQ(server_.target, "wait 30000");
  EXPECT_FALSE(works_);
}

TEST_F(Keeper, NothingComesAfterTheStop) {
  begin();
  server_.pass_time();
  keeper_->stop();
  EXPECT_EQ(server_.in_flight(), 0);
  EXPECT_EQ(renewed_, 1);
}

}  // namespace
}  // namespace chipweave::agent
