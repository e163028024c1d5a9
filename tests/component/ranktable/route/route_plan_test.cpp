// chipweave route plan as scripts see it.
#include <gmock/gmock.h>

#include "tests/component/ranktable/route/job.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RoutePlanCommand : public RouteJob {};

TEST_F(RoutePlanCommand, SaysTheNewRankOfEveryPodAndTheMaster) {
  const Outcome text = route("plan --pods " + pods_ + " --network " + network_);
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.text,
            "POD         INDEX  RANK  HOST  SWITCHES\n"
            "j-worker-0      0     3  n0    10.9.0.1\n"
            "j-worker-1      1     0  n1    10.9.0.2\n"
            "j-worker-2      2     4  n2    10.9.0.1\n"
            "j-worker-3      3     1  n3    10.9.0.2\n"
            "j-worker-4      4     2  n4    10.9.0.2\n"
            "j-worker-5      5     5  n5    10.9.0.3\n"
            "\n"
            "borders crossed  tor 3 (as given 5)\n"
            "MASTER_INDEX     1\n"
            "MASTER_ADDR      j-worker-1.j\n");
  const Outcome json = route("plan --pods " + pods_ + " --network " + network_ + " -o json");
  EXPECT_THAT(json.text, StartsWith(R"({"outcome":"planned","namespace":"","job":"j",)"));
  EXPECT_THAT(json.text, HasSubstr(R"({"name":"j-worker-2","index":2,"host":"n2",)"
                                   R"("path":["10.9.0.1"],"rank":4})"));
  EXPECT_THAT(json.text, HasSubstr(R"("crossings":{"tor":3},"input_crossings":{"tor":5},)"
                                   R"("master_index":1,"master_addr":"j-worker-1.j")"));
}

TEST_F(RoutePlanCommand, TakesAHostfileInPlaceOfPods) {
  const Outcome out =
      run("printf '10.1.0.1\\n10.1.0.3\\n10.1.0.4\\n' | %B/chipweave route plan "
          "--hosts - --network " +
          network_ + " --job j --task worker -o json");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr(R"("master_index":1,"master_addr":"j-worker-1.j")"));
}

TEST_F(RoutePlanCommand, WritesTablesPlanConfigMapsAndAnnotations) {
  const Outcome out =
      route("plan --pods " + pods_ + " --network " + network_ + " --out " + at("plan"));
  ASSERT_EQ(out.code, 0);
  EXPECT_EQ(content("plan/route_plan.json"),
            R"({"version":"1.0","status":"completed","master_index":1,"ranks":[3,0,4,1,2,5]})");
  EXPECT_THAT(content("plan/jobstart_hccl.json"),
              StartsWith(R"({"status":"completed","version":"1.0","server_count":"6",)"
                         R"("server_list":[{"server_id":"10.1.0.1","device":[{"device_id":"0",)"
                         R"("device_ip":"192.0.2.0","rank_id":"0","tor_ip":"10.9.0.1")"));
  EXPECT_THAT(content("plan/ranktable_tor.json"), HasSubstr(R"({"pod_name":"j-worker-5",)"));
  EXPECT_THAT(content("plan/ranktable-j.yaml"), HasSubstr("\"name\": \"ranktable-j\""));
  EXPECT_THAT(content("plan/torlist-j.yaml"), HasSubstr("\"ranktable_tor.json\": \"H4sI"));
  EXPECT_THAT(content("plan/torlist-j.yaml"), HasSubstr("\"route_plan.json\": \"{"));
  EXPECT_EQ(content("plan/annotations/node-n3.json"),
            R"({"pod_name":"","server_id":"10.1.0.5","device":[{"device_id":"0",)"
            R"("device_ip":"192.0.2.3","rank_id":"3","tor_ip":"10.9.0.2","tor_port":""}]})");
  EXPECT_THAT(content("plan/annotations/pod-j-worker-3.json"),
              StartsWith(R"({"pod_name":"j-worker-3",)"));
}

TEST_F(RoutePlanCommand, WithoutCabinetNothingOfTheTopologyIsHandedDown) {
  folder_.put("off.json", pods(false));
  const std::string plan =
      "plan --pods " + at("off.json") + " --network " + network_ + " --out " + at("plan") + " 2>&1";
  folder_.put("plan/route_plan.json", "{}");  // of a former call
  const Outcome out = route(plan);
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("j-worker-4      4     4"));
  EXPECT_THAT(out.text, HasSubstr("use --cabinet to plan anyway"));
  EXPECT_THAT(content("plan/jobstart_hccl.json"), Not(HasSubstr("tor_ip")));
  EXPECT_EQ(content("plan/route_plan.json"), "");
  EXPECT_EQ(content("plan/torlist-j.yaml"), "");
  EXPECT_EQ(route(plan + " --cabinet").code, 0);
  EXPECT_THAT(content("plan/jobstart_hccl.json"), HasSubstr("tor_ip"));
}

TEST_F(RoutePlanCommand, AJobThatStartsIsInitializing) {
  folder_.put("some.json", pods(true, 4));
  const Outcome out = route("plan --pods " + at("some.json") + " --out " + at("plan") + " 2>&1");
  EXPECT_EQ(out.code, 1);
  EXPECT_THAT(out.text, HasSubstr("pod j-worker-4 has no annotation"));
  EXPECT_THAT(out.text, HasSubstr("the job is not complete yet"));
  EXPECT_EQ(content("plan/jobstart_hccl.json"),
            R"({"status":"initializing","version":"1.0","server_count":"0","server_list":[]})");
  // A pod is lost after the table was complete: the list stays.
  ASSERT_EQ(route("plan --pods " + pods_ + " --network " + network_ + " --out " + at("plan")).code,
            0);
  const std::string before = content("plan/jobstart_hccl.json");
  EXPECT_EQ(route("plan --pods " + at("some.json") + " --previous " +
                  at("plan/jobstart_hccl.json") + " --out " + at("plan") + " 2>&1")
                .code,
            1);
  EXPECT_EQ(content("plan/jobstart_hccl.json"),
            R"({"status":"initializing")" + before.substr(before.find(',')));
}

TEST_F(RoutePlanCommand, MachinesThatTheNetworkDoesNotKnowAreLast) {
  folder_.put("part.csv", "name,tor\n10.1.0.4,a\nn5,a\n");
  const Outcome out = route("plan --pods " + pods_ + " --network " + at("part.csv") + " 2>&1");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("so they are last: j-worker-0, j-worker-1"));
  EXPECT_THAT(out.text, HasSubstr("MASTER_INDEX     4"));
  folder_.put("other.csv", "name,tor\nx,a\n");
  const Outcome none = route("plan --pods " + pods_ + " --network " + at("other.csv") + " 2>&1");
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.text, HasSubstr("the network contains none of the machines; the first is n0"));
}

TEST_F(RoutePlanCommand, SuperPodsMayComeFromTheNetwork) {
  std::string nodes;
  for (std::size_t i = 0; i < machines().size(); ++i) {
    nodes += (i == 0 ? "" : ",") + std::string(R"({"name":")") + machines()[i] +
             R"(","path":["a"],"accelerator":[")" + (i % 2 == 0 ? "s1" : "s2") + R"("]})";
  }
  folder_.put("net.json",
              R"({"levels":["tor"],"accelerator_levels":["pod"],"nodes":[)" + nodes + "]}");
  std::string text = pods();
  const std::string id = R"(\"super_device_id\":\"5\",)";
  const std::string ip = R"(\"device_ip\")";
  for (std::size_t at = 0; (at = text.find(ip, at)) != std::string::npos;
       at += id.size() + ip.size()) {
    text.insert(at, id);
  }
  folder_.put("a3.json", text);
  const Outcome out = route("plan --hyperjob --pods " + at("a3.json") + " --network " +
                            at("net.json") + " --out " + at("plan"));
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(content("plan/jobstart_hccl.json"),
              StartsWith(R"({"status":"completed","version":"1.2")"));
  EXPECT_THAT(content("plan/jobstart_hccl.json"),
              HasSubstr(R"("super_pod_list":[{"super_pod_id":"s1","server_list":[)"
                        R"({"server_id":"10.1.0.1"},{"server_id":"10.1.0.2"})"));
}

// The switches of four leaves with four machines each, as MindCluster publishes them.
TEST_F(RoutePlanCommand, ReadsMindClustersSwitches) {
  const auto tors = codec::shared_file("ranktables/tor_node_mindcluster_not_a_ranktable.json");
  if (!tors) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  folder_.put("tors.json", *tors);
  folder_.put("hosts", "1.1.0.0\n1.1.0.4\n1.1.0.8\n1.1.0.5\n1.1.0.1\n1.1.0.6\n");
  const Outcome out = route("plan --hosts " + at("hosts") + " --network " + at("tors.json"));
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("borders crossed  tor 3 (as given 6)"));
  EXPECT_THAT(out.text, HasSubstr("MASTER_INDEX     1\nMASTER_ADDR      1.1.0.4\n"));
}

TEST_F(RoutePlanCommand, SentencesForWrongUsageAndFiles) {
  const auto refused = [&](const std::string& arguments, int code, const std::string& says) {
    const Outcome out = complaint("chipweave route plan " + arguments);
    EXPECT_EQ(out.code, code) << arguments;
    EXPECT_THAT(out.text, StartsWith("chipweave: " + says)) << arguments;
  };
  refused("", 2, "one of --pods or --hosts is required");
  refused("--hosts " + network_, 2, "--hosts requires --network");
  refused("--pods - --network -", 2, "--pods - cannot be combined with --network -");
  refused("--pods " + pods_ + " --hyperjob", 2, "--hyperjob requires --out");
  refused("--pods " + pods_ + " --hyperjob --out " + at("x"), 2, "--hyperjob requires super pods");
  refused("--pods " + pods_ + " --job k", 2, "--job: unknown job \"k\"");
  refused("--pods " + pods_ + " --replicas 3", 2, "--replicas: must be at least ");
  refused("--pods " + at("absent"), 3, "file " + at("absent") + ": cannot open");
  refused("--pods " + network_, 3, "file " + network_ + ": ");
  refused("--pods " + pods_ + " --previous " + network_ + " --out " + at("x"), 3,
          "file " + network_ + ": ");
}

}  // namespace
}  // namespace chipweave
