// Jobs for those who follow them: which signals they get, and what a slow reader gets.
#include "scheduler-plugin/server/clusterd/jobs/job_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::clusterd {
namespace {

using test::TableWorld;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

job::JobSummarySignal parsed(const grpc::Slice& bytes) {
  job::JobSummarySignal out;
  EXPECT_TRUE(out.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size())));
  return out;
}

struct Client final : Subscriptions::Subscriber {
  explicit Client(const JobLog& of) : log(of) {}
  void end(bool failed) override { ended = failed ? "failed" : "ended"; }
  void start() { place = log.begin(); }
  std::vector<job::JobSummarySignal> read() {
    std::vector<job::JobSummarySignal> out;
    grpc::Slice bytes;
    while (log.next(place, bytes) == JobLog::Found::some) out.push_back(parsed(bytes));
    return out;
  }
  // "train uid-train-0 running add"
  std::vector<std::string> told() {
    std::vector<std::string> out;
    for (const auto& one : read()) {
      out.push_back(one.jobname() + " " + one.jobid() + " " + one.jobstatus() + " " +
                    one.operator_());
    }
    return out;
  }
  const JobLog& log;
  JobLog::Place place;
  std::string ended;
};

class Jobs : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* node : {"n0", "n1"}) w_.add_node(node, "ascend-910b-8");
    w_.tables.add(feed_);
    feed_.tick(true);
  }
  std::shared_ptr<Client> follow() {
    auto out = std::make_shared<Client>(feed_.log());
    const auto id = feed_.register_client();
    EXPECT_TRUE(id.ok());
    EXPECT_TRUE(feed_.subscribe(*id, "h", out).ok());
    out->start();
    return out;
  }
  void end(const std::string& job, int pods) {
    for (int i = 0; i < pods; ++i) w_.gone(job + "-" + std::to_string(i));
  }

  TableWorld w_;
  CallerLimits limits_;
  std::string owner_;
  JobFeed feed_{w_.tables, w_.scheduler, w_.clock, limits_,
                [this](const GangRef&) { return owner_; }};
};

TEST_F(Jobs, AreToldFromTheirFirstPodToTheirDeletion) {
  const auto client = follow();
  EXPECT_THAT(client->told(), IsEmpty());
  w_.see(w_.member("train", 0, 2));
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 pending add"));
  w_.see(w_.member("train", 1, 2));
  const auto running = client->read();
  ASSERT_THAT(running, SizeIs(1));
  EXPECT_EQ(running[0].jobstatus(), "running");
  EXPECT_EQ(running[0].namespace_(), "ns");
  EXPECT_EQ(running[0].framework(), "trainer");
  EXPECT_EQ(running[0].hccljson(), w_.jobs.at("train").text);
  EXPECT_THAT(running[0].hccljson(), HasSubstr(R"("status":"completed")"));
  EXPECT_EQ(running[0].masteraddr(), test::host_ip("n0"));
  EXPECT_EQ(running[0].cmindex(), "0");
  EXPECT_EQ(running[0].total(), "1");
  EXPECT_EQ(running[0].deletetime(), "");
  EXPECT_THAT(running[0].uuid(), SizeIs(36));
  feed_.tick(true);
  EXPECT_THAT(client->told(), IsEmpty()) << "nothing has changed";
  w_.gone("train-1");
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 pending add"));
  w_.gone("train-0");
  const auto deleted = client->read();
  ASSERT_THAT(deleted, SizeIs(1));
  EXPECT_EQ(deleted[0].operator_(), "delete");
  EXPECT_EQ(deleted[0].jobid(), "uid-train-0");
  EXPECT_EQ(deleted[0].jobstatus(), "failed") << "it did not complete";
  EXPECT_THAT(deleted[0].deletetime(), Not(IsEmpty()));
}

// Its pods have ended, and are in no way missing.
TEST_F(Jobs, IsCompleteWhenAllOfItsPodsHaveSucceeded) {
  w_.job("train", 2);
  const auto client = follow();
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 running add"));
  ASSERT_TRUE(w_.cluster.end({"ns", "train-0"}).ok());
  feed_.tick(true);
  EXPECT_THAT(client->told(), IsEmpty()) << "one runs";
  ASSERT_TRUE(w_.cluster.end({"ns", "train-1"}).ok());
  feed_.tick(true);
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 complete add"));
  w_.tables.pod_gone("ns/train-1");
  w_.tables.update();
  w_.tables.pod_gone("ns/train-0");
  w_.tables.update();
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 complete delete"));
}

TEST_F(Jobs, HaveTheIdOfTheirOwnerOnceItIsKnown) {
  const auto client = follow();
  w_.job("train", 1);
  EXPECT_THAT(client->told(), ElementsAre("train uid-train-0 running add"));
  owner_ = "uid-of-owner";
  feed_.tick(true);
  EXPECT_THAT(client->told(),
              ElementsAre("train uid-train-0 failed delete", "train uid-of-owner running add"));
  owner_.clear();
  feed_.tick(true);
  EXPECT_THAT(client->told(), IsEmpty()) << "it stays the same job";
}

TEST_F(Jobs, AReaderGetsTheNewestOfEach) {
  const auto slow = follow();
  w_.see(w_.member("a", 0, 2));
  w_.job("b", 1);
  w_.see(w_.member("a", 1, 2));
  end("b", 1);
  EXPECT_THAT(slow->told(), ElementsAre("a uid-a-0 running add", "b uid-b-0 failed delete"));
  const auto late = follow();
  EXPECT_THAT(late->told(), ElementsAre("a uid-a-0 running add"));
}

TEST_F(Jobs, AreForgottenWithTheLastReaderAndToldToTheNext) {
  w_.job("train", 2);
  EXPECT_EQ(feed_.log().jobs(), 0U) << "there is no reader";
  const auto first = follow();
  EXPECT_EQ(feed_.log().jobs(), 1U);
  feed_.remove(first.get());
  EXPECT_EQ(feed_.log().jobs(), 0U);
  EXPECT_EQ(limits_.all(), 0U);
  end("train", 2);
  w_.job("next", 1);
  EXPECT_THAT(follow()->told(), ElementsAre("next uid-next-0 running add"));
}

TEST_F(Jobs, AStandbyRefusesAll) {
  const auto client = follow();
  feed_.tick(false);
  EXPECT_EQ(client->ended, "failed");
  EXPECT_EQ(feed_.register_client().error().code, Errc::unavailable);
  EXPECT_EQ(feed_.subscribe("x", "h", client).error().code, Errc::unavailable);
  feed_.tick(true);
  EXPECT_EQ(feed_.subscribe("x", "h", client).error().code, Errc::not_found);
}

TEST(CallerLimits, AreOfAllServicesTogether) {
  TableWorld w;
  CallerLimits limits;
  JobFeed feed(w.tables, w.scheduler, w.clock, limits, nullptr);
  Subscriptions tables(w.clock, limits, [](const std::string&) { return std::string(); });
  feed.tick(true);
  tables.tick(true);
  std::vector<std::shared_ptr<Client>> clients;
  const auto subscribe = [&](const std::string& host) {
    clients.push_back(std::make_shared<Client>(feed.log()));
    return feed.subscribe(*feed.register_client(), host, clients.back());
  };
  for (std::size_t i = 0; i < CallerLimits::kMaxSubscribersOfHost; ++i)
    ASSERT_TRUE(subscribe("10.0.0.1").ok());
  ASSERT_TRUE(tables.register_for("chat").ok());
  const auto reader = std::make_shared<Client>(feed.log());
  EXPECT_EQ(tables.subscribe("chat", "10.0.0.1", reader).error().code, Errc::limit_exceeded);
  EXPECT_TRUE(tables.subscribe("chat", "10.0.0.2", reader).ok());
  for (std::size_t i = 1; i < CallerLimits::kMaxSubscribersOfHost; ++i)
    ASSERT_TRUE(subscribe("10.0.0.3").ok());
  EXPECT_EQ(subscribe("10.0.0.4").error().code, Errc::limit_exceeded) << "1,024 in all";
  feed.remove(clients.front().get());
  EXPECT_TRUE(subscribe("10.0.0.4").ok());
}

TEST(JobLog, ListsHaveManySignalsAndEndWithTheFirstOnes) {
  JobLog log;
  for (const char* job : {"a", "b", "c"}) log.put(job, std::string(100, *job), false);
  JobLog::Place place = log.begin();
  log.put("d", "d", false);
  std::vector<grpc::Slice> some;
  ASSERT_EQ(log.next(place, 200, some), JobLog::Found::some);
  EXPECT_THAT(some, SizeIs(2)) << "as many as fit";
  some.clear();
  ASSERT_EQ(log.next(place, 200, some), JobLog::Found::some);
  EXPECT_THAT(some, SizeIs(1)) << "d came later";
  some.clear();
  ASSERT_EQ(log.next(place, 0, some), JobLog::Found::some);
  EXPECT_THAT(some, SizeIs(1)) << "at least one";
  some.clear();
  EXPECT_EQ(log.next(place, 200, some), JobLog::Found::none);
}

TEST(JobLog, AReaderThatMissesDeletionsIsLost) {
  JobLog log;
  JobLog::Place slow = log.begin();
  grpc::Slice bytes;
  for (std::size_t i = 0; i < JobLog::kMaxGone; ++i) log.put(std::to_string(i), "x", true);
  JobLog::Place same = slow;
  EXPECT_EQ(log.next(same, bytes), JobLog::Found::some);
  log.put("one more", "x", true);
  EXPECT_EQ(log.next(slow, bytes), JobLog::Found::lost);
  EXPECT_EQ(log.next(same, bytes), JobLog::Found::some) << "it has the one that is forgotten";
  JobLog::Place late = log.begin();
  EXPECT_EQ(log.next(late, bytes), JobLog::Found::none);
}

}  // namespace
}  // namespace chipweave::sched::clusterd
