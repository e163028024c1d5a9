#include "cli/render_topology.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/unit/cli/profile.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::LinkKind;
using test::profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A page without limits of width.
TopologyPage page_of(std::string title, std::vector<std::pair<int, double>> sizes = {}) {
  return {std::move(title), std::move(sizes), {{}, true, kUnlimited}};
}

TEST(RenderTopology, DgxOneAsPeopleKnowIt) {
  const std::string page = render_topology(
      profile("hgx-v100-8"), page_of("hgx-v100-8", {{1, 0}, {2, 40}, {4, 80}, {8, 120}}));
  EXPECT_EQ(page,
            "hgx-v100-8: nvidia V100-SXM2 (DGX-1V), 8 chips on 2 NUMA nodes, 16 NVLINK pairs, no "
            "switch, 4 NICs\n"
            "\n"
            "        GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7  NIC0  NIC1  NIC2  NIC3  "
            "CPU Affinity  NUMA Affinity\n"
            "GPU0    X     NV1   NV1   NV2   NV2   SYS   SYS   SYS   PIX   PHB   SYS   SYS   "
            "N/A           0\n"
            "GPU1    NV1   X     NV2   NV1   SYS   NV2   SYS   SYS   PIX   PHB   SYS   SYS   "
            "N/A           0\n"
            "GPU2    NV1   NV2   X     NV2   SYS   SYS   NV1   SYS   PHB   PIX   SYS   SYS   "
            "N/A           0\n"
            "GPU3    NV2   NV1   NV2   X     SYS   SYS   SYS   NV1   PHB   PIX   SYS   SYS   "
            "N/A           0\n"
            "GPU4    NV2   SYS   SYS   SYS   X     NV1   NV1   NV2   SYS   SYS   PIX   PHB   "
            "N/A           1\n"
            "GPU5    SYS   NV2   SYS   SYS   NV1   X     NV2   NV1   SYS   SYS   PIX   PHB   "
            "N/A           1\n"
            "GPU6    SYS   SYS   NV1   SYS   NV1   NV2   X     NV2   SYS   SYS   PHB   PIX   "
            "N/A           1\n"
            "GPU7    SYS   SYS   SYS   NV1   NV2   NV1   NV2   X     SYS   SYS   PHB   PIX   "
            "N/A           1\n"
            "\n"
            "  X = self, NV# = that many NVLink lanes, PIX = one PCIe bridge, PHB = PCIe host "
            "bridge, SYS =\n  between NUMA nodes\n"
            "\n"
            "GB/s one way, as a ring gets them: NVLINK 20 a lane; host paths PIX 10, PHB 10, SYS "
            "5\n"
            "Sizes a pod can ask for (best predicted busbw, GB/s): 1, 2 (40), 4 (80), 8 (120)\n"
            "  busbw = bus bandwidth of a ring all-reduce, as nccl-tests prints it\n"
            "Fast islands: 0-7\n"
            "\n"
            "NIC Legend:\n"
            "  NIC0: mlx5_0, NUMA 0, line rate 12.5 GB/s\n"
            "  NIC1: mlx5_1, NUMA 0, line rate 12.5 GB/s\n"
            "  NIC2: mlx5_2, NUMA 1, line rate 12.5 GB/s\n"
            "  NIC3: mlx5_3, NUMA 1, line rate 12.5 GB/s\n");
}

TEST(RenderTopology, AffinityIsWhatTheDescriptionSays) {
  TopologyPage page = page_of("x");
  page.matrix.cpus = {{0, "0-19,40-59"}, {1, "0-19,40-59"}};
  page.matrix.numa_stated = false;
  const std::string text = render_topology(profile("hgx-v100-8"), page);
  EXPECT_THAT(text, HasSubstr("  0-19,40-59    N/A\nGPU2"));
  EXPECT_THAT(text, HasSubstr("  N/A           N/A\nGPU4"));
  EXPECT_THAT(text, HasSubstr("8 chips at 2 ranges of CPUs,"));
}

TEST(RenderTopology, WidePagesHaveARowAChip) {
  TopologyPage page = page_of("x");
  EXPECT_THAT(render_topology(profile("hgx-v100-8"), page), Not(HasSubstr("HEALTH")));
  page.wide = true;
  EXPECT_THAT(render_topology(profile("hgx-v100-8"), page),
              HasSubstr("\nCHIP  ID  MODEL               PCI  MEMORY  HEALTH\n"
                        "0     -   V100-SXM2 (DGX-1V)  -         -  healthy\n"));
}

TEST(RenderTopology, TwoRingsOfAnAscend910A) {
  const std::string page = render_topology(profile("ascend-910a-8"), {"ascend-910a-8", {}});
  EXPECT_THAT(page, HasSubstr("        NPU0  NPU1  NPU2  NPU3  NPU4  NPU5  NPU6  NPU7  CPU "
                              "Affinity  NUMA Affinity\nNPU0    X     HCCS  HCCS  HCCS  "));
  EXPECT_THAT(page, HasSubstr("Fast islands: 0-3 | 4-7\n"));
  EXPECT_THAT(page, HasSubstr("HCCS = direct HCCS link"));
  EXPECT_THAT(page, Not(HasSubstr("HCCS_SW")));
}

TEST(RenderTopology, EveryProfileStaysWithinATerminalLine) {
  for (const profiles::Profile& one : profiles::all()) {
    const std::string page = render_topology(profile(one.name), {std::string(one.name), {}});
    std::size_t start = 0;
    while (start < page.size()) {
      const std::size_t end = page.find('\n', start);
      ASSERT_NE(end, std::string::npos);
      EXPECT_LE(end - start, kMaxColumns) << one.name << ": " << page.substr(start, end - start);
      EXPECT_TRUE(end == start || page[end - 1] != ' ') << one.name;
      start = end + 1;
    }
  }
}

TEST(Cell, SpeaksTheWordsOfEachVendor) {
  EXPECT_EQ(cell(profile("hgx-h100-8"), 0, 1), "NV18");
  EXPECT_EQ(cell(profile("ascend-a3-16"), 0, 1), "SIO");
  EXPECT_EQ(cell(profile("ascend-a3-16"), 0, 2), "HCCS_SW");
  EXPECT_EQ(cell(profile("mi250x-8"), 0, 1), "XGMI4");
  EXPECT_EQ(cell(profile("pcie-8"), 0, 7), "SYS");
  EXPECT_EQ(cell(profile("pcie-8"), 3, 3), "X");
}

TEST(Cell, LanesThatAreDownAreMarked) {
  domain::NodeTopology dgx = profile("hgx-v100-8");
  ASSERT_TRUE(dgx.take_down(0, 3, 1));
  EXPECT_EQ(cell(dgx, 0, 3), "NV1*");
  ASSERT_TRUE(dgx.take_down(0, 3, 1));
  EXPECT_EQ(cell(dgx, 0, 3), "PHB");
  ASSERT_TRUE(dgx.take_down(0, 4, 1));
  EXPECT_THAT(render_topology(dgx, {"x", {}}), HasSubstr("* = some"));
}

TEST(Islands, JoinOverLinksAndSwitchesThatAreUp) {
  domain::TopologyBuilder builder;
  for (int i = 0; i < 7; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i * 2};
    builder.add_chip(chip);
  }
  builder.add_link(ChipIndex{0}, ChipIndex{2}, LinkKind::nvlink, 1, 20.0);
  builder.add_link(ChipIndex{4}, ChipIndex{6}, LinkKind::nvlink, 1, 20.0);
  builder.add_link(ChipIndex{2}, ChipIndex{4}, LinkKind::nvlink, 1, 20.0, 1);  // down
  builder.add_switch("s", LinkKind::nvswitch,
                     {{ChipIndex{8}}, {ChipIndex{10}}, {ChipIndex{12}, 1, 1}}, 20.0);
  auto built = std::move(builder).build();
  ASSERT_TRUE(built.ok()) << built.error().text();
  EXPECT_THAT(islands(*built),
              ElementsAre(ChipSet{0, 1}, ChipSet{2, 3}, ChipSet{4, 5}, ChipSet{6}));
  EXPECT_THAT(render_topology(*built, {"x", {}}), HasSubstr("Fast islands: 0,2 | 4,6 | 8,10\n"));
}

}  // namespace
}  // namespace chipweave::cli
