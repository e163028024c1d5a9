// From the kubelet's answer to the ConfigMap that MindCluster's scheduler plugin reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/kubelet/pod_resources_client.hpp"
#include "node-agent/publish/node/compat_publisher.hpp"
#include "node-agent/reporting/chip_users.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/fakes/agent/mindcluster_reader.hpp"
#include "tests/fakes/agent/profile_states.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/agent_kubelet/fake_kubelet.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using testing::ElementsAre;

const std::string kDeviceInfo = "/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-n1";

TEST(PublishedChips, ThoseThatPodsHaveVanishFromTheListAndComeBack) {
  const io::TempFolder folder;
  FakeKubelet kubelet(folder.at("kubelet.sock"));
  PodList list;
  add_pod(list, "whole", "huawei.com/Ascend910", {"Ascend910-0", "Ascend910-1"});
  add_pod(list, "slice", "huawei.com/Ascend910-2c", {"Ascend910-2c-100-6"});
  kubelet.set_list(list);

  Journal<AllocatedDevices> allocated;
  LoopThread thread;
  PodResourcesOptions asking;
  asking.socket = folder.at("kubelet.sock");
  asking.resources = {"huawei.com/"};
  asking.gaps = {std::chrono::milliseconds(0), std::chrono::milliseconds(2),
                 std::chrono::milliseconds(2)};
  std::unique_ptr<PodResourcesClient> client;
  post_and_wait(thread.loop, [&] {
    client = std::make_unique<PodResourcesClient>(
        thread.loop, asking,
        PodResourcesEvents{[&](const AllocatedDevices& now) { allocated.add(now); }, nullptr});
    client->start();
  });

  ManualClock clock;
  FakeApi api{clock};
  CompatOptions options;
  options.node = "n1";
  options.mindcluster = true;
  CompatPublisher publisher(api, clock, options, {});
  const auto state = std::make_shared<const NodeState>(profile("ascend-910b-8"));
  publisher.want(state);
  publisher.start();
  publisher.publish_config_maps();
  const auto available = [&](std::size_t answer) {
    const auto devices = allocated.at(answer);
    publisher.in_use(chips_in_use(chip_users(*state, devices.value_or(AllocatedDevices()))));
    api.advance(std::chrono::seconds(12));
    const auto& data = api.objects[kDeviceInfo]["data"];
    return test::device_info_in(data["DeviceInfoCfg"].get<std::string>()).available;
  };
  EXPECT_THAT(available(0), testing::Optional(ElementsAre(2, 3, 4, 5, 7)));
  list.mutable_pod_resources()->RemoveLast();
  kubelet.set_list(list);
  EXPECT_THAT(available(1), testing::Optional(ElementsAre(2, 3, 4, 5, 6, 7)));
  kubelet.set_list({});
  EXPECT_THAT(available(2), testing::Optional(ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)));
  post_and_wait(thread.loop, [&] { client.reset(); });
}

}  // namespace
}  // namespace chipweave::agent
