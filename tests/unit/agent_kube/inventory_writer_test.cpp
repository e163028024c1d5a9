// The inventory of a node step by step, with every kind of answer of the API server, or none.
#include <algorithm>

#include "tests/unit/agent_kube/inventory_writing.hpp"

namespace chipweave::agent {
namespace {

using testing::HasSubstr;

class Writer : public InventoryWriting {};

TEST_F(Writer, MakesTheObjectForItsNodeThenWritesTheState) {
  writer_->start();
  EXPECT_EQ(server_.target, kObject);
  server_.reply(404, failure(404, "not found"));
  EXPECT_EQ(server_.target, "/api/v1/nodes/n1");
  server_.reply(200, kNode);
  EXPECT_EQ(server_.target, kCreate);
  EXPECT_EQ(sent()["metadata"]["ownerReferences"][0]["uid"], "node-uid");
  EXPECT_EQ(sent()["metadata"]["ownerReferences"][0]["blockOwnerDeletion"], false);
  server_.reply(201, object("1", "", 0));
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "1");
  EXPECT_EQ(sent()["metadata"]["uid"], "u1");
  EXPECT_EQ(sent()["status"]["bootId"], "b1");
  EXPECT_EQ(sent()["status"]["sequence"], 1);
  EXPECT_EQ(written_, 0);
  server_.reply(200, object("2", "b1", 1));
  EXPECT_EQ(written_, 1);
  EXPECT_TRUE(resting());
  EXPECT_EQ(server_.in_flight(), 1);
}

TEST_F(Writer, AnObjectOfAnEarlierBootIsTakenOver) {
  writer_->start();
  server_.reply(200, object("7", "b0", 12));
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(sent()["status"]["sequence"], 1);
  server_.reply(200, object("8", "b1", 1));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AChangeIsWrittenAtOnceWithTheNextSequence) {
  begin_and_rest();
  writer_->want(state(Health::unhealthy), true);
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "2");
  EXPECT_EQ(sent()["status"]["sequence"], 2);
  EXPECT_EQ(sent()["status"]["unhealthy"], 1);
  server_.reply(200, object("3", "b1", 2));
  EXPECT_TRUE(resting());
  EXPECT_EQ(written_, 2);
}

TEST_F(Writer, TheSameStateAgainIsNoChange) {
  const NodeStatePtr same = state();
  writer_->want(same, true);
  writer_->want(same, true);
  begin();
  EXPECT_EQ(sent()["status"]["sequence"], 2);
  server_.reply(200, object("2", "b1", 2));
  writer_->want(same, true);
  EXPECT_TRUE(resting());
}

TEST_F(Writer, OfChangesDuringAWriteOnlyTheNewestIsWritten) {
  begin();
  writer_->want(state(Health::unhealthy), true);
  writer_->want(state(Health::network_unhealthy), true);
  writer_->want(state(Health::healthy), true);
  EXPECT_EQ(server_.in_flight(), 1);
  server_.reply(200, object("2", "b1", 1));
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["status"]["sequence"], 4);
  EXPECT_EQ(sent()["status"]["unhealthy"], 0);
  server_.reply(200, object("3", "b1", 4));
  EXPECT_TRUE(resting());
  EXPECT_EQ(written_, 2);
}

TEST_F(Writer, AMissingNodeIsNoReasonToWait) {
  for (const int status : {404, 403}) {
    writer_ = make();
    writer_->want(state(), true);
    writer_->start();
    server_.reply(404, failure(404, "not found"));
    server_.reply(status, failure(status, "nodes \"n1\" not found"));
    EXPECT_EQ(server_.target, kCreate);
    EXPECT_FALSE(sent()["metadata"].contains("ownerReferences"));
    server_.reply(201, object("1", "", 0, false));
    server_.reply(200, object("2", "b1", 1, false));
    EXPECT_TRUE(resting());
  }
}

TEST_F(Writer, TheOwnerIsSetWhenTheNodeIsThere) {
  writer_->start();
  server_.reply(200, object("5", "b0", 1, false));
  EXPECT_EQ(server_.target, kWrite) << "the state comes first";
  server_.reply(200, object("6", "b1", 1, false));
  server_.reply(404, failure(404, "no such node"));
  ASSERT_TRUE(resting());
  server_.pass_time();
  server_.reply(200, object("6", "b1", 1, false));
  EXPECT_EQ(server_.target, "/api/v1/nodes/n1");
  server_.reply(200, kNode);
  EXPECT_EQ(server_.target, "PATCH " + kObject);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "6");
  EXPECT_EQ(sent()["metadata"]["ownerReferences"][0]["name"], "n1");
  writer_->want(state(Health::unhealthy), true);
  server_.reply(200, object("7", "b1", 1));
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "7");
  server_.reply(200, object("8", "b1", 2));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AnOwnerThatMayNotBeSetIsDoneWithout) {
  writer_->start();
  server_.reply(200, object("5", "b0", 1, false));
  server_.reply(200, object("6", "b1", 1, false));
  server_.reply(200, kNode);
  writer_->want(state(Health::unhealthy), true);
  server_.reply(403, failure(403, "cannot patch"));
  EXPECT_EQ(server_.target, kWrite) << "a change meanwhile is not forgotten";
  server_.reply(200, object("7", "b1", 2, false));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AnObjectThatIsGoneIsMadeAnew) {
  begin_and_rest();
  writer_->want(state(Health::unhealthy), true);
  server_.reply(404, failure(404, "not found"));
  EXPECT_EQ(server_.target, kObject);
  server_.reply(404, failure(404, "not found"));
  server_.reply(200, kNode);
  EXPECT_EQ(server_.target, kCreate);
  server_.reply(201, object("1", "", 0));
  EXPECT_EQ(sent()["status"]["sequence"], 2);
  server_.reply(200, object("2", "b1", 2));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, ACheckCostsOneReadAndHealsWhatSomebodyDid) {
  begin_and_rest();
  server_.pass_time();
  EXPECT_EQ(server_.target, kObject + "?resourceVersion=0");
  server_.reply(200, object("2", "b1", 1));
  ASSERT_TRUE(resting());

  server_.pass_time();
  server_.reply(200, object("9", "b1", 1));  // another client labelled it
  ASSERT_TRUE(resting());
  writer_->want(state(Health::unhealthy), true);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "9");
  server_.reply(200, object("10", "b1", 2));

  server_.pass_time();
  server_.reply(404, failure(404, "not found"));  // deleted manually
  server_.reply(200, kNode);
  EXPECT_EQ(server_.target, kCreate);
  server_.reply(201, object("11", "", 0));
  EXPECT_EQ(sent()["status"]["sequence"], 2) << "the state has not changed";
  server_.reply(200, object("12", "b1", 2));

  server_.pass_time();
  server_.reply(200, object("13", "b2", 1));  // another agent
  EXPECT_EQ(server_.target, kWrite);
  server_.reply(200, object("14", "b1", 2));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AnOldAnswerToACheckIsFoundOut) {
  begin_and_rest();
  writer_->want(state(Health::unhealthy), true);
  server_.reply(200, object("3", "b1", 2));
  server_.pass_time();
  server_.reply(200, object("2", "b1", 1));  // from the cache of a server that lags behind
  EXPECT_EQ(server_.target, kWrite);
  server_.reply(409, failure(409, "the object has been modified"));
  EXPECT_EQ(server_.target, kObject);
  server_.reply(200, object("3", "b1", 2));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AConflictIsReadAgainAtOnceAndThenWithPatience) {
  begin();
  server_.reply(409, failure(409, "modified"));
  EXPECT_EQ(server_.target, kObject);
  server_.reply(200, object("4", "", 0));
  EXPECT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["metadata"]["resourceVersion"], "4");
  server_.reply(409, failure(409, "modified"));
  expect_backoff(milliseconds(100));
  server_.pass_time();
  server_.reply(200, object("5", "", 0));
  server_.reply(200, object("6", "b1", 1));
  EXPECT_TRUE(resting());
}

TEST_F(Writer, AnObjectThatSomebodyElseMadeMeanwhileIsUsed) {
  writer_->start();
  server_.reply(404, failure(404, "not found"));
  server_.reply(200, kNode);
  server_.reply(409, failure(409, "already exists"));
  EXPECT_EQ(server_.target, kObject);
  server_.reply(200, object("3", "", 0));
  EXPECT_EQ(server_.target, kWrite);
}

TEST_F(Writer, AfterALostAnswerTheObjectIsReadNotWrittenAgain) {
  begin();
  server_.fail(Errc::unavailable, "reset by peer");
  expect_backoff(milliseconds(100));
  server_.pass_time();
  EXPECT_EQ(server_.target, kObject);
  server_.reply(200, object("2", "b1", 1));  // it had arrived
  EXPECT_TRUE(resting());
}

// Each request in turn gets each transient failure; afterwards the writer continues from a new
// read.
TEST_F(Writer, WhatPassesIsWaitedOutAtEachStep) {
  const std::vector<std::function<void()>> steps = {
      [this] { server_.reply(404, failure(404, "not found")); },
      [this] { server_.reply(200, kNode); },
      [this] { server_.reply(201, object("1", "", 0)); },
  };
  for (std::size_t at = 0; at <= steps.size(); ++at) {
    for (const int status : {0, 401, 408, 429, 500, 503}) {
      writer_ = make();
      writer_->want(state(), true);
      writer_->start();
      for (std::size_t i = 0; i < at; ++i) steps[i]();
      status == 0 ? server_.fail(Errc::deadline, "no answer") : server_.reply(status, "busy");
      expect_backoff(milliseconds(100));
      server_.pass_time();
      EXPECT_EQ(server_.target, kObject) << at << " " << status;
      server_.reply(200, object("1", "", 0));
      server_.reply(200, object("2", "b1", 1));
      EXPECT_TRUE(resting()) << at << " " << status;
    }
  }
}

TEST_F(Writer, BackOffGrowsToFiveSecondsAndEndsWithSuccess) {
  writer_->start();
  milliseconds longest{0};
  for (int i = 0; i < 20; ++i) {
    server_.fail(Errc::unavailable, "refused");
    longest = std::max(longest, server_.waiting);
    EXPECT_LE(server_.waiting, milliseconds(5000));
    server_.pass_time();
  }
  EXPECT_GE(longest, milliseconds(2500));
  server_.reply(200, object("1", "b0", 1));
  server_.reply(200, object("2", "b1", 1));
  ASSERT_TRUE(resting());
  server_.pass_time();
  server_.fail(Errc::unavailable, "refused");
  expect_backoff(milliseconds(100));
}

TEST_F(Writer, RetryAfterIsHonouredWithinReason) {
  begin();
  server_.on_reply(kube::Reply{429, "too many requests", seconds(7)});
  EXPECT_EQ(server_.waiting, seconds(7));
  server_.pass_time();
  server_.on_reply(kube::Reply{503, "", seconds(1'000'000)});
  EXPECT_EQ(server_.waiting, seconds(120));
}

TEST_F(Writer, WhatSomebodyMustChangeIsTriedEachHalfMinute) {
  for (const int status : {400, 403, 413, 422}) {
    writer_ = make();
    writer_->want(state(), true);
    begin();
    server_.reply(status, failure(status, "denied by policy"));
    EXPECT_EQ(server_.target, "wait 30000") << status;
    EXPECT_FALSE(works_);
    writer_->want(state(Health::unhealthy), true);
    EXPECT_EQ(server_.target, "wait 30000") << "changes do not shorten the wait";
    server_.pass_time();
    server_.reply(200, object("1", "", 0));
    EXPECT_EQ(sent()["status"]["unhealthy"], 1);
    server_.reply(200, object("2", "b1", 2));
    EXPECT_TRUE(resting());
  }
}

TEST_F(Writer, ReportsTheFaultsOfThePreviousRunOnceAlsoIfThereAreNone) {
  const std::string stored =
      R"({"metadata":{"uid":"u1","resourceVersion":"1"},"status":{"bootId":)"
      R"("b0","sequence":4,"nodeBootId":"node-boot","faults":[{"code":"xid.79",)"
      R"("effect":"unusable","sinceMs":1}]}})";
  const auto remembered = [this](const std::string& node_boot, int status,
                                 const std::string& body) {
    std::vector<std::string> found;
    InventoryWriter::Options options;
    options.node = "n1";
    options.boot_id = "b1";
    options.node_boot_id = node_boot;
    options.chain.what = "inventory of node n1";
    writer_ = std::make_unique<InventoryWriter>(
        server_, options,
        InventoryWriter::Events{[] {}, [](bool) {},
                                [&found](const domain::RememberedNode& node) {
                                  found.push_back(std::to_string(node.faults.size()) +
                                                  (node.same_boot ? " of this boot" : ""));
                                }});
    writer_->want(state(), true);
    writer_->start();
    server_.fail(Errc::unavailable, "no connection");
    EXPECT_TRUE(found.empty()) << "unknown so far";
    server_.pass_time();
    server_.reply(status, body);
    EXPECT_EQ(found.size(), 1U);
    return found.at(0);
  };
  EXPECT_EQ(remembered("node-boot", 200, stored), "1 of this boot");
  EXPECT_EQ(remembered("another-boot", 200, stored), "1");
  EXPECT_EQ(remembered("", 200, stored), "1");
  EXPECT_EQ(remembered("node-boot", 200, object("1", "", 0)), "0");
  EXPECT_EQ(remembered("node-boot", 404, failure(404, "not found")), "0");
}

TEST_F(Writer, ARefusalIsLoggedOnceWithTheServersMessage) {
  testing::internal::CaptureStderr();
  begin();
  for (const char* why : {"no rights", "no rights", "policy", "no rights"}) {
    server_.reply(403, failure(403, why));
    server_.pass_time();
    server_.reply(200, object("1", "", 0));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("level=warn msg=\"inventory of node n1\" problem=\"cannot write it: "
                             "HTTP 403: no rights\""));
  EXPECT_THAT(log, HasSubstr("cannot write it: HTTP 403: policy"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
}

TEST_F(Writer, AServerWithoutTheResourceIsWaitedFor) {
  writer_->start();
  server_.reply(404, "404 page not found");
  server_.reply(200, kNode);
  server_.reply(404, "404 page not found");
  EXPECT_EQ(server_.target, "wait 30000");
  server_.pass_time();
  EXPECT_EQ(server_.target, kObject);
}

TEST_F(Writer, AResourceThatDropsOurKeysIsNotWrittenInALoop) {
  begin();
  server_.reply(200, object("2", "", 0));
  EXPECT_EQ(server_.target, "wait 30000");
  EXPECT_EQ(written_, 0);
}

TEST_F(Writer, AnswersThatAreNoObjectAreWaitedOut) {
  for (const char* body : {"", "[]", "{}", R"({"metadata":7})"}) {
    writer_ = make();
    writer_->want(state(), true);
    writer_->start();
    server_.reply(200, body);
    EXPECT_EQ(server_.target, "wait 30000") << body;
    server_.pass_time();
    server_.reply(404, "");
    server_.reply(200, body);  // not a Node: no owner
    EXPECT_EQ(server_.target, kCreate);
    server_.reply(201, body);
    EXPECT_EQ(server_.target, "wait 30000") << body;
  }
}

TEST_F(Writer, NothingComesAfterTheStop) {
  begin();
  writer_->stop();
  EXPECT_EQ(server_.in_flight(), 0);
  writer_->want(state(Health::unhealthy), true);
  EXPECT_EQ(server_.in_flight(), 0);
  EXPECT_EQ(written_, 0);
}

TEST_F(Writer, AStopAtRestIsOneToo) {
  begin_and_rest();
  writer_->stop();
  EXPECT_EQ(server_.in_flight(), 0);
  writer_->want(state(Health::unhealthy), true);
  EXPECT_EQ(server_.in_flight(), 0) << server_.target;
}

}  // namespace
}  // namespace chipweave::agent
