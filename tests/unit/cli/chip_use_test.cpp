#include "cli/place/chip_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/place/render_chip_use.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/unit/cli/profile.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::NodeTopology;
using test::profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

// Chips 0, 1, … with these PCI addresses; even ones on NUMA node 0.
domain::TopologyBuilder machine(const std::string& vendor, const std::vector<std::string>& pci) {
  domain::TopologyBuilder out;
  out.vendor = vendor;
  for (std::size_t i = 0; i < pci.size(); ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{static_cast<int>(i)};
    chip.pci = pci[i];
    chip.numa = static_cast<int>(i) % 2;
    out.add_chip(std::move(chip));
  }
  return out;
}

NodeTopology built(domain::TopologyBuilder&& builder) {
  auto out = std::move(builder).build();
  EXPECT_TRUE(out.ok()) << out.error().text();
  return *std::move(out);
}

TEST(ChipUse, OfAnNvidiaMachine) {
  auto builder = machine("nvidia", {"0000:0a:00.0", "0000:0b:00.0", "0000:8a:00.0"});
  builder.add_nic("mlx5_2", "0000:0c:00.0", 0, 25, {{ChipIndex{0}, LinkKind::pix}});
  builder.add_nic("mlx5_10", "", 1, 25,
                  {{ChipIndex{1}, LinkKind::pxb}, {ChipIndex{0}, LinkKind::phb}});
  builder.add_nic("mlx5_3", "", 0, 25,
                  {{ChipIndex{1}, LinkKind::pxb}, {ChipIndex{0}, LinkKind::pix}});
  builder.add_nic("eth0", "", 0, 25, {{ChipIndex{0}, LinkKind::pix}});
  DescribedHost host;
  host.facts.cpus = {{0, "0-7"}, {1, "8-15"}, {2, "0-7"}};
  const NodeTopology topology = built(std::move(builder));
  // All paths of chip 2 are SYS, which can also mean unknown.
  const ChipUse far = chip_use(topology, {2}, {}, host);
  EXPECT_THAT(far.chips[0].nics, IsEmpty());
  EXPECT_THAT(far.environment, testing::SizeIs(2));
  const ChipUse use = chip_use(topology, {0, 1}, {}, host);
  EXPECT_THAT(use.environment, ElementsAre(Pair("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
                                           Pair("CUDA_VISIBLE_DEVICES", "0,1"),
                                           Pair("NCCL_IB_HCA", "=mlx5_2,mlx5_3,mlx5_10")));
  EXPECT_THAT(use.numactl, ElementsAre("--cpunodebind=0,1", "--membind=0,1"));
  EXPECT_THAT(use.docker,
              ElementsAre("--gpus", "\"device=0,1\"", "--cpuset-cpus", "0-7,8-15", "--cpuset-mems",
                          "0,1", "--env", "NCCL_IB_HCA==mlx5_2,mlx5_3,mlx5_10"));
  EXPECT_THAT(use.ring, ElementsAre(0, 1));
  EXPECT_THAT(use.notes, IsEmpty());
  EXPECT_EQ(render_chip_use(use),
            "Ring order: 0,1\n"
            "Environment: CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1\n"
            "  NCCL_IB_HCA==mlx5_2,mlx5_3,mlx5_10\n"
            "CPU binding: numactl --cpunodebind=0,1 --membind=0,1\n"
            "CHIP  PCI           NUMA  CPUS  NEAREST NICS\n"
            "0     0000:0a:00.0  0     0-7   mlx5_2, mlx5_3, eth0 (PIX)\n"
            "1     0000:0b:00.0  1     8-15  mlx5_10, mlx5_3 (PXB)\n");
  EXPECT_EQ(export_lines(use),
            "export CUDA_DEVICE_ORDER='PCI_BUS_ID'\n"
            "export CUDA_VISIBLE_DEVICES='0,1'\n"
            "export NCCL_IB_HCA='=mlx5_2,mlx5_3,mlx5_10'\n");
  EXPECT_EQ(docker_line(use),
            "--gpus '\"device=0,1\"' --cpuset-cpus 0-7,8-15 --cpuset-mems 0,1 --env "
            "NCCL_IB_HCA==mlx5_2,mlx5_3,mlx5_10\n");
}

// CUDA and nvidia-smi number by PCI address, some files by other orders.
TEST(ChipUse, NvidiaDevicesAreNumberedByPciAddress) {
  const NodeTopology swapped =
      built(machine("nvidia", {"0002:00:00.0", "0001:00:00.0", "0003:00:00.0"}));
  const ChipUse use = chip_use(swapped, {0, 2}, {}, {});
  EXPECT_THAT(use.environment, testing::Contains(Pair("CUDA_VISIBLE_DEVICES", "1,2")));
  EXPECT_EQ(use.docker[1], "\"device=1,2\"");
  EXPECT_THAT(use.notes, ElementsAre(HasSubstr("by PCI address")));
  EXPECT_EQ(use.chips[0].index, 0);
  EXPECT_THAT(chip_use(swapped, {2}, {}, {}).notes, IsEmpty());
  // ROCm does not.
  EXPECT_THAT(
      chip_use(built(machine("amd", {"0002:00:00.0", "0001:00:00.0"})), {0}, {}, {}).environment,
      ElementsAre(Pair("ROCR_VISIBLE_DEVICES", "0")));
}

TEST(ChipUse, OfAMachineThatTellsLittle) {
  const ChipUse use = chip_use(built(machine("nvidia", {"", ""})), {0, 1}, {}, {{}, false, false});
  EXPECT_THAT(use.environment, ElementsAre(Pair("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
                                           Pair("CUDA_VISIBLE_DEVICES", "0,1")));
  EXPECT_THAT(use.numactl, IsEmpty());
  EXPECT_THAT(use.docker, ElementsAre("--gpus", "\"device=0,1\""));
  EXPECT_EQ(use.chips[0].numa, -1);
  EXPECT_THAT(render_chip_use(use), Not(HasSubstr("CPU")));
}

TEST(ChipUse, CpusBindWhereNumaNodesAreNotStated) {
  const ChipUse use = chip_use(built(machine("ascend", {"", ""})), {0, 1}, {},
                               {{{{0, "144-167"}, {1, "0-23"}}, {}}, false, false});
  EXPECT_THAT(use.numactl, ElementsAre("--physcpubind=0-23,144-167", "--localalloc"));
}

TEST(ChipUse, AmdContainersGetTheRenderNodesThatAreKnown) {
  const NodeTopology amd = built(machine("amd", {"", "", ""}));
  const ChipUse known = chip_use(amd, {0, 2}, {}, {{{}, {{0, 128}, {1, 129}, {2, 136}}}, false});
  EXPECT_THAT(known.docker, ElementsAre("--device", "/dev/kfd", "--device", "/dev/dri/renderD128",
                                        "--device", "/dev/dri/renderD136"));
  EXPECT_THAT(known.docker_notes, IsEmpty());
  const ChipUse unknown = chip_use(amd, {0, 2}, {}, {{}, false});
  EXPECT_THAT(unknown.docker, ElementsAre("--device", "/dev/kfd", "--device", "/dev/dri", "--env",
                                          "ROCR_VISIBLE_DEVICES=0,2"));
  EXPECT_THAT(unknown.docker_notes, ElementsAre(HasSubstr("can open all GPUs")));
}

TEST(ChipUse, NumbersOfRocmSmiAreDoubtful) {
  const NodeTopology amd = built(machine("amd", {"", ""}));
  EXPECT_THAT(chip_use(amd, {0}, {}, {{{}, {}, true}}).notes,
              ElementsAre(HasSubstr("another order than rocm-smi")));
  EXPECT_THAT(chip_use(amd, {0}, {}, {}).notes, IsEmpty());
  EXPECT_THAT(chip_use(built(machine("nvidia", {"", ""})), {0}, {}, {{{}, {}, true}}).notes,
              IsEmpty());
}

// The runtime counts logical ids, ascending only; the container runtime physical ones.
TEST(ChipUse, AscendHasAnIdForProcessesAndOneForContainers) {
  domain::TopologyBuilder builder;
  builder.vendor = "ascend";
  for (int i = 0; i < 2; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.logical_id = 5 - i;
    chip.physical_id = 8 + i;
    builder.add_chip(std::move(chip));
  }
  const ChipUse use = chip_use(built(std::move(builder)), {0, 1}, {}, {});
  EXPECT_THAT(use.environment, ElementsAre(Pair("ASCEND_RT_VISIBLE_DEVICES", "4,5")));
  EXPECT_THAT(use.docker, ElementsAre("--env", "ASCEND_VISIBLE_DEVICES=8,9"));
}

TEST(ChipUse, OtherVendorsGetWhatIsKnownOfThem) {
  const ChipUse metax = chip_use(built(machine("metax", {"", ""})), {1}, {}, {});
  EXPECT_THAT(metax.environment, ElementsAre(Pair("MACA_VISIBLE_DEVICES", "1")));
  EXPECT_THAT(metax.docker, IsEmpty());
  const ChipUse unknown = chip_use(built(machine("mixed", {"", ""})), {1}, {}, {});
  EXPECT_THAT(unknown.environment, IsEmpty());
  EXPECT_THAT(unknown.docker, IsEmpty());
  EXPECT_THAT(unknown.notes, ElementsAre(HasSubstr("vendor of the chips is unknown")));
}

TEST(ChipUse, AdaptersOfAProfileAreThoseOfNoMachine) {
  const ChipUse use = chip_use(profile("hgx-v100-8"), {0, 1, 2, 3}, {}, {{}, true, true});
  EXPECT_THAT(use.environment, Not(testing::Contains(Pair("NCCL_IB_HCA", testing::_))));
  EXPECT_THAT(use.docker, ElementsAre("--gpus", "\"device=0,1,2,3\""));
  EXPECT_THAT(use.notes, ElementsAre(HasSubstr("those of the profile")));
  EXPECT_THAT(use.chips[2].nics, testing::SizeIs(1));
  EXPECT_EQ(use.chips[2].nics[0].name, "mlx5_1");
}

// Two lanes each: 0-3, 1-2, 2-3, 0-4, …; one lane: 0-1.
TEST(ChipUse, TheRingTakesTheWidestHops) {
  const NodeTopology dgx = profile("hgx-v100-8");
  EXPECT_THAT(chip_use(dgx, {0, 4, 5, 1}, {}, {}).ring, ElementsAre(0, 1, 5, 4));
  // With the chips that the job holds, as `gbps` counts them.
  EXPECT_THAT(chip_use(dgx, {0, 4}, {1, 5}, {}).ring, ElementsAre(0, 1, 5, 4));
}

TEST(ChipUse, JsonHasAllOfIt) {
  auto builder = machine("nvidia", {"0000:0a:00.0", "0000:0b:00.0"});
  builder.add_nic("mlx5_0", "0000:0c:00.0", 0, 25, {{ChipIndex{0}, LinkKind::pix}});
  DescribedHost host;
  host.facts.cpus = {{0, "0-7"}};
  const std::string text =
      "{" + chip_use_members(chip_use(built(std::move(builder)), {0}, {}, host)) + "}";
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
    "ring": [0],
    "environment": {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "0",
                    "NCCL_IB_HCA": "=mlx5_0"},
    "numactl": ["--cpunodebind=0", "--membind=0"],
    "docker": ["--gpus", "\"device=0\"", "--cpuset-cpus", "0-7", "--cpuset-mems", "0", "--env",
               "NCCL_IB_HCA==mlx5_0"],
    "devices": [{"chip": 0, "pci": "0000:0a:00.0", "numa": 0, "cpus": "0-7",
                 "nics": [{"name": "mlx5_0", "path": "PIX", "pci": "0000:0c:00.0"}]}]})"))
      << text;
}

// `eval` must not run what a file calls a device.
TEST(ChipUse, ValuesAreQuotedForTheShell) {
  ChipUse use;
  use.environment = {{"A", "it's; $(rm -rf /) `x` \\"}, {"B", ""}};
  EXPECT_EQ(export_lines(use), "export A='it'\\''s; $(rm -rf /) `x` \\'\nexport B=''\n");
  use.docker = {"--env", "A=b c"};
  EXPECT_EQ(docker_line(use), "--env 'A=b c'\n");
}

TEST(RdmaDevice, IsNoNetworkInterfaceAndNoAddress) {
  for (const char* name : {"mlx5_0", "mlx5_bond_0", "mlx4_1", "bnxt_re3", "rocep24s0f1", "irdma0",
                           "hns_0", "erdma_0"}) {
    EXPECT_TRUE(is_rdma_device(name)) << name;
  }
  for (const char* name : {"", "eth0", "enp3s0f0", "ib0", "ibp24s0", "hsi0", "NIC0", "net0",
                           "0000:0c:00.0", "mlx5_0,eth0", "mlx5_0;x", "rdmap16s27"}) {
    EXPECT_FALSE(is_rdma_device(name)) << name;
  }
}

}  // namespace
}  // namespace chipweave::cli
