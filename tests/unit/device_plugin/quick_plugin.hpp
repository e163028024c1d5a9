// QuickPluginTest — a plugin on a loop of its own that looks often and gives up late, and its
// kubelet.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/io/files.hpp"
#include "node-agent/device_plugin/plugin.hpp"
#include "tests/unit/device_plugin/fake_kubelet.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::device_plugin::test {

class QuickPluginTest : public testing::Test {
 public:
  ~QuickPluginTest() override { end_plugin(); }

 protected:
  using Ms = std::chrono::milliseconds;

  QuickPluginTest() {
    options_.node = kNode;
    options_.resource = kGpu;
    options_.folder = folder_.path();
    options_.pod_resources = folder_.at("pods.sock");
    options_.list_again = Ms(5);
    options_.look_every = Ms(10);
    options_.start_within = Ms(20'000);
    options_.list_within = Ms(20'000);
    options_.turn = {Ms(20'000), Ms(200)};
    options_.waits = {Ms(10), Ms(10'000)};
  }

  // events: without that of the gate, which goes to gate_.
  void start_plugin(PluginEvents events = {}) {
    events.gate = [this](bool open) { gate_.add(open); };
    post_and_wait(thread_.loop, [&] {
      plugin_ = std::make_unique<Plugin>(thread_.loop, options_, std::move(events));
      plugin_->machine(topology_);
      EXPECT_TRUE(plugin_->start().ok());
      plugin_->pods_listed();
    });
  }
  void end_plugin() {
    post_and_wait(thread_.loop, [this] { plugin_.reset(); });
  }
  void bind(const PodSpec& pod, const std::map<std::string, std::vector<int>>& parts,
            const std::string& phase = "Pending") {
    post_and_wait(thread_.loop,
                  [&] { plugin_->pod_seen(kube_pod(pod, note_of(pod, parts), phase)); });
  }
  // The pod has ended and was deleted.
  void remove(const PodSpec& pod) {
    kubelet_.remove(pod);
    post_and_wait(thread_.loop, [&] { plugin_->pod_gone(pod.key()); });
  }

  io::TempFolder folder_;
  PluginOptions options_;
  domain::NodeTopology topology_ = io::load_machine("hgx-v100-8")->topology;
  Journal<bool> gate_;
  LoopThread thread_;
  std::unique_ptr<Plugin> plugin_;
  FakeKubelet kubelet_{folder_.path()};
};

}  // namespace chipweave::device_plugin::test
