// Lists of pods and nodes as kubectl prints them, whole and broken.
#include "common/codec/ranktable/modelarts/job_pods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/ranktable/modelarts/pods.hpp"

namespace chipweave::codec {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(const std::string& text, const JobPodsChoice& choice = {}) {
  const Result<JobPods> job = read_job_pods(text, choice);
  return job ? "it was taken" : job.error().text();
}

std::string named(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(JobPodsReader, ReadsAJobInTheOrderOfItsIndexes) {
  const JobPods job = job_of({{1, "n1", {3, 0}, "10.9.0.1", R"(,"cabinet":"cabinet")"},
                              {0, "n0", {0}, "", R"(,"cabinet":"cabinet","super-pod-id":"4")"}});
  EXPECT_EQ(job.ns, "ns");
  EXPECT_EQ(job.job, "j");
  EXPECT_EQ(job.task, "worker");
  EXPECT_TRUE(job.cabinet);
  EXPECT_TRUE(job.complete());
  EXPECT_THAT(job.warnings, IsEmpty());
  ASSERT_EQ(job.pods.size(), 2U);
  EXPECT_EQ(job.pods[0].name, "j-worker-0");
  EXPECT_EQ(job.pods[0].super_pod, "4");
  EXPECT_EQ(job.pods[1].node, "n1");
  EXPECT_EQ(job.pods[1].host_ip, "10.0.0.1");
  ASSERT_EQ(job.pods[1].report->devices.size(), 2U);
  EXPECT_EQ(job.pods[1].report->devices[1].id, "3");
  EXPECT_EQ(job.pods[1].report->devices[1].tor_ip, "10.9.0.1");
  EXPECT_EQ(job.pods[1].report->devices[1].tor_port, "p3");
}

TEST(JobPodsReader, TheOlderAnnotationSuppliesDevicesOrTheirSwitches) {
  const TestPod known{0, "n0", {0, 1}, "10.9.0.1", ""};
  const std::string older = R"(,"cce.kubectl.kubernetes.io/ascend-rank-table":")" +
                            escaped(report_text(known, "device")) + R"(")";
  const JobPods alone = job_of({{0, "n0", {}, "", older}});
  EXPECT_TRUE(alone.complete());
  EXPECT_EQ(alone.pods[0].report->devices.size(), 2U);
  const JobPods both = job_of({{0, "n0", {1}, "", older}});
  ASSERT_EQ(both.pods[0].report->devices.size(), 1U);
  EXPECT_EQ(both.pods[0].report->devices[0].tor_ip, "10.9.0.1");
}

TEST(JobPodsReader, NodesSupplySwitchesWherePodsDoNot) {
  const TestPod known{0, "n0", {0, 1}, "10.9.0.1", ""};
  const auto node = [](const std::string& name, const std::string& value) {
    return R"({"kind":"Node","metadata":{"name":")" + name +
           R"(","annotations":{"cce.kubectl.kubernetes.io/ascend-rank-table":")" + escaped(value) +
           R"("}},"status":{"addresses":[{"type":"InternalIP","address":"10.1.0.7"}]}})";
  };
  const auto nodes = read_route_nodes(
      list_text({node("n0", report_text(known, "device")), node("n1", "{broken")}));
  ASSERT_TRUE(nodes.ok());
  EXPECT_THAT(nodes->nodes[0].addresses, ElementsAre("10.1.0.7"));
  EXPECT_THAT(nodes->warnings, ElementsAre(HasSubstr("Node \"n1\"")));
  JobPods job = job_of({{0, "n0", {1, 5}, "", ""}, {1, "n1", {0}, "", ""}});
  add_node_switches(job, *nodes);
  EXPECT_EQ(job.pods[0].report->devices[0].tor_ip, "10.9.0.1");
  EXPECT_EQ(job.pods[0].report->devices[0].tor_port, "p1");
  EXPECT_EQ(job.pods[0].report->devices[1].tor_ip, "");
  EXPECT_EQ(job.pods[1].report->devices[0].tor_ip, "");
  EXPECT_THAT(read_route_nodes(list_text({})).error().text(), HasSubstr("kubectl get nodes"));
}

TEST(JobPodsReader, WhatIsMissingWhileAJobStartsIsSaidAndNoError) {
  const JobPods job = job_of({{0, "n0", {0}, "", ""}, {3, "", {}, "", ""}});
  EXPECT_FALSE(job.complete());
  EXPECT_THAT(job.missing, ElementsAre(1, 2));
  EXPECT_THAT(job.warnings, ElementsAre(HasSubstr("no pod with index 1 (and 1 more)"),
                                        HasSubstr("pod j-worker-3 has no annotation")));
  const auto more = read_job_pods(pods_text({{0, "n0", {0}, "", ""}}), {"", "", 3});
  ASSERT_TRUE(more.ok());
  EXPECT_THAT(more->missing, ElementsAre(1, 2));
}

TEST(JobPodsReader, ADeviceWithoutAddressKeepsTheTableWaiting) {
  const std::string text = pods_text({{0, "n0", {0, 1}, "", ""}});
  for (const char* bad : {"-1", "", "localhost"}) {
    const auto job = read_job_pods(named(text, "192.0.2.1", bad), {});
    ASSERT_TRUE(job.ok());
    EXPECT_FALSE(job->complete());
    EXPECT_THAT(job->warnings, Contains(HasSubstr("device 1 has no address")));
  }
}

TEST(JobPodsReader, CabinetCountsWhenAllPodsHaveIt) {
  const std::string on = R"(,"cabinet":"cabinet")";
  EXPECT_FALSE(job_of({{0, "n0", {0}, "", ""}}).cabinet);
  EXPECT_FALSE(job_of({{0, "n0", {0}, "", R"(,"cabinet":"yes")"}}).cabinet);
  const JobPods some = job_of({{0, "n0", {0}, "", on}, {1, "n1", {0}, "", ""}});
  EXPECT_FALSE(some.cabinet);
  EXPECT_THAT(some.warnings, ElementsAre(HasSubstr("only 1 of 2 pods have annotation cabinet")));
}

TEST(JobPodsReader, OtherJobsAndPodsWithoutNpusArePassedOver) {
  const std::string mine = pod_text({0, "n0", {0}, "", ""});
  const std::string other = named(mine, "\"j\"", "\"k\"");
  const std::string helper = named(named(pod_text({1, "n0", {}, "", ""}), "ascend-1980", "gpu"),
                                   "\"worker\"", "\"helper\"");
  const std::string bare = R"({"kind":"Pod","metadata":{"name":"p"}})";
  EXPECT_THAT(error_of(list_text({mine, other})),
              HasSubstr("--job is required: there are pods of several jobs: \"ns/j\", \"ns/k\""));
  const auto job = read_job_pods(list_text({mine, other, helper, bare}), {"ns/j", "", 0});
  ASSERT_TRUE(job.ok()) << job.error().text();
  EXPECT_EQ(job->pods.size(), 1U);
  EXPECT_THAT(job->warnings, ElementsAre("1 pods without a Volcano job are skipped",
                                         "1 pods without NPUs are skipped"));
  EXPECT_THAT(error_of(list_text({mine}), {"x", "", 0}),
              HasSubstr("--job: unknown job \"x\" of NPU pods; known: \"ns/j\""));
}

TEST(JobPodsReader, TasksAreNumberedApart) {
  const std::string worker = pod_text({0, "n0", {0}, "", ""});
  const std::string master = named(worker, "worker", "master");
  EXPECT_THAT(error_of(list_text({worker, master})), HasSubstr("--task is required"));
  const auto job = read_job_pods(list_text({worker, master}), {"", "master", 0});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->task, "master");
  EXPECT_THAT(error_of(list_text({worker}), {"", "x", 0}),
              HasSubstr("--task: unknown task \"x\" of NPU pods; known: "));
}

TEST(JobPodsReader, SentencesForWhatIsWrong) {
  const std::string good = pod_text({0, "n0", {0}, "", ""});
  EXPECT_THAT(error_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{}"), HasSubstr("kubectl get pods"));
  EXPECT_THAT(error_of("[1,2]"), HasSubstr("kubectl get pods"));
  EXPECT_THAT(error_of(list_text({R"({"kind":"Pod"})"})), HasSubstr("volcano.sh/job-name"));
  EXPECT_THAT(error_of(named(list_text({good}), "\"ns\"", "\"../x\"")),
              HasSubstr("is not a valid name in Kubernetes"));
  EXPECT_THAT(error_of(named(list_text({good}), "\"j\"", "\"../j\"")),
              HasSubstr("is not a valid name in Kubernetes"));
  EXPECT_THAT(error_of(named(list_text({good}), "\"name\":\"j-worker-0\"", "\"name\":\"../x-0\"")),
              HasSubstr("is none of a pod"));
  EXPECT_THAT(error_of(named(list_text({good}), "\"nodeName\":\"n0\"", "\"nodeName\":\"a/b\"")),
              HasSubstr("no name of a node"));
  EXPECT_THAT(
      error_of(named(list_text({good}), "\"name\":\"j-worker-0\"", "\"name\":\"j-worker\"")),
      HasSubstr("nor a name that ends in -N"));
  EXPECT_THAT(
      error_of(list_text({pod_text({0, "n0", {0}, "", R"(,"volcano.sh/task-index":"-1")"})})),
      HasSubstr("not a whole number below"));
  EXPECT_THAT(
      error_of(list_text({good, named(good, "\"name\":\"j-worker-0\"", "\"name\":\"j-copy-0\"")})),
      HasSubstr("pods j-copy-0 and j-worker-0 both have index 0"));
  EXPECT_THAT(error_of(pods_text({{4, "n0", {0}, "", ""}}), {"", "", 2}),
              HasSubstr("--replicas: must be at least 5: pod j-worker-4 has index 4; got 2"));
}

TEST(JobPodsReader, SentencesForReportsThatAreWrong) {
  const auto with = [](const std::string& report) {
    return error_of(
        list_text({pod_text({0,
                             "n0",
                             {},
                             "",
                             R"(,"cce.kubectl.kubernetes.io/ascend-1980-configuration":")" +
                                 escaped(report) + R"(")"})}));
  };
  EXPECT_THAT(with("{"),
              HasSubstr("annotation cce.kubectl.kubernetes.io/ascend-1980-configuration"));
  EXPECT_THAT(with("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(with(R"({"devices":[]})"),
              HasSubstr("server_id, the name of the machine, is missing"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[]})"), HasSubstr("expected a list"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[1]})"),
              HasSubstr("device[0]: expected an object"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[{}]})"), HasSubstr("device_id is missing"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[{"device_id":"01"}]})"),
              HasSubstr("must be a decimal number"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[{"device_id":[]}]})"),
              HasSubstr("device_id must be text"));
  EXPECT_THAT(with(R"({"server_id":"a","devices":[{"device_id":"1"},{"device_id":1}]})"),
              HasSubstr("device 1 is repeated"));
  EXPECT_THAT(with(R"({"server_id":")" + std::string(65, 'x') + R"(","devices":[1]})"),
              HasSubstr("longer than 64 bytes"));
}

TEST(JobPodsReader, TenThousandPods) {
  std::vector<TestPod> pods;
  for (std::size_t i = 0; i < 10000; ++i)
    pods.push_back({i, "n" + std::to_string(i), {0, 1}, "", ""});
  const JobPods job = job_of(pods);
  EXPECT_EQ(job.pods.size(), 10000U);
  EXPECT_TRUE(job.complete());
}

}  // namespace
}  // namespace chipweave::codec
