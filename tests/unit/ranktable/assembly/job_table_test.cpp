// The table of a job from its pods: as Ascend's operator and the guide of HCCL have it.
#include "common/domain/ranktable/assembly/job_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/ranktable/rank_table.hpp"
#include "tests/unit/ranktable/assembly/members.hpp"

namespace chipweave::domain::ranktable {
namespace {

using test::member;
using testing::ElementsAre;
using testing::IsEmpty;

using Members = std::vector<std::optional<Member>>;

std::string text_of(const Members& members, const JobTableForm& form = {}) {
  const auto made = make_job_table(members, form);
  if (!made) return made.error().text();
  if (!made->missing.empty()) return "missing " + testing::PrintToString(made->missing);
  return codec::ranktable::write_table(made->table, 0);
}

std::vector<std::string> missing(const Members& members, const JobTableForm& form = {}) {
  const auto made = make_job_table(members, form);
  return made ? made->missing : std::vector{made.error().text()};
}

// Super pod 7, SDIDs as the driver gives them.
Member in_super_pod(Member of, const std::string& super_pod, std::int64_t server) {
  of.super_pod = super_pod;
  for (MemberDevice& device : of.devices) device.super_device_id = server << 22 | device.device_id;
  return of;
}

TEST(JobTable, OfPodsOnMachinesOfTheirOwn) {
  EXPECT_EQ(text_of({member(0, 7, {4, 5}), member(1, 8, {0, 1})}),
            R"({"version":"1.0","server_count":"2","server_list":[)"
            R"({"server_id":"10.1.0.7","host_ip":"10.1.0.7","container_ip":"10.244.0.1","device":[)"
            R"({"device_id":"4","device_ip":"192.0.7.5","rank_id":"0"},)"
            R"({"device_id":"5","device_ip":"192.0.7.6","rank_id":"1"}]},)"
            R"({"server_id":"10.1.0.8","host_ip":"10.1.0.8","container_ip":"10.244.0.2","device":[)"
            R"({"device_id":"0","device_ip":"192.0.8.1","rank_id":"2"},)"
            R"({"device_id":"1","device_ip":"192.0.8.2","rank_id":"3"}]}],"status":"completed"})");
}

// Otherwise their devices would talk by their NICs, which may be down inside a machine.
TEST(JobTable, PodsOnOneMachineAreOneServer) {
  EXPECT_EQ(text_of({member(0, 7, {0, 1}), member(1, 7, {2, 3})}),
            R"({"version":"1.0","server_count":"1","server_list":[)"
            R"({"server_id":"10.1.0.7","host_ip":"10.1.0.7","device":[)"
            R"({"device_id":"0","device_ip":"192.0.7.1","rank_id":"0"},)"
            R"({"device_id":"1","device_ip":"192.0.7.2","rank_id":"1"},)"
            R"({"device_id":"2","device_ip":"192.0.7.3","rank_id":"2"},)"
            R"({"device_id":"3","device_ip":"192.0.7.4","rank_id":"3"}]}],"status":"completed"})");
}

TEST(JobTable, PodsMayBeServersByThemselves) {
  JobTableForm form;
  form.names = ServerNames::pod_uid;
  const auto made = make_job_table(Members{member(0, 7, {0}), member(1, 7, {1})}, form);
  ASSERT_TRUE(made.ok());
  const auto& servers = made->table.groups.front().servers;
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[1].server_id, "uid-1");
  EXPECT_EQ(servers[1].host_ip, "10.1.0.7");
  EXPECT_EQ(servers[1].container_ip, "10.244.0.2");
}

TEST(JobTable, IsCompleteOnceEverythingIsKnown) {
  Member one = member(1, 8, {0, 1});
  EXPECT_THAT(missing({member(0, 7, {0}), std::nullopt}), ElementsAre("the pod of rank 1"));
  Member changed = one;
  changed.host_ip.clear();
  changed.pod_ip.clear();
  changed.devices.clear();
  EXPECT_THAT(missing({member(0, 7, {0}), changed}),
              ElementsAre("pod w-1: the address of its node", "pod w-1: its address",
                          "pod w-1: its devices"));
  // what device plugins write if they could not ask
  for (const char* none : {"-1", "", "10.*.*.*", "192.0.2.1,"}) {
    changed = one;
    changed.devices[1].ip = none;
    EXPECT_THAT(missing({member(0, 7, {0}), changed}),
                ElementsAre("pod w-1: the address of device 1"))
        << none;
  }
  EXPECT_THAT(missing({member(0, 7, {0}), one}), IsEmpty());
}

TEST(JobTable, OfOneMachineNeedsNoAddressesOfDevices) {
  Member one = member(0, 7, {0, 1});
  for (MemberDevice& device : one.devices) device.ip.clear();
  EXPECT_EQ(text_of({one}),
            R"({"version":"1.0","server_count":"1","server_list":[)"
            R"({"server_id":"10.1.0.7","host_ip":"10.1.0.7","container_ip":"10.244.0.1","device":[)"
            R"({"device_id":"0","rank_id":"0"},{"device_id":"1","rank_id":"1"}]}],)"
            R"("status":"completed"})");
  one.devices[0].ip = "-1";
  EXPECT_THAT(missing({one}), ElementsAre("pod w-0: the address of device 0"));
}

TEST(JobTable, ADeviceOrAnAddressIsNotGivenTwice) {
  EXPECT_EQ(text_of({member(0, 7, {0, 1}), member(1, 7, {1})}),
            "pods w-0 and w-1 both have device 1 of 10.1.0.7");
  Member other = member(1, 8, {0});
  other.devices[0].ip = "192.0.7.1";
  EXPECT_EQ(text_of({member(0, 7, {0}), other}),
            "device 0 of 10.1.0.7 and device 0 of 10.1.0.8 both have the address "
            "192.0.7.1");
}

TEST(JobTable, SuperPodsAreThoseOfTheMachinesOrCountedByRank) {
  JobTableForm form;
  form.dialect = Dialect::hccl_1_2;
  const Members members = {in_super_pod(member(0, 1, {0, 1}), "7", 0),
                           in_super_pod(member(1, 2, {0, 1}), "7", 1),
                           in_super_pod(member(2, 3, {0, 1}), "9", 0)};
  const auto sets = [&] {
    const auto made = make_job_table(members, form);
    std::vector<std::string> out;
    for (const ServerSet& set : *made->table.super_pods) {
      out.push_back(*set.id + ":");
      for (const ServerName& server : set.servers) out.back() += " " + *server.server_id;
    }
    return out;
  };
  EXPECT_THAT(sets(), ElementsAre("7: 10.1.0.1 10.1.0.2", "9: 10.1.0.3"));
  form.pods_of_super_pod = 1;
  EXPECT_THAT(sets(), ElementsAre("0: 10.1.0.1", "1: 10.1.0.2", "2: 10.1.0.3"));
  const auto made = make_job_table(members, form);
  EXPECT_EQ(made->table.version, "1.2");
  EXPECT_EQ(*made->table.groups[0].servers[1].devices[1].super_device_id, (1 << 22) + 1);
  EXPECT_THAT(test::errors_of(made->table, Profile::hccl_a3), IsEmpty());
}

TEST(JobTable, SuperPodsNeedIdsAndAddressesOnlyBetweenThem) {
  JobTableForm form;
  form.dialect = Dialect::hccl_1_2;
  Member one = member(0, 1, {0});
  EXPECT_THAT(missing({one}, form),
              ElementsAre("pod w-0: the super pod of its node", "pod w-0: the SDID of device 0"));
  one = in_super_pod(one, "7", 0);
  one.devices[0].ip.clear();
  const Member near = in_super_pod(member(1, 2, {0}), "7", 1);
  const Member far = in_super_pod(member(1, 2, {0}), "8", 1);
  EXPECT_THAT(missing({one, near}, form), IsEmpty());
  EXPECT_THAT(missing({one, far}, form), ElementsAre("pod w-0: the address of device 0"));
}

TEST(JobTable, OfLayers) {
  JobTableForm form;
  form.dialect = Dialect::hccl_2_0;
  Member one = member(0, 1, {3});
  EXPECT_THAT(missing({one}, form), ElementsAre("pod w-0: the network layers of device 3"));
  NetLayer layer;
  layer.layer = 0;
  layer.instance_id = "sp0_rack1";
  layer.type = "TOPO_FILE_DESC";
  layer.attributes = "";
  one.devices[0].layers = {layer};
  EXPECT_EQ(text_of({one}, form),
            R"({"version":"2.0","status":"completed","rank_count":1,"rank_list":[)"
            R"({"rank_id":0,"local_id":3,"device_id":3,"level_list":[)"
            R"({"net_layer":0,"net_instance_id":"sp0_rack1","net_type":"TOPO_FILE_DESC",)"
            R"("net_attr":"","rank_addr_list":[]}]}]})");
}

TEST(JobTable, OtherDialectsAreNotOfOneJob) {
  JobTableForm form;
  form.dialect = Dialect::mindie_global;
  EXPECT_EQ(make_job_table(Members{member(0, 1, {0})}, form).error().code, Errc::invalid_argument);
  EXPECT_EQ(make_job_table(Members{}, {}).error().code, Errc::invalid_argument);
}

// The layers of each rank beyond the inner one: number and instance.
std::vector<std::string> outer_layers(std::vector<std::vector<ScaleOut>> devices,
                                      const std::string& scale_out) {
  std::vector<std::optional<Member>> members;
  NetLayer inner;
  inner.layer = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Member& one =
        *members.emplace_back(test::member(static_cast<int>(i), static_cast<int>(i), {0}));
    one.devices[0].layers = {inner};
    one.devices[0].outer = devices[i];
  }
  JobTableForm form;
  form.dialect = Dialect::hccl_2_0;
  form.scale_out = scale_out;
  const auto made = make_job_table(members, form);
  std::vector<std::string> out;
  for (const LayeredRank& rank : made.value().table.ranks) {
    std::string& line = out.emplace_back();
    for (std::size_t i = 1; i < rank.layers.size(); ++i)
      line += std::to_string(*rank.layers[i].layer) + " " + *rank.layers[i].instance_id;
  }
  return out;
}

// As ascend-operator: one way out for the whole job, RoCE before UBoE before UBG.
TEST(JobTable, OfAnAscend950LeavesByOneNetwork) {
  const auto way = [](const std::string& type) {
    ScaleOut out{type, {}};
    out.layer.layer = type == "ROCE" ? 3 : 2;
    out.layer.instance_id = type;
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(outer_layers({{}, {}}, ""), ElementsAre("", ""));
  EXPECT_THAT(outer_layers({{way("UBG")}, {way("UBG"), way("UBOE")}}, ""),
              ElementsAre("2 CLUSTER1", "2 UBOE"));
  EXPECT_THAT(outer_layers({{way("UBOE"), way("ROCE")}, {way("ROCE")}}, ""),
              ElementsAre("3 ROCE", "3 ROCE"));
  EXPECT_THAT(outer_layers({{way("UBG"), way("ROCE")}, {way("UBG")}}, "UBOE"),
              ElementsAre("2 UBG", "2 UBG"));
  EXPECT_THAT(outer_layers({{way("UBG")}}, "ROCE"), ElementsAre("3 CLUSTER1"));
}

}  // namespace
}  // namespace chipweave::domain::ranktable
