// The table of a MindIE deployment, as ClusterD writes it.
#include "common/domain/ranktable/assembly/mindie_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "common/codec/ranktable/rank_table.hpp"
#include "tests/unit/ranktable/assembly/members.hpp"

namespace chipweave::domain::ranktable {
namespace {

using test::member;
using testing::ElementsAre;
using testing::IsEmpty;

MindieDeployment deployment() {
  MindieDeployment out;
  out.coordinator = member(8, 5, {});
  out.controller = member(7, 5, {});
  out.servers.push_back({"server-0", {member(0, 7, {0, 1})}, {}, {}});
  out.servers.push_back({"server-1", {member(1, 7, {2}), member(2, 8, {0})}, {}, {}});
  return out;
}

std::string text_of(const MindieDeployment& of) {
  const auto made = make_mindie_table(of);
  if (!made) return made.error().text();
  if (!made->missing.empty()) return "missing " + testing::PrintToString(made->missing);
  return codec::ranktable::write_table(made->table, 0);
}

TEST(MindieTable, HasTheCoordinatorTheControllerAndAGroupForEachServerJob) {
  EXPECT_EQ(
      text_of(deployment()),
      R"({"version":"1.0","status":"completed","server_group_list":[)"
      R"({"group_id":"0","server_count":"1","server_list":[)"
      R"({"server_id":"10.1.0.5","server_ip":"10.244.0.9"}]},)"
      R"({"group_id":"1","server_count":"1","server_list":[)"
      R"({"server_id":"10.1.0.5","server_ip":"10.244.0.8"}]},)"
      R"({"group_id":"2","server_count":"1","server_list":[)"
      R"({"server_id":"10.1.0.7","server_ip":"10.244.0.1","device":[)"
      R"({"device_id":"0","device_ip":"192.0.7.1","device_logical_id":"0","rank_id":"0"},)"
      R"({"device_id":"1","device_ip":"192.0.7.2","device_logical_id":"1","rank_id":"1"}]}]},)"
      R"({"group_id":"3","server_count":"2","server_list":[)"
      R"({"server_id":"10.1.0.7","server_ip":"10.244.0.2","device":[)"
      R"({"device_id":"2","device_ip":"192.0.7.3","device_logical_id":"0","rank_id":"0"}]},)"
      R"({"server_id":"10.1.0.8","server_ip":"10.244.0.3","device":[)"
      R"({"device_id":"0","device_ip":"192.0.8.1","device_logical_id":"0","rank_id":"1"}]}]}]})");
  EXPECT_THAT(test::errors_of(make_mindie_table(deployment())->table, Profile::mindie_motor),
              IsEmpty());
}

TEST(MindieTable, ShowsHowServersAreDeployed) {
  MindieDeployment of = deployment();
  of.servers[0].group_deploys = "1";
  of.servers[1].members[1]->hardware = "800I A2(64G)";
  EXPECT_EQ(make_mindie_table(of)->table.groups[2].deploy_server, "1");
  of.servers[0].group_deploys.reset();
  of.servers[1].server_deploys = "0";
  const auto made = make_mindie_table(of);
  const std::string text = codec::ranktable::write_table(made->table, 0);
  EXPECT_THAT(text, testing::HasSubstr(R"("rank_id":"0"}],"deploy_server":"0"},)"));
  EXPECT_THAT(text,
              testing::HasSubstr(R"x(}],"hardware_type":"800I A2(64G)","deploy_server":"0"})x"));
  of.servers[0].group_deploys = "1";
  EXPECT_EQ(text_of(of),
            "job server-0 has the label grt-group/deploy-server, and job server-1 has "
            "grt-server/deploy-server");
}

TEST(MindieTable, IsCompleteOnceEveryPodIs) {
  MindieDeployment of = deployment();
  of.coordinator.reset();
  of.controller->pod_ip.clear();
  of.servers[0].members[0].reset();
  of.servers[1].members[1]->devices[0].ip = "-1";
  EXPECT_THAT(make_mindie_table(of)->missing,
              ElementsAre("the pod of the coordinator", "pod w-7: its address",
                          "the pod of rank 0 of job server-0", "pod w-2: the address of device 0"));
  of.servers.clear();
  EXPECT_THAT(make_mindie_table(of)->missing,
              ElementsAre("the pod of the coordinator", "pod w-7: its address", "a server job"));
}

TEST(MindieTable, DevicesBelongToOneJob) {
  MindieDeployment of = deployment();
  of.servers[1].members[0] = member(1, 7, {1});
  EXPECT_EQ(text_of(of), "pods w-0 and w-1 both have device 1 of 10.1.0.7");
}

TEST(MindieTable, GroupsHaveTheirSuperPods) {
  MindieDeployment of = deployment();
  of.super_pods = true;
  std::int64_t server = 0;
  for (MindieServerJob& job : of.servers) {
    for (auto& one : job.members) {
      one->super_pod = "7";
      for (MemberDevice& device : one->devices)
        device.super_device_id = server << 22 | device.device_id;
      ++server;
    }
  }
  const auto made = make_mindie_table(of);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->table.version, "1.2");
  const Group& last = made->table.groups.back();
  ASSERT_EQ(last.super_pods->size(), 1U);
  EXPECT_EQ(last.super_pods->front().servers.size(), 2U);
  EXPECT_EQ(*last.servers[1].devices[0].super_device_id, 2 << 22);
}

}  // namespace
}  // namespace chipweave::domain::ranktable
