// Partitioned packages: each partition is a chip. Tested on constructed trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "node-agent/probes/amd/amd_probe.hpp"
#include "tests/fakes/agent/amd_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Packages of `parts` partitions each, one package per NUMA node. KFD lists partition p as function
// p of its package's address; the bus has function 0 only.
class Partitions : public testing::Test, public AmdFolder {
 protected:
  Partitions() : probe_(options()) {}
  AmdOptions options() const {
    AmdOptions out;
    out.root = root();
    out.health_every = 1;
    return out;
  }
  static std::string address(int package, int part) {
    return "0000:" + std::to_string(10 + package) + ":00." + std::to_string(part);
  }
  void divide(int packages, int parts, const std::string& mode) {
    remove(nodes());
    for (int p = 0; p < packages; ++p) cpu(p);
    for (int p = 0; p < packages; ++p) {
      const std::string root_port = std::to_string(30 + p);
      if (!std::filesystem::exists(root() + bus(address(p, 0)))) {
        package("pci0000:" + root_port + "/0000:" + root_port + ":01.0/" + address(p, 0), p);
      }
      write(bus(address(p, 0)) + "/current_compute_partition", mode + "\n");
      for (int k = 0; k < parts; ++k) add_part(packages, parts, p, k);
    }
    generation(++generation_);
  }
  void add_part(int packages, int parts, int p, int k) const {
    const int first = packages + p * parts;
    FakeGpu part{first + k, address(p, k), 128 + p * parts + k, 0xa0U + static_cast<unsigned>(p)};
    part.memory_bytes = (std::uint64_t{192} << 30U) / static_cast<unsigned>(parts);
    gpu(part);
    to_cpu(first + k, p, 64000);
    // The large machine would need thousands of files, and its links do not matter here.
    for (int other = 0; other < parts && parts <= 4; ++other) {
      if (other != k) kfd_link(first + k, first + other, 11, 13, 0, 819200);
    }
  }

  AmdProbe probe_;
  int generation_ = 0;
};

TEST_F(Partitions, AreChipsOfOneBoard) {
  divide(2, 4, "QPX");
  ras(address(1, 0), "umc", "ue: 1\nce: 0\n");
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  const domain::NodeTopology& t = got->topology;
  ASSERT_EQ(t.chip_count(), 8);
  EXPECT_EQ(t.chip(0).id, "0x00000000000000a0");
  EXPECT_EQ(t.chip(3).id, "0x00000000000000a0-3");
  EXPECT_EQ(t.chip(5).pci, address(1, 1));
  EXPECT_EQ(t.chip(5).numa, 1);
  EXPECT_EQ(t.chip(0).memory_bytes, std::uint64_t{48} << 30U);
  EXPECT_EQ(t.host_path(4, 7), LinkKind::board);
  EXPECT_EQ(t.host_path(0, 7), LinkKind::sys);
  EXPECT_EQ(got->facts.at("compute-partition"), "QPX");
  std::vector<int> with_errors;
  for (const domain::Signal& s : got->signals) {
    if (s.code == "ras.umc.ue") with_errors.push_back(s.chip->value);
  }
  EXPECT_THAT(with_errors, ElementsAre(4, 5, 6, 7));  // the package does not report which
  EXPECT_THAT(got->warnings, IsEmpty());
}

TEST_F(Partitions, AnotherDivisionIsAnotherMachine) {
  divide(2, 4, "QPX");
  ASSERT_TRUE(probe_.discover());
  divide(2, 1, "SPX");
  EXPECT_TRUE(probe_.changes());
  const auto whole = probe_.discover();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->topology.chip_count(), 2);
  EXPECT_THAT(whole->signals, IsEmpty());
}

TEST_F(Partitions, APackageGoesAsAWhole) {
  divide(2, 4, "QPX");
  ASSERT_TRUE(probe_.discover());
  remove(bus(address(0, 0)));
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  std::vector<int> gone;
  for (const domain::Signal& s : got->signals) {
    if (s.code == "amd.gone") gone.push_back(s.chip->value);
  }
  EXPECT_THAT(gone, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(got->facts.at("compute-partition"), "QPX");
}

TEST_F(Partitions, AnotherDivisionIsAnotherMachineAlsoWithFewerPackages) {
  divide(2, 4, "QPX");
  ASSERT_TRUE(probe_.discover());
  divide(1, 1, "SPX");
  const auto whole = probe_.discover();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->topology.chip_count(), 1);
  EXPECT_THAT(whole->signals, IsEmpty());
}

TEST_F(Partitions, AMissingRenderNodeIsAWarning) {
  divide(1, 4, "QPX");
  std::filesystem::create_directories(root() + bus(address(0, 0)) + "/drm/renderD128");
  std::filesystem::create_directories(root() + "/sys/devices/platform/amdgpu_xcp_1/drm/renderD129");
  std::filesystem::create_directories(root() + "/sys/devices/platform/amdgpu_xcp.2/drm/renderD130");
  std::filesystem::create_directories(root() + "/sys/devices/platform/other/drm/renderD131");
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(got->warnings, SizeIs(1));
  EXPECT_THAT(got->warnings[0], HasSubstr("chip 3 has no render node renderD131"));
}

TEST_F(Partitions, SixtyFourAreAsManyAsThereMayBe) {
  divide(8, 8, "CPX");
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 64);
  EXPECT_EQ(got->topology.chip(63).pci, address(7, 7));
  divide(9, 8, "CPX");
  const auto more = probe_.discover();
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::agent
