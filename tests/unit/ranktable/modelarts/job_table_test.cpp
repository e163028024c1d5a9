// The tables of configmap1980: their content, which device keeps which rank, and when they are
// complete.
#include "common/codec/ranktable/modelarts/job_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/ranktable/rank_table.hpp"
#include "tests/unit/ranktable/modelarts/pods.hpp"

namespace chipweave::codec {
namespace {

using domain::ranktable::Device;
using domain::ranktable::RankTable;
using domain::ranktable::Server;
using ranktable::write_table;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

JobTables tables(const JobPods& job, const RankTable* previous = nullptr,
                 const JobTableOptions& options = {}) {
  return make_job_tables(job, options, previous).value();
}

// "server/device=rank", … in the order of the table.
std::vector<std::string> ranks_of(const RankTable& table) {
  std::vector<std::string> out;
  for (const Server& server : table.groups.at(0).servers) {
    for (const Device& device : server.devices) {
      out.push_back(*server.server_id + "/" + std::to_string(*device.device_id) + "=" +
                    std::to_string(*device.rank_id));
    }
  }
  return out;
}

TEST(JobTables, RanksFollowPodsAndDevices) {
  const JobTables out = tables(job_of({{1, "b", {5, 0}, "", ""}, {0, "a", {2}, "10.9.0.1", ""}}));
  EXPECT_EQ(
      write_table(out.ranks),
      R"({"status":"completed","version":"1.0","server_count":"2","server_list":[)"
      R"({"server_id":"a","device":[{"device_id":"2","device_ip":"192.0.2.2","rank_id":"0"}]},)"
      R"({"server_id":"b","device":[{"device_id":"0","device_ip":"192.0.2.0","rank_id":"1"},)"
      R"({"device_id":"5","device_ip":"192.0.2.5","rank_id":"2"}]}]})");
}

TEST(JobTables, SwitchesAreHandedDownOnlyWhereTheyAreAskedFor) {
  const JobPods job = job_of({{0, "a", {2}, "10.9.0.1", ""}});
  const JobTables on = tables(job, nullptr, {false, true});
  EXPECT_THAT(write_table(on.ranks), HasSubstr(R"("tor_ip":"10.9.0.1","tor_port":"p2")"));
  EXPECT_EQ(write_table(on.tors),
            R"({"status":"completed","version":"1.0","server_count":"1","server_list":[)"
            R"({"pod_name":"j-worker-0","server_id":"a","device":[{"device_id":"2",)"
            R"("device_ip":"192.0.2.2","rank_id":"0","tor_ip":"10.9.0.1","tor_port":"p2"}]}]})");
  const JobTables off = tables(job);
  EXPECT_THAT(write_table(off.ranks), Not(HasSubstr("tor_ip")));
  EXPECT_THAT(write_table(off.tors), Not(HasSubstr("tor_ip")));
}

TEST(JobTables, PodsOfOneMachineAreOneServer) {
  const JobTables out =
      tables(job_of({{0, "a", {4, 5}, "", ""}, {1, "b", {0}, "", ""}, {2, "a", {0}, "", ""}}));
  EXPECT_THAT(ranks_of(out.ranks), ElementsAre("a/0=0", "a/4=1", "a/5=2", "b/0=3"));
  EXPECT_THAT(ranks_of(out.tors), ElementsAre("a/4=1", "a/5=2", "b/0=3", "a/0=0"));
  EXPECT_EQ(out.tors.groups.at(0).servers[2].pod_name, "j-worker-2");
}

TEST(JobTables, WhatIsStillThereKeepsItsRankAndNewDevicesTakeTheSmallestFreeOne) {
  const RankTable first =
      tables(job_of({{0, "a", {0, 1}, "", ""}, {1, "b", {0, 1}, "", ""}})).ranks;
  // Pod 0 is now on another machine.
  const JobPods moved = job_of({{0, "c", {0, 1}, "", ""}, {1, "b", {0, 1}, "", ""}});
  const RankTable second = tables(moved, &first).ranks;
  EXPECT_THAT(ranks_of(second), ElementsAre("c/0=0", "c/1=1", "b/0=2", "b/1=3"));
  // Indexes swapped: machines change places in the list, not in rank.
  const JobPods swapped = job_of({{0, "b", {0, 1}, "", ""}, {1, "c", {0, 1}, "", ""}});
  EXPECT_THAT(ranks_of(tables(swapped, &second).ranks),
              ElementsAre("b/0=2", "b/1=3", "c/0=0", "c/1=1"));
}

TEST(JobTables, ARankThatTwoDevicesHadIsGivenOnce) {
  const auto broken = read_job_table(
      R"({"status":"completed","version":"1.0","server_list":[{"server_id":"a","device":[)"
      R"({"device_id":"0","rank_id":"1"},{"device_id":"1","rank_id":"1"}]}]})");
  ASSERT_TRUE(broken.ok()) << broken.error().text();
  EXPECT_THAT(ranks_of(tables(job_of({{0, "a", {0, 1}, "", ""}}), &*broken).ranks),
              ElementsAre("a/0=1", "a/1=0"));
}

TEST(JobTables, RanksOfASmallerJobAreWithoutGaps) {
  const RankTable first =
      tables(job_of({{0, "a", {0, 1}, "", ""}, {1, "b", {0, 1}, "", ""}})).ranks;
  EXPECT_THAT(ranks_of(tables(job_of({{0, "b", {0, 1}, "", ""}}), &first).ranks),
              ElementsAre("b/0=0", "b/1=1"));
}

TEST(JobTables, GoingBackToInitializingChangesOnlyTheStatus) {
  const RankTable first = tables(job_of({{0, "a", {0}, "", ""}, {1, "b", {0}, "", ""}})).ranks;
  const JobPods partly = job_of({{0, "a", {0}, "", ""}, {1, "", {}, "", ""}});
  const JobTables again = tables(partly, &first);
  EXPECT_FALSE(is_completed(again.ranks));
  EXPECT_FALSE(is_completed(again.tors));
  RankTable same = again.ranks;
  same.status = "completed";
  EXPECT_EQ(write_table(same), write_table(first));
  EXPECT_EQ(write_table(tables(partly).ranks),
            R"({"status":"initializing","version":"1.0","server_count":"0","server_list":[]})");
}

JobPods with_super_pods(const std::vector<std::string>& ids) {
  std::vector<TestPod> pods;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string annotation = ids[i].empty() ? "" : R"(,"super-pod-id":")" + ids[i] + R"(")";
    pods.push_back({i, "n" + std::to_string(i), {0}, "", annotation});
  }
  JobPods job = job_of(pods);
  for (JobPod& pod : job.pods) pod.report->devices[0].super_device_id = "7";
  return job;
}

TEST(JobTables, SuperPodsMakeItVersion12AndStandTogether) {
  const JobTables out = tables(with_super_pods({"9", "4", "9"}));
  EXPECT_EQ(out.ranks.version, "1.2");
  EXPECT_THAT(ranks_of(out.ranks), ElementsAre("n0/0=0", "n2/0=1", "n1/0=2"));
  EXPECT_THAT(write_table(out.ranks),
              HasSubstr(R"("super_pod_list":[{"super_pod_id":"9","server_list":[)"
                        R"({"server_id":"n0"},{"server_id":"n2"}]},)"
                        R"({"super_pod_id":"4","server_list":[{"server_id":"n1"}]}])"));
  EXPECT_THAT(write_table(out.ranks),
              HasSubstr(R"({"device_id":"0","super_device_id":"7","device_ip")"));
  EXPECT_EQ(out.tors.version, "1.0");
}

TEST(JobTables, WithoutAllSuperPodsItIsVersion10UnlessAHyperJobNeedsThem) {
  const JobPods job = with_super_pods({"9", ""});
  const JobTables out = tables(job);
  EXPECT_EQ(out.ranks.version, "1.0");
  EXPECT_THAT(write_table(out.ranks), Not(HasSubstr("super")));
  const auto refused = make_job_tables(job, {true, false}, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(),
            "--hyperjob requires super pods: pod j-worker-1 has no super pod");
}

TEST(JobTables, RefusesContradictions) {
  const auto twice =
      make_job_tables(job_of({{0, "a", {0}, "", ""}, {1, "a", {0}, "", ""}}), {}, nullptr);
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().text(),
            "pods j-worker-0 and j-worker-1 both report device 0 of server \"a\"");
  JobPods split = with_super_pods({"9", "4"});
  split.pods[1].report->server_id = "n0";
  split.pods[1].report->devices[0].id = "1";
  const auto torn = make_job_tables(split, {}, nullptr);
  ASSERT_FALSE(torn.ok());
  EXPECT_THAT(torn.error().text(), HasSubstr("are in different super pods"));
}

TEST(JobTables, ReadsWhatItWrites) {
  for (const JobTables& out :
       {tables(with_super_pods({"9", "4", "9"})),
        tables(job_of({{0, "a", {2}, "10.9.0.1", ""}}), nullptr, {false, true})}) {
    for (const RankTable& table : {out.ranks, out.tors}) {
      const std::string text = write_table(table);
      const auto again = read_job_table(text);
      ASSERT_TRUE(again.ok()) << again.error().text();
      EXPECT_EQ(write_table(*again), text);
    }
  }
}

TEST(JobTables, SentencesForTablesThatAreWrong) {
  const auto error = [](const std::string& text) {
    const auto table = read_job_table(text);
    return table ? "it was taken" : table.error().text();
  };
  EXPECT_NE(error("x"), "it was taken");
  EXPECT_NE(error("[]"), "it was taken");
  EXPECT_THAT(error(R"({"status":"done","version":"1.0","server_list":[]})"),
              HasSubstr("known: completed, initializing"));
  EXPECT_THAT(error(R"({"status":"completed","version":"1.0","server_list":[]})"),
              HasSubstr("server_list must not be empty"));
  EXPECT_THAT(error(R"({"status":"completed"})"), HasSubstr("is missing"));
  EXPECT_THAT(error(R"({"status":"completed","version":"1.0","server_list":[{"server_id":"a"}]})"),
              HasSubstr("device"));
  EXPECT_EQ(error(R"({"status":"initializing"})"), "it was taken");
}

}  // namespace
}  // namespace chipweave::codec
