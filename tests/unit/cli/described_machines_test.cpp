// What `place` and `topo show` print for published descriptions of real machines. These are not in
// the repository: skipped where they are absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "cli/place/chip_use.hpp"
#include "cli/render_topology.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"
#include "common/io/files.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipSet;
using domain::NodeTopology;
using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

std::vector<std::string> described_machines() {
  std::vector<std::string> out;
  for (const char* folder : {"nccl-xml", "hwloc", "kfd", "nvidia-smi"}) {
    std::error_code failed;
    const auto path = chipweave::test::shared_data_path(std::string("topologies/") + folder);
    for (const auto& entry : std::filesystem::directory_iterator(path, failed))
      out.push_back(entry.path().string());
  }
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::directory_iterator(chipweave::test::shared_data_path("ascend"), failed)) {
    if (entry.path().filename().string().starts_with("rt_npu_smi_topo_"))
      out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

DescribedHost host_of(const codec::ImportedTopology& machine) {
  return {machine.host, machine.cpu_ranges.empty(), false};
}

std::string variable(const ChipUse& use, const std::string& name) {
  for (const auto& [key, value] : use.environment) {
    if (key == name) return value;
  }
  return "";
}

void expect_near(const ChipUse& use, const NodeTopology& topology) {
  for (const UsedChip& chip : use.chips) {
    const auto slot = static_cast<std::size_t>(*topology.slot_of({chip.index}));
    domain::LinkKind best = domain::LinkKind::sys;
    for (const domain::Nic& nic : topology.nics()) best = std::min(best, nic.paths[slot]);
    EXPECT_EQ(chip.nics.empty(), best == domain::LinkKind::sys);
    for (const NearNic& nic : chip.nics) EXPECT_EQ(nic.path, best) << nic.name;
  }
}

// Nothing that the description does not say, and all chips once.
void expect_honest(const ChipUse& use, const codec::ImportedTopology& machine, int chips) {
  const NodeTopology& topology = machine.topology;
  EXPECT_EQ(use.chips.size(), static_cast<std::size_t>(chips));
  EXPECT_EQ(std::set<int>(use.ring.begin(), use.ring.end()).size(), use.chips.size());
  const domain::Vendor& vendor = domain::vendor_of(topology);
  EXPECT_EQ(use.environment.empty(), vendor.id == domain::VendorId::unknown);
  EXPECT_EQ(use.docker.empty(), vendor.id == domain::VendorId::unknown);
  if (!use.environment.empty()) {
    const std::string seen = variable(use, std::string(vendor.visible_devices));
    const std::vector<std::string_view> list = split(seen, ',');
    EXPECT_EQ(std::set<std::string_view>(list.begin(), list.end()).size(), use.chips.size())
        << seen;
  }
  std::set<std::string> names;
  for (const domain::Nic& nic : topology.nics()) names.insert(nic.name);
  const std::string adapters = variable(use, "NCCL_IB_HCA");
  if (!adapters.empty()) {
    EXPECT_EQ(adapters.front(), '=');
    for (const std::string_view name : split(std::string_view(adapters).substr(1), ','))
      EXPECT_THAT(names, Contains(std::string(name)));
  }
  const bool nodes = !use.numactl.empty() && use.numactl[0].starts_with("--cpunodebind=");
  EXPECT_FALSE(nodes && !machine.cpu_ranges.empty());
  expect_near(use, topology);
}

TEST(DescribedMachines, PlaceSaysNothingThatTheyDoNot) {
  const std::vector<std::string> machines = described_machines();
  if (machines.empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  std::size_t read = 0;
  for (const std::string& file : machines) {
    const auto machine = io::load_machine(file, {});
    if (!machine) continue;  // "not supported" is among the published texts
    ++read;
    SCOPED_TRACE(file);
    const NodeTopology& topology = machine->topology;
    for (const int chips :
         {1, (topology.chip_count() + 1) / 2, std::min(topology.chip_count(), 16)}) {
      const ChipUse use = chip_use(topology, ChipSet::first(chips), {}, host_of(*machine));
      expect_honest(use, *machine, chips);
    }
  }
  EXPECT_GE(read, 45U);
}

TEST(DescribedMachines, TopologyPagesHaveAllColumnsOfOneWidth) {
  const std::vector<std::string> machines = described_machines();
  if (machines.empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  for (const std::string& file : machines) {
    const auto machine = io::load_machine(file, {});
    if (!machine) continue;
    SCOPED_TRACE(file);
    const NodeTopology& topology = machine->topology;
    const TopologyMatrix matrix = topology_matrix(
        topology, {machine->host.cpus, machine->cpu_ranges.empty(), static_cast<std::size_t>(-1)});
    const std::vector<std::string_view> lines = split(matrix.text, '\n');
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(topology.chip_count()) + 2);
    const std::size_t columns = split_words(lines[0]).size();  // "CPU Affinity" has two words
    EXPECT_EQ(columns,
              static_cast<std::size_t>(topology.chip_count()) + topology.nics().size() + 4);
    EXPECT_TRUE(lines[0].ends_with("CPU Affinity  NUMA Affinity") ||
                lines[0].find("CPU Affinity") != std::string_view::npos);
    for (std::size_t row = 1; row + 1 < lines.size(); ++row)
      EXPECT_EQ(split_words(lines[row]).size(), columns - 1) << lines[row];
  }
}

codec::ImportedTopology described(const std::string& name) {
  auto out = io::load_machine(chipweave::test::shared_data_path(name), {});
  return out ? *std::move(out) : codec::ImportedTopology{};
}

TEST(DescribedMachines, KnownOnesAreRight) {
  if (described_machines().empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  // The file lists GPUs 3, 4, 1, 2, … by PCI address.
  const auto azure = described("topologies/nccl-xml/azure-ndv4-a100x8.xml");
  const ChipUse first = chip_use(azure.topology, {0, 2}, {}, host_of(azure));
  EXPECT_THAT(first.environment, Contains(Pair("CUDA_VISIBLE_DEVICES", "0,2")));
  EXPECT_EQ(variable(chip_use(azure.topology, {0}, {}, host_of(azure)), "CUDA_VISIBLE_DEVICES"),
            "2");
  EXPECT_EQ(variable(first, "NCCL_IB_HCA"), "") << "the file has no names of adapters";

  const auto oracle = described("topologies/nccl-xml/oci-h100x8-dump.xml");
  const ChipUse two = chip_use(oracle.topology, {2}, {}, host_of(oracle));
  EXPECT_EQ(variable(two, "NCCL_IB_HCA"), "=mlx5_5,mlx5_6");
  EXPECT_EQ(two.chips[0].cpus, "0-55,112-167");
  EXPECT_THAT(two.numactl, ElementsAre("--cpunodebind=0", "--membind=0"));

  const auto dgx = described("topologies/nvidia-smi/dgx1-v100x8-mlx5.txt");
  EXPECT_THAT(chip_use(dgx.topology, {4, 7}, {}, host_of(dgx)).numactl,
              ElementsAre("--physcpubind=20-39,60-79", "--localalloc"));

  const auto lassen = described("topologies/hwloc/lassen-power9-v100x4.xml");
  EXPECT_EQ(chip_use(lassen.topology, {0}, {}, host_of(lassen)).chips[0].cpus, "8-87");
  EXPECT_THAT(chip_use(lassen.topology, {3}, {}, host_of(lassen)).numactl,
              ElementsAre("--cpunodebind=8", "--membind=8"));

  const auto mi210 = described("topologies/kfd/mi210-xgmi-pcie.tar.gz");
  EXPECT_THAT(chip_use(mi210.topology, {0, 7}, {}, host_of(mi210)).docker,
              ElementsAre("--device", "/dev/kfd", "--device", "/dev/dri/renderD128", "--device",
                          "/dev/dri/renderD135", "--cpuset-mems", "0,1"));
}

}  // namespace
}  // namespace chipweave::cli
