#include "node-agent/publish/compat/node_labels.hpp"

#include <gtest/gtest.h>

#include "node-agent/publish/compat/label_value.hpp"
#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

NodeState h100() {
  NodeState out = chips("nvidia", "H100", 8, [](domain::Chip& chip) {
    chip.model = "NVIDIA H100 80GB HBM3";
    chip.memory_bytes = std::uint64_t{81559} << 20U;
  });
  out.facts = {{"driver", "550.54.15"},
               {"sm", "9.0"},
               {"fabric.clique", "7b968a6d-c8aa-45e1-9e70-5fdbd5cd8f4d.32766"},
               {"mig.capable", "true"}};
  return out;
}

TEST(NodeLabels, WhatIsInTheNode) {
  EXPECT_EQ(node_labels(profile("hgx-h100-8")),
            (codec::StringMap{{"chipweave.dev/vendor", "nvidia"},
                              {"chipweave.dev/topology", "nvswitch-8"},
                              {"chipweave.dev/chips", "8"}}));
}

TEST(NodeLabels, AnUnknownVendorHasNoLabel) {
  EXPECT_EQ(node_labels(chips("", "", 2)),
            (codec::StringMap{{"chipweave.dev/topology", "pcie-2"}, {"chipweave.dev/chips", "2"}}));
}

TEST(GfdLabels, AreThoseOfGpuFeatureDiscovery) {
  EXPECT_EQ(
      gfd_labels(h100()),
      (codec::StringMap{{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                        {"nvidia.com/gpu.count", "8"},
                        {"nvidia.com/gpu.memory", "81559"},
                        {"nvidia.com/gpu.family", "hopper"},
                        {"nvidia.com/gpu.compute.major", "9"},
                        {"nvidia.com/gpu.compute.minor", "0"},
                        {"nvidia.com/gpu.clique", "7b968a6d-c8aa-45e1-9e70-5fdbd5cd8f4d.32766"},
                        {"nvidia.com/cuda.driver-version.full", "550.54.15"},
                        {"nvidia.com/cuda.driver-version.major", "550"},
                        {"nvidia.com/cuda.driver-version.minor", "54"},
                        {"nvidia.com/cuda.driver-version.revision", "15"},
                        {"nvidia.com/mig.capable", "true"}}));
}

TEST(GfdLabels, OnlyWhatIsKnown) {
  EXPECT_EQ(gfd_labels(chips("nvidia", "A100", 4)),
            (codec::StringMap{{"nvidia.com/gpu.product", "A100"}, {"nvidia.com/gpu.count", "4"}}));
  EXPECT_TRUE(gfd_labels(profile("mi300x-8")).empty());
}

TEST(MetaxLabels, AreThoseOfItsOperator) {
  const NodeState known = chips(
      "metax", "C550", 8, [](domain::Chip& chip) { chip.memory_bytes = std::uint64_t{64} << 30U; });
  EXPECT_EQ(metax_labels(known), (codec::StringMap{{"metax-tech.com/gpu.installed", "true"},
                                                   {"metax-tech.com/gpu.product", "MXC550"},
                                                   {"metax-tech.com/gpu.family", "MXC"},
                                                   {"metax-tech.com/gpu.memory", "64GB"}}));
  EXPECT_EQ(metax_labels(profile("metax-c550-8"))["metax-tech.com/gpu.product"], "MXC550");
  const NodeState poorly = chips("metax", "MXC500-PL", 2);
  EXPECT_EQ(metax_labels(poorly)["metax-tech.com/gpu.product"], "MXC500-PL");
  EXPECT_FALSE(metax_labels(poorly).contains("metax-tech.com/gpu.memory"));
}

TEST(MetaxLabels, OnlyWhatIsKnown) {
  for (const char* model : {"", "9999:4000", "MetaX", "C", "MX"}) {
    EXPECT_EQ(metax_labels(chips("metax", model, 1)),
              (codec::StringMap{{"metax-tech.com/gpu.installed", "true"}}))
        << model;
  }
  EXPECT_TRUE(metax_labels(profile("hgx-h100-8")).empty());
}

TEST(GfdLabels, FamiliesByComputeCapability) {
  const std::map<std::string, std::string> families = {
      {"6.0", "pascal"}, {"7.0", "volta"},        {"7.5", "turing"},     {"8.0", "ampere"},
      {"8.6", "ampere"}, {"8.9", "ada-lovelace"}, {"10.0", "blackwell"}, {"12.0", "blackwell"}};
  for (const auto& [sm, family] : families) {
    NodeState machine = h100();
    machine.facts["sm"] = sm;
    EXPECT_EQ(gfd_labels(machine)["nvidia.com/gpu.family"], family) << sm;
  }
  for (const char* sm : {"99.0", "9", "9.x", "9.0.0", "", "-9.0", "99999999999999999999.0"}) {
    NodeState machine = h100();
    machine.facts["sm"] = sm;
    EXPECT_FALSE(gfd_labels(machine).contains("nvidia.com/gpu.family")) << sm;
  }
}

TEST(GfdLabels, HostileFactsBecomeValuesOrNothing) {
  const std::string nasty = "\n\"}, evil: {\xff" + std::string(300, '/') + "x";
  NodeState machine = chips("nvidia", nasty.substr(0, 8), 1);
  for (const char* name : {"driver", "sm", "fabric.clique", "mig.capable"}) {
    machine.facts[name] = nasty;
  }
  const codec::StringMap labels = gfd_labels(machine);
  EXPECT_FALSE(labels.empty());
  for (const auto& [key, value] : labels) EXPECT_TRUE(is_label_value(value)) << key << value;
  EXPECT_FALSE(labels.contains("nvidia.com/mig.capable"));
  EXPECT_FALSE(labels.contains("nvidia.com/cuda.driver-version.major"));
}

TEST(NfdFeatures, ALineEach) {
  EXPECT_EQ(nfd_features(node_labels(profile("hgx-h100-8"))),
            "chipweave.dev/chips=8\nchipweave.dev/topology=nvswitch-8\n"
            "chipweave.dev/vendor=nvidia\n");
}

}  // namespace
}  // namespace chipweave::agent
