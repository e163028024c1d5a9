// What it costs that nothing makes the kubelet give a pod its chips.
#include "common/domain/enforcement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using domain::Enforcement;
using ::testing::HasSubstr;
using ::testing::Not;

struct BoundPods final : Observer {
  void on(const Observation& seen) override {
    if (const auto* bound = std::get_if<PodBound>(&seen)) all.push_back(*bound);
  }
  std::vector<PodBound> all;
};

struct Enforced : ::testing::Test {
  Enforced() {
    observers.add(seen);
    cluster.set_listener(&scheduler.reconciler());
  }

  void node(const std::string& machine, std::optional<Enforcement> enforcement) {
    InventoryReport r;
    r.node = "n1";
    r.boot_id = "boot";
    r.sequence = 1;
    r.machine = machine;
    r.resources = {"nvidia.com/gpu"};
    r.topology = profile(machine);
    r.enforcement = enforcement;
    r.gate_open = true;
    scheduler.report(std::move(r));
  }
  const PodBound& bind(const std::string& name, int chips) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    const PodRequest request = (*cluster.add(pod, "{}"))->request;
    const std::vector<std::string_view> nodes{"n1"};
    scheduler.extender().filter(request, nodes);
    scheduler.extender().prioritize(request, nodes);
    scheduler.bindings().bind({request.key, request.uid, "n1"},
                              [](const Result<void>& r) { EXPECT_TRUE(r) << r.error().text(); });
    return seen.all.back();
  }
  Json explain(const std::string& name) {
    return Json::parse(scheduler.placements().explain(World::request(name, 1).key).value().json);
  }

  ManualClock clock;
  MemoryCluster cluster;
  BoundPods seen;
  Observers observers;
  Scheduler scheduler{clock, cluster, observers};
};

TEST_F(Enforced, ByNobodyCostsWhatAPickWithoutLinksCosts) {
  node("hgx-v100-8", Enforcement::none);
  const PodBound& pod = bind("p", 2);
  ASSERT_TRUE(pod.unenforced_gbps.has_value());
  EXPECT_LT(*pod.unenforced_gbps, pod.gbps);
  const Json said = explain("p");
  EXPECT_EQ(said["unenforced_gbps"], *pod.unenforced_gbps);
  EXPECT_THAT(said["summary"].get<std::string>(), HasSubstr("the kubelet picks the chips itself"));
}

TEST_F(Enforced, ByNobodyCostsNothingWhereAllChipsAreTaken) {
  node("hgx-v100-8", std::nullopt);
  EXPECT_FALSE(bind("all", 8).unenforced_gbps);
}

TEST_F(Enforced, ByNobodyCostsNothingWhereAllLinksAreEqual) {
  node("hgx-h100-8", Enforcement::none);
  EXPECT_FALSE(bind("p", 2).unenforced_gbps);
  EXPECT_THAT(explain("p")["summary"].get<std::string>(), Not(HasSubstr("the kubelet picks")));
}

TEST_F(Enforced, ByTheDevicePluginCostsNothing) {
  node("hgx-v100-8", Enforcement::device_plugin);
  EXPECT_FALSE(bind("p", 2).unenforced_gbps);
}

TEST_F(Enforced, ByAnnotationsOfTheVendorCostsNothing) {
  node("hgx-v100-8", Enforcement::vendor_annotations);
  EXPECT_FALSE(bind("p", 2).unenforced_gbps);
}

}  // namespace
}  // namespace chipweave::sched::test
