// Volcano's verbs in a cluster where pods end slowly.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/server/volcano_extender_handler.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;

class VolcanoPreempts : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.api.settle();
    for (const char* name : {"v-0", "v-1"}) {
      world_.create(name, 4);
      world_.api.settle();
      world_.bind(name, "n1");
      world_.api.settle();
    }
    world_.create("p", 4);
    world_.api.settle();
    handler_ = std::make_unique<VolcanoExtenderHandler>(*world_.scheduler, world_.resources, 20);
  }
  // Without a reason: it fits. idle: GPUs that Volcano counts as free on the node.
  std::string predicate(const std::string& name, int idle) {
    const ServerPod& pod = world_.pod(name);
    const Json task = {{"UID", pod.uid}, {"Name", name}, {"Namespace", "ns"}, {"Status", 1}};
    const Json node = {{"Name", "n1"},
                       {"Idle", {{"ScalarResources", {{"nvidia.com/gpu", idle * 1000}}}}}};
    std::string body = Json{{"task", task}, {"node", node}}.dump();
    const http::Response reply = handler_->predicate(body);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body).value("status", "");
  }

  KubeWorld world_;
  std::unique_ptr<VolcanoExtenderHandler> handler_;
};

TEST_F(VolcanoPreempts, AChosenNodeStaysGoodWhileItsVictimsEnd) {
  EXPECT_EQ(predicate("p", 0), "not enough free chips");
  world_.api.begin_end("ns/v-0");
  world_.api.settle();
  EXPECT_EQ(predicate("p", 0), "") << "it may wait here for chips that are being released";
  EXPECT_EQ(predicate("p", 4), "not enough free chips") << "but it cannot be bound yet";
  EXPECT_EQ(world_.held("v-0").size(), 4U) << "until it is gone";
  world_.create("big", 6);
  world_.api.settle();
  EXPECT_EQ(predicate("big", 0), "not enough free chips") << "nor would it fit then";
  world_.api.remove("ns/v-0");
  world_.api.settle();
  EXPECT_EQ(predicate("p", 4), "");
}

}  // namespace
}  // namespace chipweave::sched::test
