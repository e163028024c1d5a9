// Chips that containers have under another resource's name.
#include "node-agent/device_plugin/core/held.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/files.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "node-agent/device_plugin/core/start_check.hpp"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin {
namespace {

using testing::HasSubstr;

class HeldByOthers : public testing::Test {
 protected:
  void see(const test::PodSpec& pod, const std::string& note, const std::string& phase) {
    others_.take(test::kube_pod(pod, note, phase));
  }
  void list(const std::string& pod, const std::string& container, std::vector<std::string> ids) {
    listed_.pods.push_back({"default/" + pod, {{container, {}, std::move(ids)}}});
  }
  ChipSet held() const { return held_by_others(listed_, others_, devices_); }
  static ChipSet chips(std::initializer_list<int> slots) {
    ChipSet out;
    for (const int slot : slots) out.insert(slot);
    return out;
  }

  solver::MachineCache machines_;
  domain::NodeTopology topology_ = io::load_machine("hgx-v100-8")->topology;
  Devices devices_{topology_, machines_.get(topology_)};
  PodBook others_{test::kNode, test::kGpu};
  Listed listed_;
};

const test::PodSpec kPlain{"a", "uid-a", {{"main", 2}}};
const test::PodSpec kWithInit{"a", "uid-a", {{"init", 4, true}, {"main", 1}}};

TEST_F(HeldByOthers, WhatIsListed) {
  EXPECT_EQ(held(), ChipSet());
  see(kPlain, note_of(kPlain, {{"", {2, 3}}}), "Running");
  list("a", "main", {"6", "7"});
  list("unseen", "main", {"1"});
  EXPECT_EQ(held(), chips({1, 6, 7})) << "the kubelet's books count, not the annotation";
}

TEST_F(HeldByOthers, DevicesThatThisMachineDoesNotHaveMayBeAny) {
  list("a", "main", {"GPU-of-another-plugin"});
  EXPECT_EQ(held(), topology_.all());
}

TEST_F(HeldByOthers, PodsThatAreNotListedWhole) {
  for (const char* phase : {"Pending", "Running"}) {
    see(kPlain, note_of(kPlain, {{"", {2, 3}}}), phase);
    EXPECT_EQ(held(), chips({2, 3})) << phase;
    see(kPlain, "", phase);
    EXPECT_EQ(held(), topology_.all()) << phase << " without a decision";
  }
  for (const char* phase : {"Succeeded", "Failed"}) {
    see(kPlain, "", phase);
    EXPECT_EQ(held(), ChipSet()) << phase;
  }
  see(kPlain, "", "Running");
  others_.drop("default/a");
  EXPECT_EQ(held(), ChipSet());
}

TEST_F(HeldByOthers, InitContainersAreNotListed) {
  list("a", "main", {"0"});
  see(kWithInit, note_of(kWithInit, {{"", {0, 1, 2, 3}}}), "Pending");
  EXPECT_EQ(held(), chips({0, 1, 2, 3}));
  see(kWithInit, note_of(kWithInit, {{"", {0, 1, 2, 3}}}), "Running");
  EXPECT_EQ(held(), chips({0})) << "it has ended";
}

TEST_F(HeldByOthers, NoContainerStartsWithSuchChips) {
  PodBook own(test::kNode, test::kGpu);
  own.take(test::kube_pod(kPlain, note_of(kPlain, {{"", {2, 3}}})));
  listed_.pods.push_back({"default/a", {{"main", {"2", "3"}}}});
  EXPECT_EQ(check_start({"2", "3"}, listed_, own, devices_, OnMismatch::adopt).verdict,
            StartCheck::Verdict::start);
  list("other", "main", {"3"});
  const StartCheck check = check_start({"2", "3"}, listed_, own, devices_, OnMismatch::adopt);
  EXPECT_EQ(check.verdict, StartCheck::Verdict::refuse);
  EXPECT_THAT(check.why, HasSubstr("default/other"));
}

TEST_F(HeldByOthers, ChipsAreTakenFromTheHealthyOnes) {
  const auto fewer = devices_.without(chips({0, 3}));
  EXPECT_EQ(fewer->healthy(), devices_.healthy() - chips({0, 3}));
  EXPECT_EQ(fewer->slot("3"), 3) << "they are still known";
  EXPECT_FALSE(offered(*fewer, true)[3].healthy);
}

}  // namespace
}  // namespace chipweave::device_plugin
