// When an inventory is written: urgent changes at once, others once a second; and what a new writer
// learns from its predecessor.
#include "tests/unit/agent_kube/inventory_writing.hpp"

namespace chipweave::agent {
namespace {

class InventoryPace : public InventoryWriting {};

TEST_F(InventoryPace, WhatIsNotUrgentWaitsForASecondAfterTheLastWrite) {
  begin_and_rest();
  server_.time += milliseconds(300);
  writer_->want(state(Health::unhealthy), false);
  EXPECT_EQ(server_.target, "wait 700");
  server_.time += milliseconds(200);
  writer_->want(state(Health::healthy), false);
  EXPECT_EQ(server_.target, "wait 500");
  server_.pass_time();
  ASSERT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["status"]["unhealthy"], 0);
  EXPECT_EQ(sent()["status"]["sequence"], 3);
  server_.reply(200, object("3", "b1", 3));
  ASSERT_TRUE(resting());
  server_.time += seconds(5);
  writer_->want(state(Health::unhealthy), false);
  EXPECT_EQ(server_.target, kWrite);
}

TEST_F(InventoryPace, WhatIsUrgentDoesNotWaitWithIt) {
  begin_and_rest();
  writer_->want(state(Health::healthy), false);
  EXPECT_EQ(server_.target, "wait 1000");
  writer_->want(state(Health::unhealthy), true);
  ASSERT_EQ(server_.target, kWrite);
  // During the write: the urgent change is written next, later changes wait.
  writer_->want(state(Health::network_unhealthy), true);
  writer_->want(state(Health::network_unhealthy), false);
  server_.reply(200, object("3", "b1", 3));
  ASSERT_EQ(server_.target, kWrite);
  writer_->want(state(Health::healthy), false);
  server_.reply(200, object("4", "b1", 5));
  EXPECT_EQ(server_.target, "wait 1000");
}

TEST_F(InventoryPace, AnHourWithoutTheServerCostsNothingAndLosesNothing) {
  begin_and_rest();
  const auto end = server_.time + std::chrono::hours(1);
  int requests = 0;
  Health last = Health::healthy;
  for (int i = 0; server_.time < end; ++i) {
    // The machine flaps all the time, at most twice a second.
    last = i % 2 == 0 ? Health::unhealthy : Health::network_unhealthy;
    writer_->want(state(last), i % 3 == 0);
    EXPECT_LE(server_.in_flight(), 1);
    if (server_.on_reply != nullptr) {
      ++requests;
      server_.fail(Errc::unavailable, "no route to host");
    } else {
      server_.pass_time();
    }
    server_.time += milliseconds(500);
  }
  EXPECT_FALSE(works_);
  // It waits increasingly longer, up to five seconds.
  EXPECT_LE(requests, 3'600);
  EXPECT_GE(requests, 600);
  while (server_.on_reply == nullptr) server_.pass_time();
  server_.reply(200, object("77", "b1", 1));
  ASSERT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["status"]["unhealthy"], 1);
  const auto sequence = sent()["status"]["sequence"].get<int>();
  server_.reply(200, object("78", "b1", sequence));
  EXPECT_TRUE(resting());
}

TEST_F(InventoryPace, ReportsTheFaultsOfThePreviousRunOnce) {
  std::vector<domain::RememberedNode> restored;
  InventoryWriter::Options options;
  options.node = "n1";
  options.boot_id = "b2";
  options.node_boot_id = "kernel-1";
  InventoryWriter writer(
      server_, options,
      {[] {}, [](bool) {}, [&](auto node) { restored.push_back(std::move(node)); }});
  writer.want(state(), true);
  writer.release();
  writer.start();
  nlohmann::json object_now = nlohmann::json::parse(object("7", "b1", 9));
  object_now["status"]["nodeBootId"] = "kernel-1";
  object_now["status"]["faults"] = {{{"code", "xid.79"},
                                     {"effect", "unusable"},
                                     {"chip", 1},
                                     {"chipId", "GPU-1"},
                                     {"since", ""},
                                     {"sinceMs", 5}}};
  server_.reply(200, object_now.dump());
  ASSERT_EQ(restored.size(), 1U);
  EXPECT_TRUE(restored[0].same_boot);
  ASSERT_EQ(restored[0].faults.size(), 1U);
  EXPECT_EQ(restored[0].faults[0].fault.code, "xid.79");
  EXPECT_EQ(restored[0].faults[0].fault.chip, domain::ChipIndex{1});
  EXPECT_EQ(restored[0].faults[0].chip_id, "GPU-1");
  ASSERT_EQ(server_.target, kWrite);
  EXPECT_EQ(sent()["status"]["nodeBootId"], "kernel-1");
  server_.reply(409, failure(409, "conflict"));
  server_.reply(200, object_now.dump());
  EXPECT_EQ(restored.size(), 1U);
}

// The memory is read as soon as the agent starts; the object is written only when there is
// something to write and its owner lets it.
TEST_F(InventoryPace, ReadsAtOnceAndWritesWhenItMay) {
  int remembered = 0;
  InventoryWriter::Options options;
  options.node = "n1";
  options.boot_id = "b2";
  InventoryWriter writer(server_, options, {[] {}, [](bool) {}, [&](auto) { ++remembered; }});
  writer.start();
  ASSERT_EQ(server_.target, kObject);
  server_.reply(200, object("7", "b1", 9));
  EXPECT_EQ(remembered, 1);
  writer.want(state(), true);
  EXPECT_EQ(server_.target, kObject) << "nothing was sent since";
  writer.release();
  EXPECT_EQ(server_.target, kWrite);
}

TEST_F(InventoryPace, NothingIsCreatedForANodeThatHasNothingToReport) {
  InventoryWriter::Options options;
  options.node = "n1";
  options.boot_id = "b2";
  InventoryWriter writer(server_, options, {[] {}, [](bool) {}, nullptr});
  writer.start();
  server_.reply(404, failure(404, "not found"));
  writer.release();
  EXPECT_EQ(server_.target, kObject) << "nothing was sent since";
  writer.want(state(), true);
  EXPECT_EQ(server_.target, "/api/v1/nodes/n1");
}

}  // namespace
}  // namespace chipweave::agent
