// Vendors' published manifests are placed as their documents say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/network/import.hpp"
#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/training_jobs/job_world.hpp"
#include "tests/unit/training_jobs/page.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Json> published(const std::string& name) {
  const auto text =
      chipweave::test::file_content(chipweave::test::shared_data_path("manifests/" + name));
  return text ? documents_of(*text) : std::vector<Json>();
}

#define LOAD_MANIFEST(documents, name)                 \
  const std::vector<Json> documents = published(name); \
  if ((documents).empty()) GTEST_SKIP() << "no shared data: manifests/" << (name)

// The pods that request chips; the others are bound at once, as by their scheduler.
std::vector<PodRequest> create_all(JobWorld& w, const Created& created) {
  w.read_objects(created.objects);
  std::vector<PodRequest> out;
  for (const Json& one : created.pods) {
    const PodRequest pod = w.create(one);
    if (pod.chips > 0) {
      out.push_back(pod);
    } else {
      EXPECT_TRUE(w.bind(pod, *w.names.begin()).ok());
    }
  }
  return out;
}

// The nodes of the pods, in their order.
std::vector<std::string> place_all(JobWorld& w, const std::vector<PodRequest>& pods) {
  std::vector<std::string> out;
  for (const PodRequest& pod : pods) {
    const std::vector<std::string> path = w.place(pod);
    out.push_back(path.empty() ? "" : path.back());
    EXPECT_THAT(w.chips(pod), SizeIs(pod.chips)) << pod.key.name;
  }
  w.expect_sound();
  return out;
}

std::set<std::string> set_of(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

// "takes all its replicas onto the best-linked GPUs or none": one node, and no pod without the
// other.
TEST(PublishedManifests, AckTopologyJobsAreOnOneNodeOrNowhere) {
  LOAD_MANIFEST(documents, "ack-pytorchjob-topology.yaml");
  const Created created = apply(documents);
  JobWorld w({"trainer"}, "aliyun.com/gpu");
  w.add_racks("hgx-v100-8");
  const auto pods = create_all(w, created);
  ASSERT_THAT(pods, SizeIs(2));
  const auto nodes = w.fit(pods[0]);
  ASSERT_THAT(nodes, testing::Not(IsEmpty()));
  ASSERT_TRUE(w.bind(pods[0], *nodes.begin()).ok());
  EXPECT_EQ(w.fit(pods[1]), (std::set<std::string>{*nodes.begin()}));
  ASSERT_TRUE(w.bind(pods[1], *nodes.begin()).ok());
  w.expect_sound();

  // one chip on each node is too little for two pods
  JobWorld full({"trainer"}, "aliyun.com/gpu");
  full.add_racks("hgx-v100-8");
  for (const std::string& node : full.names)
    ASSERT_TRUE(full.bind(full.submit("filler-" + node, 7, "aliyun.com/gpu"), node).ok());
  for (const PodRequest& pod : create_all(full, created)) EXPECT_THAT(full.fit(pod), IsEmpty());
}

TEST(PublishedManifests, AckPlainJobsAreAGangOfTheTrainingOperator) {
  LOAD_MANIFEST(documents, "ack-pytorchjob-plain.yaml");
  JobWorld w({"trainer"});
  w.add_racks("hgx-h100-8");
  const auto pods = create_all(w, apply(documents));
  // the best place of two single GPUs is one node
  EXPECT_THAT(set_of(place_all(w, pods)), SizeIs(1));
  EXPECT_THAT(w.ranks("team/trainer/pytorch-dist-nccl"),
              ElementsAre("pytorch-dist-nccl-master-0", "pytorch-dist-nccl-worker-0"));
}

TEST(PublishedManifests, MindieServersGetWholeNodesOrNone) {
  LOAD_MANIFEST(documents, "mindie-server-0.yaml");
  const Created created = apply(documents);
  JobWorld w({"ascend"}, "huawei.com/Ascend910");
  w.add_racks("ascend-910b-8");
  EXPECT_THAT(set_of(place_all(w, create_all(w, created))), SizeIs(2));
  EXPECT_THAT(w.ranks("mindie/trainer/mindie-server-0"),
              ElementsAre("mindie-server-0-master-0", "mindie-server-0-worker-0"));

  JobWorld full({"ascend"}, "huawei.com/Ascend910");
  full.add_racks("ascend-910b-8");
  for (const std::string& node : full.names) {
    if (node == "gpu-1") continue;
    ASSERT_TRUE(full.bind(full.submit("filler-" + node, 1, "huawei.com/Ascend910"), node).ok());
  }
  for (const PodRequest& pod : create_all(full, created))
    EXPECT_EQ(full.refusal(pod), "no room for all pods of gang mindie-server-0");
}

TEST(PublishedManifests, MindieControllersNeedNoChips) {
  LOAD_MANIFEST(documents, "mindie-controller.yaml");
  JobWorld w({"ascend"}, "huawei.com/Ascend910");
  w.add_racks("ascend-910b-8");
  EXPECT_THAT(create_all(w, apply(documents)), IsEmpty());
  EXPECT_EQ(w.scheduler.gangs().find("mindie/trainer/mindie-ms-test-controller")->quorum(), 0);
}

// Six pods that keep each other off their nodes.
TEST(PublishedManifests, ModelArtsJobsHaveANodeEachInTheOrderOfTheirIndex) {
  LOAD_MANIFEST(documents, "modelarts-volcano-job.yaml");
  JobWorld w({"volcano"}, "huawei.com/ascend-1980");
  w.add_racks("ascend-910b-8");
  const Created created = apply(documents);
  const auto pods = create_all(w, created);
  ASSERT_THAT(pods, SizeIs(6));
  EXPECT_THAT(set_of(place_all(w, pods)), SizeIs(6));
  const std::vector<std::string> ranks = w.ranks(gang_id(pods[0]));
  ASSERT_THAT(ranks, SizeIs(6));
  for (std::size_t i = 0; i < ranks.size(); ++i)
    EXPECT_EQ(ranks[i], "yourvcjobname-worker-" + std::to_string(i));

  JobWorld full({"volcano"}, "huawei.com/ascend-1980");
  full.add_racks("ascend-910b-8");
  full.occupy(3, false);
  for (const PodRequest& pod : create_all(full, created))
    EXPECT_EQ(full.refusal(pod), "no room for all pods of gang " + pod.mark->name);
}

// On the network of the node-topology-config that is published beside it: four nodes need two leaf
// switches, of which the largest have three nodes.
TEST(PublishedManifests, DlroverJobsUseFewLeafSwitches) {
  LOAD_MANIFEST(documents, "dlrover-elasticjob.yaml");
  const auto text = chipweave::test::file_content(
      chipweave::test::shared_data_path("manifests/dlrover-node-topology-config.yaml"));
  ASSERT_TRUE(text);
  auto network = codec::import_network(*text);
  ASSERT_TRUE(network.ok()) << network.error().text();
  JobWorld w({"dlrover"}, "metax-tech.com/gpu");
  w.scheduler.network().configure({{NetworkSource::file}});
  w.scheduler.network().set_table(NetworkSource::file, std::move(network->table));
  for (int i = 0; i < 10; ++i)
    w.add_node("192.168.0." + std::to_string(i), "metax-c550-8", {"metax-tech.com/gpu"});
  const auto pods = create_all(w, apply(documents));
  ASSERT_THAT(pods, SizeIs(4));
  std::set<std::string> leaves;
  for (const PodRequest& pod : pods) {
    const std::vector<std::string> path = w.place(pod);
    ASSERT_THAT(path, SizeIs(3)) << pod.key.name;
    leaves.insert(path.at(1));
  }
  EXPECT_THAT(leaves, SizeIs(2));
  EXPECT_THAT(
      w.ranks("dlrover/dlrover/fine-tuning-llama2"),
      ElementsAre("fine-tuning-llama2-edljob-worker-0", "fine-tuning-llama2-edljob-worker-1",
                  "fine-tuning-llama2-edljob-worker-2", "fine-tuning-llama2-edljob-worker-3"));
  w.expect_sound();
}

// minMember is 4, and the job has two workers: they wait, and the scheduler says for what.
TEST(PublishedManifests, KoordinatorGangsWaitForAsManyPodsAsTheyName) {
  LOAD_MANIFEST(documents, "koordinator-gang-elasticjob.yaml");
  JobWorld w({"koordinator", "dlrover"}, "metax-tech.com/gpu");
  w.add_racks("metax-c550-8");
  const auto pods = create_all(w, apply(documents));
  ASSERT_THAT(pods, SizeIs(2));
  for (const PodRequest& pod : pods)
    EXPECT_EQ(w.refusal(pod), "waiting for the other pods of gang torch-mnist-gang");
  const Gang& gang = *w.scheduler.gangs().find("dlrover/koordinator/torch-mnist-gang");
  EXPECT_EQ(w.scheduler.gang_view().status(gang).why, "waits for 2 pods: 4 must start together");

  std::vector<Json> larger = documents;
  larger.at(1)["spec"]["replicaSpecs"]["worker"]["replicas"] = 4;
  JobWorld other({"koordinator", "dlrover"}, "metax-tech.com/gpu");
  other.add_racks("metax-c550-8");
  EXPECT_THAT(set_of(place_all(other, create_all(other, apply(larger)))), SizeIs(1));
}

}  // namespace
}  // namespace chipweave::sched::test
