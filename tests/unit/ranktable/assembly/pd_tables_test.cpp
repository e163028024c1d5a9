// The tables of prefill and decode instances, as ModelArts' tool and vLLM-Ascend's write them.
#include "common/domain/ranktable/assembly/pd_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/tools/generated_tables.hpp"
#include "tests/unit/ranktable/assembly/members.hpp"

namespace chipweave::domain::ranktable {
namespace {

using test::member;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PdDeployment instances(Dialect dialect = Dialect::modelarts_global) {
  PdDeployment out;
  out.dialect = dialect;
  out.prefill = {member(0, 7, {4, 5}), member(1, 8, {0, 1})};
  out.decode = {member(2, 7, {6, 7})};
  out.scheduler = member(3, 7, {});
  return out;
}

// On one machine they are those of the generator, which are those of the reference tool.
TEST(PdTables, AreThoseOfTheGenerator) {
  PdDeployment of = instances();
  of.prefill.pop_back();
  const auto made = make_pd_tables(of);
  ASSERT_TRUE(made.ok()) << made.error().text();
  codec::ranktable::PdMachine machine;
  machine.address = "10.1.0.7";
  machine.api_server = true;
  machine.prefill = {{{4, "192.0.7.5", {}}, {5, "192.0.7.6", {}}}};
  machine.decode = {{{6, "192.0.7.7", {}}, {7, "192.0.7.8", {}}}};
  const auto expected = codec::ranktable::write_pd_tables(machine);
  ASSERT_EQ(expected.size(), 4U);
  EXPECT_EQ(codec::ranktable::write_table(made->table), expected[0].text);
  ASSERT_EQ(made->locals.size(), 3U);
  EXPECT_EQ(made->locals[0].first, "w-3");
  EXPECT_EQ(codec::ranktable::write_table(made->locals[0].second), expected[3].text);
  EXPECT_EQ(made->locals[1].first, "w-0");
  EXPECT_EQ(codec::ranktable::write_table(made->locals[1].second), expected[1].text);
  EXPECT_EQ(codec::ranktable::write_table(made->locals[2].second), expected[2].text);
}

TEST(PdTables, OfSeveralMachinesHaveNoError) {
  const auto made = make_pd_tables(instances());
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->missing, IsEmpty());
  EXPECT_THAT(test::errors_of(made->table, Profile::modelarts), IsEmpty());
  for (const auto& [pod, local] : made->locals)
    EXPECT_THAT(test::errors_of(local, Profile::modelarts), IsEmpty()) << pod;
}

TEST(PdTables, OfVllmListDevicesOfBothRolesNumberedThrough) {
  PdDeployment of = instances(Dialect::vllm_ascend);
  of.scheduler.reset();
  const auto made = make_pd_tables(of);
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->missing, IsEmpty());
  EXPECT_THAT(made->locals, IsEmpty());
  EXPECT_THAT(test::errors_of(made->table, Profile::vllm_ascend), IsEmpty());
  EXPECT_EQ(codec::ranktable::write_table(made->table, 0),
            R"({"version":"1.2","server_count":"2","prefill_device_list":[)"
            R"({"server_id":"10.1.0.7","device_id":"4","device_ip":"192.0.7.5","cluster_id":"1"},)"
            R"({"server_id":"10.1.0.7","device_id":"5","device_ip":"192.0.7.6","cluster_id":"2"},)"
            R"({"server_id":"10.1.0.8","device_id":"0","device_ip":"192.0.8.1","cluster_id":"3"},)"
            R"({"server_id":"10.1.0.8","device_id":"1","device_ip":"192.0.8.2","cluster_id":"4"}],)"
            R"("decode_device_list":[)"
            R"({"server_id":"10.1.0.7","device_id":"6","device_ip":"192.0.7.7","cluster_id":"5"},)"
            R"({"server_id":"10.1.0.7","device_id":"7","device_ip":"192.0.7.8","cluster_id":"6"}],)"
            R"("status":"completed"})");
  of.prefill[0].super_pod = "3";
  of.prefill[0].devices[0].super_device_id = 524292;
  const std::string text = codec::ranktable::write_table(make_pd_tables(of)->table, 0);
  EXPECT_THAT(text, HasSubstr(R"("super_pod_id":"3","super_device_id":"524292")"));
}

TEST(PdTables, SayWhatIsMissingAndWhatIsWrong) {
  PdDeployment of;
  EXPECT_THAT(make_pd_tables(of)->missing,
              ElementsAre("the pod with the role scheduler", "a pod with the role prefill",
                          "a pod with the role decode"));
  of = instances();
  of.decode[0].devices[1].ip.clear();
  of.scheduler->host_ip.clear();
  const auto made = make_pd_tables(of);
  EXPECT_THAT(made->missing,
              ElementsAre("pod w-3: the address of its node", "pod w-2: the address of device 7"));
  EXPECT_THAT(made->table.groups, IsEmpty());
  of = instances();
  of.decode[0].devices[1].device_id = 4;
  EXPECT_THAT(make_pd_tables(of).error().text(), HasSubstr("pods w-0 and w-2 both have device 4"));
  of.dialect = Dialect::hccl_1_0;
  EXPECT_THAT(make_pd_tables(of).error().text(), HasSubstr("hccl-1.0"));
}

}  // namespace
}  // namespace chipweave::domain::ranktable
