#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using testing::HasSubstr;

struct File {
  const char* name;
  const char* model;
  std::size_t switches;
  double lane_gbps;
  std::size_t nics;
  int phb, sys;
  std::uint64_t memory_bytes;
};

constexpr File kFiles[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 1, 20.6, 8, 12, 16, 85899345920ULL},
    {"gb200", "NVIDIA GB200", 1, 40.1, 8, 4, 24, 206158430208ULL},
    {"l40s", "NVIDIA L40S", 0, 0, 0, 12, 16, 51539607552ULL},
};

class Profiles : public testing::TestWithParam<File> {};

TEST_P(Profiles, HoldWhatTheySay) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const File& want = GetParam();
  const std::string content = topology_file(std::string("nvml-mock/") + want.name + ".yaml");
  ASSERT_TRUE(looks_like_nvml_mock(content));
  const auto got = import_nvml_mock(content, {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  EXPECT_EQ(got->format, "nvml-mock");
  ASSERT_EQ(t.chip_count(), 8);
  EXPECT_EQ(t.vendor(), "nvidia");
  EXPECT_EQ(t.model(), want.model);
  EXPECT_TRUE(t.links().empty());
  ASSERT_EQ(t.switches().size(), want.switches);
  if (want.switches > 0) {
    EXPECT_EQ(t.switches()[0].gbps_per_lane, want.lane_gbps);
    ASSERT_EQ(t.switches()[0].ports.size(), 8U);
    for (const domain::SwitchPort& port : t.switches()[0].ports) EXPECT_EQ(port.lanes, 18);
  }
  ASSERT_EQ(t.nics().size(), want.nics);
  for (const domain::Nic& nic : t.nics()) EXPECT_EQ(nic.gbps, 50);  // rate_gbps 400
  EXPECT_EQ(pairs_of(t, LinkKind::phb), want.phb);
  EXPECT_EQ(pairs_of(t, LinkKind::sys), want.sys);
  EXPECT_EQ(t.chip(5).memory_bytes, want.memory_bytes);
}

INSTANTIATE_TEST_SUITE_P(All, Profiles, testing::ValuesIn(kFiles),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(NvmlMock, IdentitiesOfL40s) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const auto got = import_nvml_mock(topology_file("nvml-mock/l40s.yaml"), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->topology.chip(4).id, "GPU-14050000-0000-0000-0000-000000000004");
  EXPECT_EQ(got->topology.chip(4).pci, "0000:18:00.0");
  EXPECT_EQ(got->topology.chip(4).numa, 0);
  EXPECT_EQ(got->topology.chip(2).pci, "0000:b1:00.0");
  EXPECT_EQ(got->topology.chip(2).numa, 1);
  EXPECT_EQ(got->topology.host_path(0, 4), LinkKind::phb);  // 17 and 18, both on pci0000:00
  EXPECT_EQ(got->topology.host_bandwidth().pix, 24);
}

TEST(NvmlMock, LinksWithoutSwitchesHaveNoEnds) {
  const auto got = import_nvml_mock(
      "device_defaults: {name: X}\ndevices: [{index: 0}, {index: 3}]\nnvlink: {links_per_gpu: 4}\n",
      {});
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_TRUE(got->topology.switches().empty());
  EXPECT_EQ(got->topology.chip(1).index.value, 3);
  EXPECT_THAT(all_warnings(*got), HasSubstr("neither switches nor peers"));
}

TEST(NvmlMock, BadProfilesAreErrorsWithALine) {
  const auto error_of = [](const std::string& text) {
    const auto got = import_nvml_mock(text, {});
    return got.ok() ? "" : got.error().text();
  };
  EXPECT_THAT(error_of("devices:\n  - index: many\n"), HasSubstr("line 2: not a valid profile"));
  EXPECT_THAT(error_of("devices: [\n"), HasSubstr("not a valid profile"));
  EXPECT_THAT(error_of("devices: 4\n"), HasSubstr("no list \"devices\""));
  EXPECT_THAT(error_of(""), HasSubstr("no list \"devices\""));
  EXPECT_THAT(error_of("devices: [{index: 1}, {index: 1}]"), HasSubstr("two chips have index 1"));
  EXPECT_THAT(error_of("devices: [7]"), HasSubstr("a device must be a mapping"));
  EXPECT_THAT(error_of("devices: [{index: 0}]\nnvlink: {links_per_gpu: 999999}"),
              HasSubstr("links_per_gpu"));
  EXPECT_THAT(error_of(std::string(4000, '[')), HasSubstr("not a valid profile"));
  EXPECT_THAT(error_of(std::string(std::size_t{2} << 20U, ' ')), HasSubstr("bytes"));
}

TEST(NvmlMock, AliasBombIsHarmless) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
            "]\n";
  }
  const auto got = import_nvml_mock(text + "devices: *a39\n", {});
  EXPECT_FALSE(got.ok());
}

TEST(NvmlMock, SniffingIsNotFooled) {
  EXPECT_FALSE(looks_like_nvml_mock("GPU0 GPU1\nGPU0 X NV2\n"));
  EXPECT_FALSE(looks_like_nvml_mock("# device_defaults:\nkind: Pod\n"));
  EXPECT_FALSE(looks_like_nvml_mock("{\"devices\": []}"));
}

}  // namespace
}  // namespace chipweave::codec
