// Hostfiles from the pods that the API server shows, also when the program is killed in the middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/kube/gangs/hostfiles/pod_hosts.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

class WiredHostfiles : public testing::Test {
 protected:
  void SetUp() override {
    world_.kill();
    world_.shared->write_hostfiles = true;
    world_.start();
    for (const char* node : {"n1", "n2"}) world_.add_node(node, "hgx-h100-8");
  }
  // The API server has ConfigMaps in this namespace.
  void create(int index) {
    ServerPod pod;
    pod.ns = "chipweave-system";
    pod.name = "train-" + std::to_string(index);
    pod.resource = "nvidia.com/gpu";
    pod.chips = 8;
    pod.labels = {{"chipweave.dev/gang", "train"},
                  {"chipweave.dev/gang-size", "2"},
                  {"chipweave.dev/gang-index", std::to_string(index)}};
    pod.annotations = {{kHostfileAnnotation, "hosts"}};
    world_.api.create(std::move(pod));
  }
  // kube-scheduler asks for the first pod, which brings the plan.
  void plan() {
    world_.api.settle();
    const auto names = world_.all_nodes();
    const auto fit = fitting(*world_.scheduler,
                             world_.request(world_.api.pods.at("chipweave-system/train-0")), names);
    EXPECT_EQ(fit.size(), 1U);
  }
  std::optional<std::size_t> write() const {
    return world_.api.find([](const kube::Call& call) {
      return call.method == "POST" && call.target.ends_with("/configmaps");
    });
  }
  const std::map<std::string, Json>& maps() const { return world_.api.config_maps.all; }

  KubeWorld world_;
};

TEST_F(WiredHostfiles, SurviveAKillBetweenTheWriteAndItsAnswer) {
  create(0);
  create(1);
  plan();
  world_.tick();
  ASSERT_EQ(world_.api.waiting(), 1U) << "it is read first, once";
  world_.api.take(0, SimulatedApi::Fate::answered);
  ASSERT_TRUE(write());
  world_.api.take(*write(), SimulatedApi::Fate::lost_after);
  ASSERT_TRUE(maps().contains("hosts"));
  const Json made = maps().at("hosts");
  EXPECT_EQ(made["data"]["hostfile"], "train-0 slots=8\ntrain-1 slots=8\n");
  world_.restart();
  plan();
  world_.tick();
  world_.come_to_rest();
  EXPECT_EQ(maps().size(), 1U);
  EXPECT_EQ(maps().at("hosts"), made) << "the next process finds it as it should be";
}

TEST_F(WiredHostfiles, NothingIsWrittenWithoutTheSetting) {
  world_.kill();
  world_.shared->write_hostfiles = false;
  world_.start();
  create(0);
  create(1);
  plan();
  world_.tick();
  world_.come_to_rest();
  EXPECT_EQ(maps().size(), 0U);
}

TEST_F(WiredHostfiles, ARefusalIsAnEventOfTheGang) {
  world_.api.config_maps.refuse_writes = 403;
  create(0);
  create(1);
  plan();
  world_.tick();
  world_.come_to_rest();
  EXPECT_THAT(world_.api.events, testing::Contains("HostfileNotWritten"));
  EXPECT_THAT(world_.api.notes,
              testing::Contains(testing::HasSubstr(
                  "ConfigMap chipweave-system/hosts is not written: cannot read it: HTTP 403")));
}

}  // namespace
}  // namespace chipweave::sched::test
