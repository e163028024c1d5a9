// The YAML of each page of docs/tasks/training-jobs, as it stands: what the page says happens to
// it, happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/training_jobs/job_world.hpp"
#include "tests/unit/training_jobs/page.hpp"

namespace chipweave::sched::test {
namespace {

// What a manifest requires of the network.
enum class Keeps { all_in_one_rack, each_role_in_one_rack, nothing };

struct JobCase {
  std::string page;
  std::size_t manifest = 0;  // which of the page's
  std::string gang;          // NAMESPACE/FRAMEWORK/NAME
  std::vector<std::string> ranks;
  std::size_t quorum = 0;  // pods that must be there, those without chips included
  int chips = 8;
  Keeps keeps = Keeps::all_in_one_rack;
  bool sequential = false;  // the first pod brings the plan of all
  std::string machine = "hgx-h100-8";
  std::string resource = "nvidia.com/gpu";

  bool by_volcano() const { return gang.find("/volcano/") != std::string::npos; }
  // Pods that must be in one rack; each needs a whole node.
  int nodes_together() const {
    return std::min(kNodesOfRack,
                    std::min(static_cast<int>(ranks.size()), static_cast<int>(quorum)));
  }
  friend std::ostream& operator<<(std::ostream& to, const JobCase& one) {
    return to << one.page << " " << one.gang;
  }
};

class TrainingJobs : public testing::TestWithParam<JobCase> {
 protected:
  TrainingJobs()
      : page_(read_page(GetParam().page)),
        created_(apply(documents_of(page_.manifests.at(GetParam().manifest)))) {
    for (const Json& pod : created_.pods) {
      PodRequest named;
      named.key = {pod["metadata"]["namespace"], pod["metadata"]["name"]};
      named.mark = gang_mark_of(kube_pod_of(pod));
      if (gang_id(named) == GetParam().gang) pods_.push_back(pod);
    }
  }

  bool is_gated(const Json& pod) const {
    GateOptions options;
    if (!page_.gate_frameworks().empty()) options.frameworks = page_.gate_frameworks();
    return page_.has_gate() && wants_gate(kube_pod_of(pod), ResourceTable{}, options);
  }

  Page page_;
  Created created_;
  std::vector<Json> pods_;  // of the case's gang, in the order in which they were made
};

bool has_chips(const PodRequest& pod) { return pod.chips > 0; }

// Of each key, the racks of its pods.
using Racks = std::map<std::string, std::set<std::string>>;

void expect_kept(const JobCase& wanted, const std::vector<PodRequest>& pods,
                 const std::map<std::string, std::vector<std::string>>& places) {
  constexpr std::size_t kRack = 1;
  Racks racks;
  for (const PodRequest& pod : pods) {
    const bool by_role = wanted.keeps == Keeps::each_role_in_one_rack;
    if (has_chips(pod))
      racks[by_role ? pod.mark->role : ""].insert(places.at(pod.key.name).at(kRack));
  }
  if (wanted.keeps == Keeps::nothing) return;
  for (const auto& [role, in] : racks) EXPECT_EQ(in.size(), 1U) << role;
}

TEST_P(TrainingJobs, AreRecognisedGatedPlannedAndBoundAsThePageSays) {
  const JobCase& wanted = GetParam();
  JobWorld w(page_.kinds(), wanted.resource);
  w.add_racks(wanted.machine);
  w.occupy(1, true);
  w.read_objects(created_.objects);
  ASSERT_GE(pods_.size(), wanted.quorum);

  std::vector<PodRequest> pods;
  std::map<std::string, std::vector<std::string>> places;
  const std::size_t needed = wanted.sequential ? 1 : wanted.quorum;
  for (const Json& one : pods_) {
    const PodRequest pod = w.create(one);
    pods.push_back(pod);
    EXPECT_EQ(is_gated(one), has_chips(pod) && !wanted.by_volcano()) << pod.key.name;
    if (has_chips(pod)) {
      EXPECT_EQ(pod.chips, wanted.chips) << pod.key.name;
    }
    if (pods.size() < needed && has_chips(pod)) {
      EXPECT_EQ(w.refusal(pod), "waiting for the other pods of gang " + pod.mark->name);
      EXPECT_EQ(w.ranks(wanted.gang), std::vector<std::string>());
    }
    // one after the other: the others come once this one is bound
    if (wanted.sequential) places[pod.key.name] = w.place(pod);
  }
  EXPECT_EQ(w.scheduler.gangs().find(wanted.gang)->quorum(), static_cast<int>(wanted.quorum));

  for (const PodRequest& pod : pods) {
    if (has_chips(pod) && !wanted.sequential) places[pod.key.name] = w.place(pod);
    if (has_chips(pod)) {
      ASSERT_THAT(places[pod.key.name], testing::SizeIs(3))
          << pod.key.name << ": " << w.refusal(pod);
    } else {
      EXPECT_TRUE(w.bind(pod, "gpu-1").ok());
    }
  }
  EXPECT_EQ(w.ranks(wanted.gang), wanted.ranks);
  for (std::size_t rank = 0; rank < wanted.ranks.size(); ++rank) {
    const auto& written = w.cluster.written({pods.front().key.ns, wanted.ranks[rank]});
    EXPECT_EQ(written.at("chipweave.dev/rank"), std::to_string(rank)) << wanted.ranks[rank];
  }
  expect_kept(wanted, pods, places);
  w.expect_sound();
  // and the page shows what the program prints
  EXPECT_EQ(page_.outputs.at(wanted.manifest), w.printed(wanted.gang));
}

// Without the request of the manifest the gang would be placed here: no rack has room for it.
TEST_P(TrainingJobs, AreNotPlacedAgainstTheirRequest) {
  const JobCase& wanted = GetParam();
  if (wanted.keeps == Keeps::nothing) return;
  JobWorld w(page_.kinds(), wanted.resource);
  w.add_racks(wanted.machine);
  w.occupy(kNodesOfRack + 1 - wanted.nodes_together(), false);
  w.read_objects(created_.objects);
  std::vector<PodRequest> pods;
  for (const Json& one : pods_) pods.push_back(w.create(one));
  const auto pod = std::find_if(pods.begin(), pods.end(), has_chips);
  ASSERT_NE(pod, pods.end());
  EXPECT_EQ(w.refusal(*pod), "no room for all pods of gang " + pod->mark->name);
  EXPECT_EQ(w.scheduler.ledger().reserved(), 0U);
}

// The pods of an Indexed Job of four.
std::vector<std::string> indexed(const std::string& job) {
  return {job + "-0-x7k2p", job + "-1-m4tqd", job + "-2-9hzwn", job + "-3-c5rvb"};
}

std::vector<JobCase> job_cases() {
  return {
      {"labels", 0, "team/chipweave/train", {"train-a", "train-b"}, 2},
      {"job", 0, "team/job/train", indexed("train"), 4},
      {"pod-groups", 0, "team/scheduler-plugins/train", indexed("train"), 4, 8, Keeps::nothing},
      {"pod-groups", 1, "team/koordinator/tune", indexed("tune"), 4},
      {"kueue", 0, "team/kueue/train", {"train-0", "train-1"}, 2},
      {"kai", 0, "team/chipweave/train", {"train-0", "train-1"}, 2},
      {"jobset",
       0,
       "team/jobset/train",
       {"train-workers-0-0-x7k2p", "train-workers-0-1-m4tqd", "train-workers-0-2-9hzwn",
        "train-workers-0-3-c5rvb", "train-workers-1-0-2gjxs", "train-workers-1-1-w8lfk",
        "train-workers-1-2-n6pdt", "train-workers-1-3-q3mzh"},
       8,
       8,
       Keeps::each_role_in_one_rack,
       true},
      {"leaderworkerset",
       0,
       "team/lws/train/0",
       {"train-0", "train-0-1", "train-0-2", "train-0-3"},
       4,
       8,
       Keeps::all_in_one_rack,
       true},
      {"mpi",
       0,
       "team/jobset/allreduce",
       {"allreduce-workers-0-0-m4tqd", "allreduce-workers-0-1-9hzwn", "allreduce-workers-0-2-c5rvb",
        "allreduce-workers-0-3-2gjxs"},
       5},
      {"trainer-v1",
       0,
       "team/trainer/pretrain",
       {"pretrain-master-0", "pretrain-worker-0", "pretrain-worker-1", "pretrain-worker-2"},
       4},
      {"trainer-v1",
       1,
       "team/trainer/allreduce",
       {"allreduce-worker-0", "allreduce-worker-1", "allreduce-worker-2", "allreduce-worker-3"},
       5},
      {"trainer-v2",
       0,
       "team/jobset/finetune",
       {"finetune-node-0-0-x7k2p", "finetune-node-0-1-m4tqd", "finetune-node-0-2-9hzwn",
        "finetune-node-0-3-c5rvb"},
       4},
      {"kuberay",
       0,
       "team/ray/train",
       {"train-gpu-worker-m4tqd", "train-gpu-worker-9hzwn", "train-gpu-worker-c5rvb",
        "train-gpu-worker-2gjxs"},
       5},
      {"ascend",
       0,
       "team/trainer/pretrain",
       {"pretrain-master-0", "pretrain-worker-0", "pretrain-worker-1", "pretrain-worker-2"},
       4,
       8,
       Keeps::all_in_one_rack,
       false,
       "ascend-910b-8",
       "huawei.com/Ascend910"},
      {"dlrover",
       0,
       "team/dlrover/tune",
       {"tune-edljob-worker-0", "tune-edljob-worker-1", "tune-edljob-worker-2",
        "tune-edljob-worker-3"},
       2},
      {"volcano",
       0,
       "team/volcano/train-5d0c5b1e-4f2a-4c8e-9b1d-2a6f0e3c5d71",
       {"train-worker-0", "train-worker-1", "train-worker-2", "train-worker-3"},
       4},
  };
}

// Volcano asks about one node at a time, and its bindings are admitted.
TEST(TrainingJobPages, PodsThatVolcanoBindsHaveTheNodesOfTheirRanks) {
  const Page page = read_page("volcano");
  const Created created = apply(documents_of(page.manifests.at(0)));
  JobWorld w(page.kinds());
  w.add_racks("hgx-h100-8");
  w.read_objects(created.objects);
  std::vector<PodRequest> pods;
  for (const Json& pod : created.pods) pods.push_back(w.create(pod));
  const std::string_view asked = "gpu-1";
  w.scheduler.extender().in_session(Verb::predicate, pods.back(), {&asked, 1});
  std::set<std::string> nodes;
  for (std::size_t rank = 0; rank < pods.size(); ++rank) {
    const PodRequest& pod = pods[rank];
    const Holding* held = w.scheduler.ledger().find(pod.uid);
    ASSERT_NE(held, nullptr);
    const std::string node = w.scheduler.nodes().node(held->node).name;
    nodes.insert(node);
    ASSERT_TRUE(w.scheduler.extender().allocate(pod, node).ok());
    const Binding binding{pod.key, pod.uid, node};
    w.scheduler.admissions().admit({binding, "", false}, [&](const Result<Admission>& answer) {
      ASSERT_TRUE(answer.ok()) << answer.error().text();
      EXPECT_EQ(answer->annotations.at("chipweave.dev/rank"), std::to_string(rank));
      w.cluster.bind({binding, answer->annotations, {}},
                     [](const Result<void>& bound) { EXPECT_TRUE(bound.ok()); });
    });
  }
  EXPECT_EQ(nodes.size(), pods.size());
  EXPECT_NE(w.printed("team/volcano/train-5d0c5b1e-4f2a-4c8e-9b1d-2a6f0e3c5d71").find("running"),
            std::string::npos);
}

// A variant of the page's MPIJob.
std::vector<PodRequest> mpi_pods(JobWorld& w, const std::function<void(Json&)>& change) {
  std::vector<Json> documents = documents_of(read_page("trainer-v1").manifests.at(1));
  change(documents.at(0)["spec"]);
  const Created created = apply(documents);
  w.add_racks("hgx-h100-8");
  w.read_objects(created.objects);
  std::vector<PodRequest> out;
  for (const Json& pod : created.pods) out.push_back(w.create(pod));
  return out;
}

TEST(TrainingJobPages, AnMpiLauncherThatWorksHasRankZero) {
  JobWorld w({"trainer"});
  const auto pods = mpi_pods(w, [](Json& spec) {
    spec["runLauncherAsWorker"] = true;
    Json& specs = spec["mpiReplicaSpecs"];
    specs["Worker"]["replicas"] = 3;
    specs["Launcher"]["template"]["spec"]["containers"][0]["resources"]["limits"]
         ["nvidia.com/gpu"] = 8;
  });
  for (const PodRequest& pod : pods) EXPECT_THAT(w.place(pod), testing::SizeIs(3));
  EXPECT_THAT(w.ranks("team/trainer/allreduce"),
              testing::ElementsAre("allreduce-launcher-c5rvb", "allreduce-worker-0",
                                   "allreduce-worker-1", "allreduce-worker-2"));
}

TEST(TrainingJobPages, AnMpiLauncherThatComesLaterIsNotWaitedFor) {
  JobWorld w({"trainer"});
  auto pods =
      mpi_pods(w, [](Json& spec) { spec["launcherCreationPolicy"] = "WaitForWorkersReady"; });
  ASSERT_TRUE(w.cluster.end(pods.back().key).ok());
  pods.pop_back();
  for (const PodRequest& pod : pods) EXPECT_THAT(w.place(pod), testing::SizeIs(3));
}

INSTANTIATE_TEST_SUITE_P(Pages, TrainingJobs, testing::ValuesIn(job_cases()));

TEST(TrainingJobPages, EachManifestHasACase) {
  std::multiset<std::pair<std::string, std::size_t>> tested;
  for (const JobCase& one : job_cases()) tested.emplace(one.page, one.manifest);
  std::multiset<std::pair<std::string, std::size_t>> written;
  for (const std::string& name : page_names())
    for (std::size_t i = 0; i < read_page(name).manifests.size(); ++i) written.emplace(name, i);
  EXPECT_EQ(tested, written);
}

}  // namespace
}  // namespace chipweave::sched::test
