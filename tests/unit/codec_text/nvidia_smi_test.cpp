#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using domain::NodeTopology;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImportedTopology import_nvidia_text(std::string_view text, const ImportOptions& options = {}) {
  auto t = import_nvidia_smi(text, options);
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t).value();
}

std::string nvidia_smi_error(std::string_view text) {
  const auto t = import_nvidia_smi(text, {});
  return t.ok() ? "(no error)" : t.error().text();
}

std::vector<int> numas(const NodeTopology& t) {
  std::vector<int> out;
  for (const auto& chip : t.chips()) out.push_back(chip.numa);
  return out;
}

// Read manually from each file.
struct NvidiaExpected {
  int chips;
  std::size_t links;
  int link_lanes;
  int switch_lanes;  // 0: no switch
  std::vector<std::string> nics;
  std::vector<int> numa;
  std::map<LinkKind, int> host_paths;  // pairs by kind
};

const std::map<std::string, NvidiaExpected> kNvidiaFiles = {
    {"a100x8-nv12.txt",
     {8, 0, 0, 12, {}, {0, 0, 0, 0, 1, 1, 1, 1}, {{LinkKind::node, 12}, {LinkKind::sys, 16}}}},
    {"asus-esc8000a-rtx6000adax4.txt",
     {4,
      0,
      0,
      0,
      {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"},
      {0, 0, 1, 1},
      {{LinkKind::node, 2}, {LinkKind::sys, 4}}}},
    {"desktop-gtx1080tix2.txt", {2, 0, 0, 0, {}, {0, 0}, {{LinkKind::phb, 1}}}},
    // the NIC columns prove the paths behind the NV cells: PIX for pairs on a switch, PHB for other
    // pairs of a socket
    {"dgx1-v100x8-mlx5.txt",
     {8,
      16,
      24,
      0,
      {"mlx5_0", "mlx5_2", "mlx5_1", "mlx5_3"},
      {0, 0, 0, 0, 1, 1, 1, 1},
      {{LinkKind::pix, 4}, {LinkKind::phb, 8}, {LinkKind::sys, 16}}}},
    {"epyc-4gpu-allsys.txt",
     {4, 0, 0, 0, {"mlx5_0", "mlx5_1"}, {0, 0, 0, 0}, {{LinkKind::sys, 6}}}},
    {"h100x8-nv18-smt.txt",
     {8, 0, 0, 18, {}, {0, 0, 0, 0, 1, 1, 1, 1}, {{LinkKind::node, 12}, {LinkKind::sys, 16}}}},
    {"h100x8-nv18.txt",
     {8, 0, 0, 18, {}, {0, 0, 0, 0, 1, 1, 1, 1}, {{LinkKind::node, 12}, {LinkKind::sys, 16}}}},
    {"k80x4-node.txt", {4, 0, 0, 0, {}, {0, 0, 0, 0}, {{LinkKind::node, 6}}}},
    {"nv2-2gpu.txt", {2, 1, 2, 0, {}, {0, 0}, {{LinkKind::node, 1}}}},
    {"phb-2gpu.txt", {2, 0, 0, 0, {}, {0, 0}, {{LinkKind::phb, 1}}}},
    {"puget-wrx90-2gpu.txt", {2, 0, 0, 0, {"mlx5_0", "mlx5_1"}, {0, 0}, {{LinkKind::phb, 1}}}},
};

TEST(NvidiaSmi, EveryRealFile) {
  const std::set<std::string> names = shared_names("topologies/nvidia-smi", ".txt");
  if (names.empty()) GTEST_SKIP() << "no shared data";
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    ASSERT_EQ(kNvidiaFiles.count(name), 1U) << "add the new file to kNvidiaFiles";
    const NvidiaExpected& e = kNvidiaFiles.at(name);
    const std::string text = shared_file("topologies/nvidia-smi/" + name).value();
    EXPECT_TRUE(looks_like_nvidia_smi(text));
    EXPECT_FALSE(looks_like_npu_smi(text));
    EXPECT_FALSE(looks_like_rocm_smi(text));
    const ImportedTopology imported = import_nvidia_text(text);
    const NodeTopology& t = imported.topology;
    EXPECT_EQ(imported.format, "nvidia-smi");
    EXPECT_EQ(t.vendor(), "nvidia");
    EXPECT_EQ(t.chip_count(), e.chips);
    EXPECT_EQ(t.links().size(), e.links);
    int lanes = 0;
    for (const auto& l : t.links()) {
      lanes += l.lanes;
      EXPECT_EQ(l.kind, LinkKind::nvlink);
    }
    EXPECT_EQ(lanes, e.link_lanes);
    ASSERT_EQ(t.switches().size(), e.switch_lanes == 0 ? 0U : 1U);
    for (const auto& sw : t.switches()) {
      EXPECT_EQ(sw.members(), t.all());
      EXPECT_EQ(sw.kind, LinkKind::nvswitch);
      for (const auto& port : sw.ports) EXPECT_EQ(port.lanes, e.switch_lanes);
    }
    std::vector<std::string> nics;
    for (const auto& nic : t.nics()) nics.push_back(nic.name);
    EXPECT_EQ(nics, e.nics);
    EXPECT_EQ(numas(t), e.numa);
    std::map<LinkKind, int> paths;
    for (int a = 0; a < t.chip_count(); ++a) {
      for (int b = a + 1; b < t.chip_count(); ++b) ++paths[t.host_path(a, b)];
    }
    EXPECT_EQ(paths, e.host_paths);
  }
  EXPECT_EQ(names.size(), kNvidiaFiles.size());
}

TEST(NvidiaSmi, Dgx1LinkForLink) {
  const auto text = shared_file("topologies/nvidia-smi/dgx1-v100x8-mlx5.txt");
  if (!text) GTEST_SKIP() << "no shared data";
  const NodeTopology t = import_nvidia_text(*text, {"V100"}).topology;
  std::map<std::pair<int, int>, int> lanes;
  for (const auto& l : t.links()) {
    lanes[{l.a, l.b}] = l.lanes;
    EXPECT_EQ(l.gbps_per_lane, 20);
  }
  const std::map<std::pair<int, int>, int> expected = {
      {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{0, 4}, 2}, {{1, 2}, 2}, {{1, 3}, 1},
      {{1, 5}, 2}, {{2, 3}, 2}, {{2, 6}, 1}, {{3, 7}, 1}, {{4, 5}, 1}, {{4, 6}, 1},
      {{4, 7}, 2}, {{5, 6}, 2}, {{5, 7}, 1}, {{6, 7}, 2}};
  EXPECT_EQ(lanes, expected);
  EXPECT_EQ(t.host_path(2, 3), LinkKind::pix);
  EXPECT_EQ(t.host_path(0, 3), LinkKind::phb);
  EXPECT_EQ(t.host_path(3, 7), LinkKind::sys);
  const LinkKind pix = LinkKind::pix;
  const LinkKind phb = LinkKind::phb;
  const LinkKind sys = LinkKind::sys;
  EXPECT_THAT(t.nics()[1].paths, ElementsAre(sys, sys, sys, sys, pix, pix, phb, phb));
  EXPECT_THAT(t.nics()[2].paths, ElementsAre(phb, phb, pix, pix, sys, sys, sys, sys));
}

TEST(NvidiaSmi, RatesFollowTheModelOrTheLaneCount) {
  const std::string nv18 = "\tGPU0\tGPU1\nGPU0\tX\tNV18\nGPU1\tNV18\tX\n";
  const ImportedTopology assumed = import_nvidia_text(nv18);
  EXPECT_EQ(assumed.topology.link(0, 1)->gbps_per_lane, 20.6);
  EXPECT_THAT(assumed.warnings, ElementsAre(HasSubstr("H100")));
  const ImportedTopology named = import_nvidia_text(nv18, {"NVIDIA B200"});
  EXPECT_EQ(named.topology.link(0, 1)->gbps_per_lane, 40.1);
  EXPECT_TRUE(named.warnings.empty());
  EXPECT_EQ(
      import_nvidia_text("GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n").topology.link(0, 1)->gbps_per_lane,
      20);
}

std::string all_pairs(int n, const std::string& word) {
  std::string text = "\t";
  for (int i = 0; i < n; ++i) text += "GPU" + std::to_string(i) + "\t";
  text += "CPU Affinity\n";
  for (int i = 0; i < n; ++i) {
    text += "GPU" + std::to_string(i);
    for (int k = 0; k < n; ++k) text += "\t" + (i == k ? " X " : word);
    text += "\t0-3\n";
  }
  return text;
}

TEST(NvidiaSmi, MoreLanesThanAGpuHasMeanASwitch) {
  EXPECT_EQ(import_nvidia_text(all_pairs(16, "NV6")).topology.switches()[0].ports[15].lanes,
            6);                                                                        // DGX-2
  EXPECT_EQ(import_nvidia_text(all_pairs(4, "NV18")).topology.switches().size(), 1U);  // GB200 tray
  const NodeTopology mesh = import_nvidia_text(all_pairs(4, "NV4")).topology;  // HGX A100 4-GPU
  EXPECT_TRUE(mesh.switches().empty());
  EXPECT_EQ(mesh.links().size(), 6U);
  EXPECT_EQ(import_nvidia_text(all_pairs(2, "NV12")).topology.links().size(), 1U);
}

// all_pairs with the cells of one GPU replaced.
std::string all_pairs_but(int n, const std::string& word, int gpu, const std::string& other) {
  std::string text;
  std::istringstream lines(all_pairs(n, word));
  int row = -1;
  for (std::string line; std::getline(lines, line); ++row) {
    std::istringstream cells(line);
    int column = -1;
    for (std::string cell; std::getline(cells, cell, '\t'); ++column) {
      const bool its = row != column && row >= 0 && column >= 0 && column < n;
      if (column >= 0) text += '\t';
      text += its && (row == gpu || column == gpu) ? other : cell;
    }
    text += '\n';
  }
  return text;
}

TEST(NvidiaSmi, ASwitchStaysOneWhenAGpuHasLanesDownOrIsOffIt) {
  const ImportedTopology lane_down = import_nvidia_text(all_pairs_but(8, "NV12", 3, "NV11"));
  EXPECT_TRUE(lane_down.topology.links().empty());
  ASSERT_EQ(lane_down.topology.switches().size(), 1U);
  const auto& ports = lane_down.topology.switches()[0].ports;
  ASSERT_EQ(ports.size(), 8U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(ports[static_cast<std::size_t>(i)].lanes, i == 3 ? 11 : 12);
  const NodeTopology off = import_nvidia_text(all_pairs_but(8, "NV12", 3, "SYS")).topology;
  EXPECT_TRUE(off.links().empty());
  ASSERT_EQ(off.switches().size(), 1U);
  EXPECT_EQ(off.indices(off.switches()[0].members()), (std::vector<int>{0, 1, 2, 4, 5, 6, 7}));
  const NodeTopology hopper = import_nvidia_text(all_pairs_but(8, "NV18", 0, "NV17")).topology;
  EXPECT_EQ(hopper.switches()[0].gbps_per_lane, 20.6);
  EXPECT_EQ(hopper.switches()[0].ports[0].lanes, 17);
}

TEST(NvidiaSmi, MoreLanesThanAGpuHasThatNoSwitchExplainsAreRefused) {
  std::string text = all_pairs(4, "NV12");
  const auto replace = [&text](const std::string& row, int column) {
    std::size_t at = text.find("\n" + row) + 1;
    for (int i = 0; i < column + 1; ++i) at = text.find('\t', at) + 1;
    text.replace(at, 4, "NV10");
  };
  replace("GPU1", 2);
  replace("GPU2", 1);
  EXPECT_THAT(nvidia_smi_error(text), AllOf(HasSubstr("GPU0 shows 36 NVLink lanes"),
                                            HasSubstr("GPU1, GPU2 is NV10"), HasSubstr("NV12")));
}

TEST(NvidiaSmi, ToleratesWhatDriversAndPeopleAdd) {
  const NodeTopology t = import_nvidia_text(
                             "$ nvidia-smi topo -m\r\n\x1b[4m\tGPU0\tGPU3\tNIC0\tCPU "
                             "Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\r\n"
                             "GPU0\t X \tSOC\tPIX\t\t1\t\tN/A\r\n"
                             "  MIG 1g.5gb\tDevice 0\r\n"
                             "GPU3\tSOC\t X \tSYS\t4-7\t0\t\tN/A\r\n"
                             "NIC0\tPIX\tSYS\t X \t\t\r\n\r\nLegend:\r\n\r\n  X    = "
                             "Self\r\n\r\nNIC Legend:\r\n\r\n  NIC0: mlx5_7\r\n")
                             .topology;
  ASSERT_EQ(t.chip_count(), 2);
  EXPECT_EQ(t.chip(1).index.value, 3);
  EXPECT_EQ(t.host_path(0, 1), LinkKind::sys);
  EXPECT_EQ(numas(t),
            (std::vector<int>{1, 0}));  // the empty CPU Affinity does not shift the columns
  EXPECT_EQ(t.nics()[0].name, "mlx5_7");
  EXPECT_EQ(t.nics()[0].paths[0], LinkKind::pix);
}

TEST(NvidiaSmi, AlignedBlanksWithAnEmptyCpuAffinity) {
  const NodeTopology t = import_nvidia_text(
                             "        GPU0    GPU1    CPU Affinity    NUMA Affinity\n"
                             "GPU0     X      PHB                     1\n"
                             "GPU1    PHB      X      0-3             0\n")
                             .topology;
  EXPECT_EQ(numas(t), (std::vector<int>{1, 0}));
}

TEST(NvidiaSmi, OneGpuIsAMachine) {
  EXPECT_EQ(import_nvidia_text("\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n").topology.chip_count(), 1);
}

TEST(NvidiaSmi, ASecondMatrixIsMentioned) {
  const ImportedTopology t = import_nvidia_text(all_pairs(2, "PIX") + "\n" + all_pairs(4, "SYS"));
  EXPECT_EQ(t.topology.chip_count(), 2);
  EXPECT_THAT(t.warnings, Contains(HasSubstr("2 matrices")));
}

TEST(NvidiaSmi, BadInputsAreNamedByLine) {
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tPIX\tX\n"),
              AllOf(HasSubstr("line 2 has NV1 for GPU0, GPU1"),
                    HasSubstr("line 3 has PIX for GPU1, GPU0")));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tNV1\n"),
              AllOf(HasSubstr("no row for GPU1"), HasSubstr("cut off")));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV1\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("cut off")));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\tGPU0\nGPU0\tX\tNV1\tX\n"),
              HasSubstr("duplicate column \"GPU0\""));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n"),
              HasSubstr("duplicate row of GPU0"));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tFOO\n"),
              AllOf(HasSubstr("line 2: cell GPU0, GPU1"), HasSubstr("FOO")));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tX\nGPU1\tX\tX\n"),
              HasSubstr("X means the chip itself"));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tPIX\tPIX\n"), HasSubstr("expected X"));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tNV0\nGPU1\tNV0\tX\n"), HasSubstr("NV0"));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tmlx5_0\nGPU0\tX\tNV1\nmlx5_0\tNV1\tX\n"),
              HasSubstr("expected a host path, got NV1"));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\nGPU0\tX\t0-3\t1\n"), HasSubstr("more cells"));
  EXPECT_THAT(nvidia_smi_error(all_pairs(65, "SYS")), HasSubstr("65 chips, at most 64"));
  EXPECT_THAT(nvidia_smi_error(all_pairs(400, "SYS")), HasSubstr("400 columns"));
  EXPECT_THAT(nvidia_smi_error("nothing of the kind"), HasSubstr("no matrix"));
  EXPECT_THAT(nvidia_smi_error(std::string("\x7f"
                                           "ELF\0\0\0",
                                           7)),
              HasSubstr("no matrix"));
  EXPECT_THAT(nvidia_smi_error(""), HasSubstr("no matrix"));
}

TEST(NvidiaSmi, EveryCutOfARealFileIsAnErrorOrTheSameMachine) {
  const auto text = shared_file("topologies/nvidia-smi/dgx1-v100x8-mlx5.txt");
  if (!text) GTEST_SKIP() << "no shared data";
  const std::string whole = export_topology_json(import_nvidia_text(*text).topology);
  const std::size_t last_row = text->find("\nGPU7\t") + 1;
  const std::size_t end_of_gpus = text->find('\n', last_row);
  for (std::size_t n = 0; n < last_row; ++n) {
    EXPECT_FALSE(import_nvidia_smi(text->substr(0, n), {}).ok()) << n;
  }
  EXPECT_EQ(export_topology_json(import_nvidia_text(text->substr(0, end_of_gpus)).topology), whole);
}

TEST(NvidiaSmi, HugeInputsAreRefusedAtOnce) {
  const auto t = import_nvidia_smi(std::string(100U << 20U, ' '), {});
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.error().code, Errc::limit_exceeded);
  EXPECT_EQ(import_nvidia_smi(std::string(200000, '\n'), {}).error().code, Errc::limit_exceeded);
  EXPECT_FALSE(looks_like_nvidia_smi(std::string(100U << 20U, ' ')));
}

TEST(NvidiaSmi, WhatNoColumnHoldsIsAnError) {
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1\nGPU0\tX\tPIX\nGPU1\tPIX\tX\nGPU2\tPIX\tPIX\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("\"GPU2\" has no column")));
  EXPECT_THAT(
      nvidia_smi_error("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tPIX\tNV4\nGPU1\tPIX\tX\t0-3\n"),
      AllOf(HasSubstr("line 2"), HasSubstr("\"NV4\" where")));
  EXPECT_THAT(nvidia_smi_error("\tGPU0\tGPU1000000\nGPU0\tX\tPIX\nGPU1000000\tPIX\tX\n"),
              HasSubstr("\"GPU1000000\" is too large"));
}

}  // namespace
}  // namespace chipweave::codec
