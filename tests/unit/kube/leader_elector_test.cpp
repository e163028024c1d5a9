// One elector with every kind of answer of the API server.
#include "common/kube/leader_elector.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/manual_clock.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/cw/leases";
const std::string kLease = kLeases + "/sched";

std::string lease(const std::string& version, const std::string& spec) {
  return R"({"kind":"Lease","metadata":{"name":"sched","namespace":"cw","uid":"u1","resourceVersion":")" +
         version + R"(","labels":{"other":"x"},"managedFields":[{"manager":"kubectl"}]},"spec":)" +
         spec + "}";
}
std::string held(const std::string& version, const std::string& by,
                 const std::string& duration = "3", int transitions = 4) {
  return lease(version, R"({"holderIdentity":")" + by + R"(","leaseDurationSeconds":)" + duration +
                            R"(,"acquireTime":"1970-01-01T00:00:00.000000Z",)"
                            R"("renewTime":"2999-01-01T00:00:00.000000Z","leaseTransitions":)" +
                            std::to_string(transitions) +
                            R"(,"strategy":"OldestEmulationVersion"})");
}
std::string election_status(int code, const std::string& message = "no") {
  return R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}";
}

class Elector : public testing::Test {
 protected:
  Elector() {
    LeaderElector::Options options;
    options.ns = "cw";
    options.name = "sched";
    options.identity = "me";
    LeaderElector::Events events;
    events.may_lead = [this] { return may_lead_; };
    events.began = [this](const std::string& former) {
      events_.push_back("began after " + former);
    };
    events.ended = [this] { events_.emplace_back("ended"); };
    events.failed = [this](const std::string& what) { failures_.push_back(what); };
    elector_ =
        std::make_unique<LeaderElector>(server_, clock_, options, events, [] { return 0.5; });
    elector_->start();
  }
  // Creates and takes a missing Lease.
  void lead() {
    server_.reply(404, election_status(404));
    server_.reply(201, held("1", "me"));
    ASSERT_TRUE(elector_->holds());
    events_.clear();
  }
  // The elector reads repeatedly until so much time has passed.
  void look_on(milliseconds time, const std::string& body) {
    const auto end = server_.time + time;
    while (server_.time < end) {
      ASSERT_EQ(server_.target, kLease);
      server_.reply(200, body);
      if (server_.on_time == nullptr) return;  // it is not waiting
      server_.pass_time();
    }
  }
  void lose_the_race() {
    server_.reply(409, election_status(409));
    if (server_.on_time != nullptr) server_.pass_time();
  }
  Json sent() const { return Json::parse(server_.body); }

  ScriptedTransport server_;
  ManualClock clock_;
  bool may_lead_ = true;
  std::vector<std::string> events_;
  std::vector<std::string> failures_;
  std::unique_ptr<LeaderElector> elector_;
};

TEST_F(Elector, MakesTheLeaseWhereThereIsNoneAndRenewsIt) {
  EXPECT_EQ(server_.target, kLease);
  EXPECT_EQ(elector_->standby(), "standby: leader unknown");
  server_.reply(404, election_status(404));
  EXPECT_EQ(server_.target, "POST " + kLeases);
  EXPECT_EQ(server_.deadline, milliseconds(1000)) << "two attempts before the deadline";
  EXPECT_EQ(sent(), Json::parse(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"sched","namespace":"cw","labels":{"chipweave.dev/component":"scheduler"}},
      "spec":{"holderIdentity":"me","leaseDurationSeconds":3,"leaseTransitions":0,
              "acquireTime":"2026-01-02T03:04:05.000000Z","renewTime":"2026-01-02T03:04:05.000000Z"}})"));
  EXPECT_FALSE(elector_->holds());
  server_.reply(201, held("1", "me", "3", 0));
  EXPECT_TRUE(elector_->holds());
  EXPECT_EQ(elector_->standby(), "");
  EXPECT_EQ(events_, std::vector<std::string>{"began after "});
  EXPECT_EQ(elector_->term(), 1U);
  for (int version = 1; version < 4; ++version) {
    EXPECT_EQ(server_.target, "wait 440") << "retry_period and a tenth";
    clock_.advance(milliseconds(440));
    server_.pass_time();
    EXPECT_EQ(server_.target, "PUT " + kLease) << "one request";
    EXPECT_EQ(sent()["metadata"]["resourceVersion"], std::to_string(version));
    EXPECT_EQ(sent()["spec"]["acquireTime"], "2026-01-02T03:04:05.000000Z");
    EXPECT_NE(sent()["spec"]["renewTime"], "2026-01-02T03:04:05.000000Z");
    EXPECT_EQ(sent()["spec"]["leaseTransitions"], 0);
    server_.reply(200, held(std::to_string(version + 1), "me", "3", 0));
    EXPECT_TRUE(elector_->holds());
  }
  EXPECT_EQ(elector_->term(), 1U) << "one term";
}

TEST_F(Elector, HoldsFromWhenTheRenewalWasSentAndNoLongerThanTheDeadline) {
  server_.reply(404, election_status(404));
  server_.time += milliseconds(900);  // the answer is late
  server_.reply(201, held("1", "me"));
  EXPECT_TRUE(elector_->holds());
  server_.time += milliseconds(1099);
  EXPECT_TRUE(elector_->holds());
  server_.time += milliseconds(1);
  EXPECT_FALSE(elector_->holds()) << "2 s after it was sent, though nothing has run since";
  EXPECT_EQ(elector_->standby(), "standby: the Lease sched could not be renewed in time");
  EXPECT_EQ(events_.size(), 1U) << "no callback has run yet";
  elector_->check();
  EXPECT_EQ(events_.back(), "ended");
  elector_->check();
  EXPECT_EQ(events_.size(), 2U) << "once";
}

TEST_F(Elector, WaitsForAnotherHolderByItsOwnClockOnly) {
  // renewTime of the year 2999, acquireTime of 1970: both are ignored
  look_on(milliseconds(2999), held("7", "other"));
  EXPECT_EQ(server_.target, kLease);
  EXPECT_EQ(elector_->standby(), "standby: the leader is other");
  server_.reply(200, held("7", "other"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "7") << "not over a later renewal";
  EXPECT_EQ(sent()["spec"]["leaseTransitions"], 5);
  EXPECT_FALSE(elector_->holds());
  server_.reply(200, held("8", "me", "3", 5));
  EXPECT_EQ(events_, std::vector<std::string>{"began after other"});
}

TEST_F(Elector, LooksExactlyWhenTheTimeIsOver) {
  std::vector<milliseconds> waits;
  while (server_.target == kLease) {
    server_.reply(200, held("7", "other"));
    if (server_.on_time == nullptr) break;
    waits.push_back(server_.waiting);
    server_.pass_time();
  }
  EXPECT_EQ(server_.time.time_since_epoch(), milliseconds(3000));
  EXPECT_EQ(waits.back(), milliseconds(3000 - 6 * 440));
}

TEST_F(Elector, ARenewalIsWaitedForAnew) {
  look_on(milliseconds(2900), held("7", "other"));
  look_on(milliseconds(2900), held("8", "other"));
  look_on(milliseconds(2900), held("9", "other"));
  EXPECT_EQ(server_.target, kLease);
  EXPECT_FALSE(elector_->holds());
}

TEST_F(Elector, WhatWasNotLookedAtWasNotWaitedFor) {
  look_on(milliseconds(2500), held("7", "other"));
  for (int i = 0; i < 10; ++i) {  // the API server is down
    server_.time += milliseconds(1000);
    server_.fail(Errc::deadline, "no answer");
    server_.pass_time();
  }
  server_.reply(200, held("7", "other"));
  EXPECT_EQ(server_.target, "wait 440") << "the holder gets a full lease duration again";
  EXPECT_EQ(failures_.size(), 10U);
  EXPECT_EQ(failures_[0], "the Lease cw/sched cannot be read: no answer");
  server_.pass_time();
  look_on(milliseconds(2500), held("7", "other"));
  look_on(milliseconds(500), held("7", "other"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
}

TEST_F(Elector, ALeaseThatWasGivenBackIsTakenAtOnce) {
  server_.reply(200, held("7", "other"));
  server_.pass_time();
  server_.reply(200, held("8", "", "1"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_EQ(sent()["spec"]["leaseTransitions"], 5);
  server_.reply(200, held("9", "me"));
  EXPECT_TRUE(elector_->holds());
}

TEST_F(Elector, WhoCouldNotLeadOnlyLooksOn) {
  may_lead_ = false;
  server_.reply(404, election_status(404));
  EXPECT_EQ(server_.target, "wait 440");
  server_.pass_time();
  server_.reply(200, held("1", ""));
  EXPECT_EQ(server_.target, "wait 440");
  EXPECT_EQ(elector_->standby(), "standby: no leader");
  may_lead_ = true;
  server_.pass_time();
  server_.reply(200, held("1", ""));
  EXPECT_EQ(server_.target, "PUT " + kLease);
}

TEST_F(Elector, WhoLosesTheRaceLooksAgain) {
  server_.reply(404, election_status(404));
  server_.reply(409, election_status(409, "already exists"));
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("1", "other"));
  EXPECT_EQ(server_.target, "wait 440");
  EXPECT_FALSE(elector_->holds());
}

TEST_F(Elector, ALeaderThatIsDisplacedStopsAtOnce) {
  lead();
  server_.pass_time();
  server_.reply(409, election_status(409));
  EXPECT_TRUE(elector_->holds()) << "another client may only have labelled it";
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("5", "other"));
  EXPECT_FALSE(elector_->holds());
  EXPECT_EQ(events_, std::vector<std::string>{"ended"});
  EXPECT_EQ(elector_->standby(), "standby: the leader is other");
}

TEST_F(Elector, SomebodyElsesWriteIsNoLoss) {
  lead();
  server_.pass_time();
  server_.reply(409, election_status(409));
  server_.reply(200, held("5", "me"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "5");
  server_.reply(200, held("6", "me"));
  EXPECT_TRUE(elector_->holds());
  EXPECT_TRUE(events_.empty());
}

TEST_F(Elector, ALostAnswerIsLookedForAndTheLeaderHurries) {
  lead();
  server_.pass_time();
  server_.fail(Errc::unavailable, "cut");
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("2", "me"));  // the write had succeeded
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_TRUE(elector_->holds());
  server_.time = std::chrono::steady_clock::time_point(milliseconds(2000));
  EXPECT_FALSE(elector_->holds()) << "without an answer the time of the write is unknown";
}

TEST_F(Elector, AStoppedProcessDoesNotLeadByAnAnswerThatIsOld) {
  lead();
  server_.pass_time();
  EXPECT_EQ(server_.target, "PUT " + kLease);
  server_.time += seconds(10);
  EXPECT_FALSE(elector_->holds());
  server_.reply(200, held("2", "me"));  // it existed all the time
  EXPECT_FALSE(elector_->holds());
  EXPECT_EQ(events_, std::vector<std::string>{"ended"});
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("2", "me"));  // unexpected
  server_.reply(200, held("3", "me"));
  EXPECT_TRUE(elector_->holds());
  EXPECT_EQ(events_.back(), "began after ");
  EXPECT_EQ(elector_->term(), 2U) << "another term";
}

TEST_F(Elector, ALeaderWhoseLeaseWasDeletedMakesItAnew) {
  lead();
  server_.pass_time();
  server_.reply(404, election_status(404));
  server_.reply(404, election_status(404));
  EXPECT_EQ(server_.target, "POST " + kLeases);
  server_.reply(201, held("9", "me"));
  EXPECT_TRUE(elector_->holds());
  EXPECT_TRUE(events_.empty());
}

TEST_F(Elector, ALeaseThatVanishesIsWaitedOutByOthers) {
  server_.reply(200, held("7", "other"));
  server_.pass_time();
  while (server_.target == kLease) {
    server_.reply(404, election_status(404));
    if (server_.on_time != nullptr) server_.pass_time();
  }
  EXPECT_EQ(server_.target, "POST " + kLeases);
  EXPECT_EQ(server_.time.time_since_epoch(), milliseconds(440 + 3000));
}

TEST_F(Elector, HostileLeases) {
  // Waits for the holder's duration, within an upper limit, but never for less than our own.
  const std::vector<std::pair<std::string, seconds>> cases = {
      {R"({"holderIdentity":"x","leaseDurationSeconds":2147483647})", seconds(600)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":9223372036854775807})", seconds(600)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":15})", seconds(15)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":1})", seconds(3)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":0})", seconds(3)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":-9223372036854775808})", seconds(3)},
      {R"({"holderIdentity":"x","leaseDurationSeconds":null,"leaseTransitions":null})", seconds(3)},
      {R"({"holderIdentity":"x"})", seconds(3)}};
  int version = 100;
  for (const auto& [spec, time] : cases) {
    const std::string body = lease(std::to_string(++version), spec);
    const auto begin = server_.time;
    while (server_.target == kLease) {
      server_.reply(200, body);
      if (server_.on_time != nullptr) server_.pass_time();
    }
    EXPECT_EQ(server_.target, "PUT " + kLease) << spec;
    EXPECT_EQ(server_.time - begin, time) << spec;
    lose_the_race();
  }
  for (const char* spec : {R"({"holderIdentity":"x","leaseTransitions":2147483647})",
                           R"({"holderIdentity":"x","leaseTransitions":-5})"}) {
    const std::string body = lease(std::to_string(++version), spec);
    while (server_.target == kLease) {
      server_.reply(200, body);
      if (server_.on_time != nullptr) server_.pass_time();
    }
    const auto transitions = sent()["spec"]["leaseTransitions"].get<std::int64_t>();
    EXPECT_GE(transitions, 0);
    EXPECT_LE(transitions, 2147483647);
    lose_the_race();
  }
  for (const std::string& spec : {std::string("null"), std::string("{}")}) {
    server_.reply(200, lease(std::to_string(++version), spec));
    EXPECT_EQ(server_.target, "PUT " + kLease) << "it has no holder";
    lose_the_race();
  }
  const std::size_t before = failures_.size();
  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string("{}"), std::string(),
        lease("1", R"({"holderIdentity":7})"), lease("1", R"({"leaseDurationSeconds":"3"})"),
        lease("", R"({"holderIdentity":"x"})")}) {
    ASSERT_EQ(server_.target, kLease);
    server_.reply(200, body);
    EXPECT_NE(server_.on_time, nullptr) << body;
    server_.pass_time();
  }
  EXPECT_EQ(failures_.size(), before + 7);
  server_.reply(200, held("999", std::string(100'000, 'x')));
  EXPECT_LT(elector_->standby().size(), 300U);
  EXPECT_FALSE(elector_->holds());
}

TEST_F(Elector, AnAnswerThatNamesAnotherHolderIsNoGrant) {
  server_.reply(404, election_status(404));
  server_.reply(201, held("1", "other"));
  EXPECT_FALSE(elector_->holds());
  EXPECT_EQ(server_.target, kLease);
}

TEST_F(Elector, SaysWhatIsWrongAndGoesOn) {
  server_.reply(403, election_status(403, "leases is forbidden"));
  EXPECT_EQ(failures_.back(), "the Lease cw/sched cannot be read: HTTP 403 leases is forbidden");
  server_.pass_time();
  server_.reply(404, election_status(404));
  server_.reply(500, "etcd is away");
  EXPECT_EQ(failures_.back(), "the Lease cw/sched cannot be written: HTTP 500 etcd is away");
  server_.pass_time();
  server_.on_reply(Reply{429, "later", seconds(3)});
  EXPECT_EQ(server_.waiting, seconds(3));
  server_.pass_time();
  server_.on_reply(Reply{429, "later", seconds(1'000'000)});
  EXPECT_EQ(server_.waiting, seconds(10)) << "no server can delay it without bound";
}

TEST_F(Elector, GivesTheLeaseBack) {
  lead();
  bool stopped = false;
  elector_->stop(true, [&] { stopped = true; });
  EXPECT_FALSE(elector_->holds());
  EXPECT_EQ(elector_->standby(), "standby: this replica is shutting down");
  EXPECT_EQ(events_, std::vector<std::string>{"ended"});
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("1", "me"));
  EXPECT_EQ(server_.target, "PUT " + kLease);
  EXPECT_EQ(sent()["spec"]["holderIdentity"], "");
  EXPECT_EQ(sent()["spec"]["leaseDurationSeconds"], 1);
  EXPECT_EQ(sent()["spec"]["leaseTransitions"], 4);
  EXPECT_FALSE(stopped);
  server_.reply(409, election_status(409));  // a renewal was in flight
  EXPECT_EQ(server_.target, kLease);
  server_.reply(200, held("2", "me"));
  server_.reply(200, held("3", "", "1"));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(server_.in_flight(), 0);
  EXPECT_FALSE(elector_->holds());
}

TEST_F(Elector, GivesNothingBackThatItHasNotOrMayNot) {
  lead();
  int stopped = 0;
  elector_->stop(false, [&] { ++stopped; });
  EXPECT_EQ(server_.target, "wait 0");
  server_.pass_time();
  EXPECT_EQ(stopped, 1);
}

TEST_F(Elector, AStandbyStopsWithoutAWord) {
  server_.reply(200, held("1", "other"));
  int stopped = 0;
  elector_->stop(true, [&] { ++stopped; });
  EXPECT_EQ(server_.target, "wait 0");
  server_.pass_time();
  EXPECT_EQ(stopped, 1);
}

TEST_F(Elector, GivingBackEndsAlsoWithoutAnApiServer) {
  lead();
  int stopped = 0;
  elector_->stop(true, [&] { ++stopped; });
  for (int i = 0; i < 100 && stopped == 0; ++i) {
    if (server_.on_reply) {
      server_.fail(Errc::unavailable, "refused");
    } else {
      server_.pass_time();
    }
  }
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(server_.in_flight(), 0);
}

}  // namespace
}  // namespace chipweave::kube
