// DeskTest — a desk, and a kubelet that asks it for chips: no sockets, no clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/io/files.hpp"
#include "common/solver/chips/machine.hpp"
#include "node-agent/device_plugin/core/desk.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin::test {

inline DevicesPtr devices_of(const domain::NodeTopology& topology) {
  return std::make_shared<const Devices>(topology, std::make_shared<solver::Machine>(topology));
}

inline DevicesPtr machine_of(const std::string& profile) {
  auto loaded = io::load_machine(profile);
  EXPECT_TRUE(loaded.ok());
  return devices_of(loaded->topology);
}

inline PodSpec pod_of(const std::string& name, int count, const std::string& uid = "") {
  return {name, uid.empty() ? "uid-" + name : uid, {{"main", count}}};
}

class DeskTest : public testing::Test {
 protected:
  using Ids = std::vector<std::string>;

  DeskTest() { use(OnMismatch::refuse); }

  void use(OnMismatch policy) {
    desk_ = std::make_unique<Desk>(kNode, kGpu, policy, true);
    desk_->machine(machine_of("hgx-v100-8"));
  }
  void bind(const PodSpec& pod, const std::map<std::string, std::vector<int>>& parts) {
    desk_->pod_seen(kube_pod(pod, note_of(pod, parts)));
  }
  // As a kubelet whose watch of us shows nothing more while it asks.
  bool admit(const PodSpec& pod) {
    return kubelet_.admit(pod, [&](const AskedPreference& asked) {
      ++asked_;
      const Listed list = kubelet_.list();
      desk_->learn(list);
      auto got = desk_->prefer(asked, list, true);
      waited_ = !got.has_value();
      if (!got) got = desk_->prefer(asked, list, false);
      by_ = got->choice.ok() ? std::optional(got->choice->by) : std::nullopt;
      why_ = got->choice.ok() ? got->choice->why_adopted : got->choice.error().text();
      return got->choice ? Result<Ids>(desk_->devices()->ids(got->choice->chips))
                         : got->choice.error();
    });
  }
  Ids has(const PodSpec& pod, const std::string& container = "main") {
    return kubelet_.of(pod.uid, container);
  }
  // A single question of the kubelet. nullopt: a pod is awaited; none: refused.
  std::optional<Ids> ask(int size, const Ids& must_include = {}, bool may_wait = true) {
    AskedPreference asked{{}, must_include, size};
    const auto free = kubelet_.available();
    asked.available.assign(free.begin(), free.end());
    const auto got = desk_->prefer(asked, kubelet_.list(), may_wait);
    if (!got) return std::nullopt;
    return got->choice ? desk_->devices()->ids(got->choice->chips) : Ids();
  }

  std::unique_ptr<Desk> desk_;
  SimKubelet kubelet_{8};
  int asked_ = 0;
  bool waited_ = false;
  std::optional<Choice::By> by_;
  std::string why_;
};

}  // namespace chipweave::device_plugin::test
