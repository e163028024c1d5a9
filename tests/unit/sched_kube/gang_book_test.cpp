// What several owner objects together say about a gang.
#include "scheduler-plugin/kube/gangs/gang_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/codec_kube/gang_text.hpp"

namespace chipweave::sched {
namespace {

std::size_t source_of(std::string_view setting, std::string_view kind) {
  const auto sources = codec::gang_sources();
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (setting == sources[i].setting && kind == sources[i].kind) return i;
  throw std::runtime_error("no such kind");
}

class GangBooks : public testing::Test {
 protected:
  bool put(std::string_view setting, std::string_view kind, const std::string& name,
           const std::string& spec, codec::OwnerName owner = {}, const std::string& ns = "team") {
    codec::KubeGangObject object;
    object.ns = ns;
    object.name = name;
    object.uid = "uid-" + name;
    object.spec = spec;
    object.owner = std::move(owner);
    const std::size_t source = source_of(setting, kind);
    auto gangs = codec::read_gangs(codec::gang_sources()[source], object);
    return book_.put(source, object, *std::move(gangs));
  }
  void remove(std::string_view setting, std::string_view kind, const std::string& name) {
    book_.remove(source_of(setting, kind), "team", name);
  }

  std::map<std::string, std::string> said_;
  int calls_ = 0;
  GangBook book_{[this](const GangKey& gang, std::optional<GangSpec> spec) {
                   ++calls_;
                   if (spec)
                     said_[gang.text()] = codec::text_of(*spec);
                   else
                     said_.erase(gang.text());
                 },
                 4};
};

TEST_F(GangBooks, TheObjectThatCountsFirstIsKnown) {
  const GangKey gang{"team", "kai", "g"};
  EXPECT_FALSE(book_.object_of(gang));
  put("kai", "PodGroup", "g", R"({"minMember":2})", {"batch", "Job", "j"});
  const auto group = book_.object_of(gang);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->kind + "/" + group->name + "/" + group->uid, "PodGroup/g/uid-g");
  EXPECT_EQ(group->api_version, "scheduling.run.ai/v2alpha2");
  put("job", "Job", "j", R"({"parallelism":2})");
  EXPECT_EQ(book_.object_of(gang)->kind, "Job");
  remove("job", "Job", "j");
  remove("kai", "PodGroup", "g");
  EXPECT_FALSE(book_.object_of(gang));
}

TEST_F(GangBooks, AnObjectIsTold) {
  EXPECT_TRUE(put("kai", "PodGroup", "g", R"({"minMember":2})"));
  EXPECT_EQ(said_.at("team/kai/g"), "size ? min 2");
  EXPECT_EQ(calls_, 1);
  put("kai", "PodGroup", "g", R"({"minMember":2,"queue":"other"})");
  EXPECT_EQ(calls_, 1);  // the gang asks for the same
  put("kai", "PodGroup", "g", R"({"minMember":3})");
  EXPECT_EQ(said_.at("team/kai/g"), "size ? min 3");
  put("kai", "PodGroup", "g", R"({"minMember":5})", {}, "other");
  EXPECT_EQ(said_.size(), 2U);
  remove("kai", "PodGroup", "g");
  remove("kai", "PodGroup", "unknown");
  EXPECT_THAT(said_, testing::ElementsAre(testing::Key("other/kai/g")));
}

TEST_F(GangBooks, AJobSaysMoreThanThePodGroupThatItOwns) {
  const codec::OwnerName job{"kubeflow.org", "PyTorchJob", "bert"};
  put("volcano", "PodGroup", "bert",
      R"({"minMember":3,"networkTopology":{"highestTierAllowed":1}})", job);
  EXPECT_EQ(said_.at("team/volcano/bert"), "size ? min 3 (in tier:1)");
  put("trainer", "PyTorchJob", "bert",
      R"({"pytorchReplicaSpecs":{"Master":{},"Worker":{"replicas":3}}})");
  EXPECT_EQ(said_.at("team/volcano/bert"), "size 4 min 3 (in tier:1); master ?..1; worker ?..3");
  EXPECT_EQ(said_.at("team/trainer/bert"), "size 4 min ?; master ?..1; worker ?..3");
  remove("trainer", "PyTorchJob", "bert");
  EXPECT_EQ(said_.at("team/volcano/bert"), "size ? min 3 (in tier:1)");
  EXPECT_EQ(said_.count("team/trainer/bert"), 0U);
}

TEST_F(GangBooks, TheRolesOfAJobAreNotCutToThoseOfItsPodGroup) {
  put("volcano", "PodGroup", "bert", R"({"minMember":3,"minTaskMember":{"worker":2}})",
      {"kubeflow.org", "TFJob", "bert"});
  EXPECT_EQ(said_.at("team/volcano/bert"), "size ? min 3; worker 2..?");
  put("trainer", "TFJob", "bert", R"({"tfReplicaSpecs":{"PS":{},"Worker":{"replicas":3}}})");
  EXPECT_EQ(said_.at("team/volcano/bert"), "size 4 min 3; ps ?..1; worker 2..3");
}

TEST_F(GangBooks, AVolcanoJobIsFoundByTheOwnerOfItsPodGroup) {
  put("volcano", "Job", "train", R"({"tasks":[{"name":"w","replicas":4,"minAvailable":2}]})");
  put("volcano", "PodGroup", "train-7c9", R"({"minMember":2,"minTaskMember":{"w":2}})",
      {"batch.volcano.sh", "Job", "train"});
  EXPECT_EQ(said_.at("team/volcano/train-7c9"), "size 4 min 2; w 2..4");
  // a batch Job of that name is another object
  put("job", "Job", "train", R"({"completionMode":"Indexed","completions":9,"parallelism":9})");
  EXPECT_EQ(said_.at("team/volcano/train-7c9"), "size 4 min 2; w 2..4");
}

TEST_F(GangBooks, AWorkloadAddsToTheJobThatItIsFor) {
  put("kueue", "Workload", "job-x-1f",
      R"({"podSets":[{"count":4,"topologyRequest":{"required":"rack"}}]})", {"batch", "Job", "x"});
  EXPECT_EQ(said_.at("team/job/x"), "size 4 min ? (in rack each)");
  put("job", "Job", "x", R"({"completionMode":"Indexed","completions":4,"parallelism":4})");
  EXPECT_EQ(said_.at("team/job/x"), "size 4 min ? (in rack each)");
  remove("kueue", "Workload", "job-x-1f");
  EXPECT_EQ(said_.at("team/job/x"), "size 4 min ?");
}

TEST_F(GangBooks, AnOwnerOfSeveralGangsSaysNothingAboutOne) {
  put("lws", "LeaderWorkerSet", "s", R"({"replicas":2,"leaderWorkerTemplate":{"size":4}})");
  put("volcano", "PodGroup", "s-0", R"({"minMember":4})",
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "s"});
  EXPECT_EQ(said_.at("team/lws/s/1"), "size 4 min ?");
  EXPECT_EQ(said_.at("team/volcano/s-0"), "size ? min 4");
  put("lws", "LeaderWorkerSet", "s", R"({"replicas":1,"leaderWorkerTemplate":{"size":4}})");
  EXPECT_EQ(said_.count("team/lws/s/1"), 0U);
  EXPECT_EQ(said_.at("team/volcano/s-0"), "size 4 min 4");
}

TEST_F(GangBooks, TooManyGangsAreNotTaken) {
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(put("kai", "PodGroup", name, "{}"));
  EXPECT_FALSE(put("lws", "LeaderWorkerSet", "s", R"({"replicas":2})"));
  EXPECT_TRUE(put("lws", "LeaderWorkerSet", "s", R"({"replicas":1})"));
  EXPECT_EQ(book_.gangs(), 4U);
  EXPECT_FALSE(put("lws", "LeaderWorkerSet", "s", R"({"replicas":3})"));
  EXPECT_EQ(said_.count("team/lws/s/0"), 0U);
  EXPECT_EQ(book_.gangs(), 3U);
}

}  // namespace
}  // namespace chipweave::sched
