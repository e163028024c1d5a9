// A constructed tree of each AMD machine with a profile gives the profile's topology; recorded KFD
// trees give the same as the importer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "node-agent/probes/amd/amd_probe.hpp"
#include "tests/fakes/agent/amd_folder.hpp"
#include "tests/unit/codec_xml/shared_data.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

// Facts about a machine that its profile does not have.
struct Platform {
  std::string profile;
  int device_id;
  int gfx_version;
  int pcie_mbps;
  int dies_of_module;      // that share a PCIe switch with their NIC
  bool nic_behind_switch;  // a switch of its own, below theirs
};

std::string two_digits(int number) {
  return number < 10 ? "0" + std::to_string(number) : std::to_string(number);
}

class AmdProfiles : public testing::TestWithParam<Platform> {
 protected:
  AmdProfiles() {
    const profiles::Profile* found = profiles::find(GetParam().profile);
    if (found == nullptr) throw std::runtime_error("no such profile");
    profile_ = codec::import_topology_json(found->json, {}).value().topology;
  }

  // The PCIe switch of a module: its upstream port.
  static std::string switch_of(int module) {
    const std::string root = two_digits(10 + 10 * module);
    return "pci0000:" + root + "/0000:" + root + ":01.0/0000:" + two_digits(11 + 10 * module) +
           ":00.0/";
  }
  void write_chip(int i, int cpus) const {
    const int module = i / GetParam().dies_of_module;
    const std::string bus = two_digits(12 + 10 * module);
    const std::string die = std::to_string(i % GetParam().dies_of_module);
    const std::string address =
        "0000:" + two_digits(13 + 10 * module + i % GetParam().dies_of_module) + ":00.0";
    const int numa = profile_->chip(i).numa;
    machine_.package(switch_of(module) + "0000:" + bus + ":0" + die + ".0/" + address, numa,
                     GetParam().device_id);
    FakeGpu gpu{cpus + i, address, 128 + i, 0x1000U + static_cast<unsigned>(i)};
    gpu.device_id = GetParam().device_id;
    gpu.gfx_version = GetParam().gfx_version;
    machine_.gpu(gpu);
    machine_.to_cpu(cpus + i, numa, GetParam().pcie_mbps);
  }
  void write_nic(int module) const {
    const domain::Nic& nic = profile_->nics()[static_cast<std::size_t>(module)];
    std::string route = switch_of(module) + "0000:" + two_digits(12 + 10 * module) + ":08.0/";
    if (GetParam().nic_behind_switch) {
      route += "0000:" + two_digits(16 + 10 * module) +
               ":00.0/0000:" + two_digits(17 + 10 * module) + ":00.0/";
    }
    const std::string at =
        machine_.nic(route + "0000:" + two_digits(18 + 10 * module) + ":00.0", nic.name,
                     "eth" + std::to_string(module), 2 + module, nic.numa);
    machine_.write(at + "/infiniband/" + nic.name + "/ports/1/rate",
                   std::to_string(static_cast<int>(nic.gbps * 8)) + " Gb/sec (4X)\n");
  }
  void write_machine() const {
    int cpus = 0;
    for (const domain::Chip& chip : profile_->chips()) cpus = std::max(cpus, chip.numa + 1);
    for (int node = 0; node < cpus; ++node) machine_.cpu(node);
    for (int i = 0; i < profile_->chip_count(); ++i) write_chip(i, cpus);
    for (const domain::DirectLink& l : profile_->links()) {
      machine_.xgmi(cpus + l.a, cpus + l.b, l.lanes);
    }
    for (std::size_t k = 0; k < profile_->nics().size(); ++k) write_nic(static_cast<int>(k));
  }

  AmdFolder machine_;
  std::optional<NodeTopology> profile_;
};

TEST_P(AmdProfiles, ReadAsInTheProfile) {
  write_machine();
  AmdOptions options;
  options.root = machine_.root();
  const auto got = AmdProbe(options).discover();
  ASSERT_TRUE(got) << got.error().text();
  const NodeTopology& t = got->topology;
  EXPECT_EQ(t.vendor(), profile_->vendor());
  EXPECT_EQ(t.model(), profile_->model());
  EXPECT_EQ(t.rule().kind, profile_->rule().kind);
  EXPECT_EQ(t.rule().group_size, profile_->rule().group_size);
  ASSERT_EQ(t.links().size(), profile_->links().size());
  for (std::size_t i = 0; i < t.links().size(); ++i) {
    const domain::DirectLink& is = t.links()[i];
    const domain::DirectLink& should = profile_->links()[i];
    EXPECT_EQ(std::tie(is.a, is.b, is.kind, is.lanes, is.lanes_down, is.gbps_per_lane),
              std::tie(should.a, should.b, should.kind, should.lanes, should.lanes_down,
                       should.gbps_per_lane));
  }
  ASSERT_EQ(t.chip_count(), profile_->chip_count());
  for (int i = 0; i < t.chip_count(); ++i) EXPECT_EQ(t.chip(i).numa, profile_->chip(i).numa) << i;
  ASSERT_EQ(t.nics().size(), profile_->nics().size());
  for (std::size_t k = 0; k < t.nics().size(); ++k) {
    EXPECT_EQ(t.nics()[k].name, profile_->nics()[k].name);
    EXPECT_EQ(t.nics()[k].gbps, profile_->nics()[k].gbps);
    EXPECT_EQ(t.nics()[k].numa, profile_->nics()[k].numa);
    EXPECT_EQ(t.nics()[k].paths, profile_->nics()[k].paths) << t.nics()[k].name;
  }
  for (const LinkKind kind :
       {LinkKind::pix, LinkKind::pxb, LinkKind::phb, LinkKind::node, LinkKind::sys}) {
    EXPECT_EQ(t.host_bandwidth().of(kind), profile_->host_bandwidth().of(kind));
  }
  EXPECT_THAT(got->warnings, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, AmdProfiles,
                         testing::Values(Platform{"mi300x-8", 0x74a1, 90402, 64000, 1, true},
                                         Platform{"mi250x-8", 0x7408, 90010, 32000, 2, false}),
                         [](const auto& of) {
                           return of.param.profile.substr(0, of.param.profile.find('-'));
                         });

struct Recording {
  std::string archive;
  std::string gfx;  // "" if the kernel was too old to report it
};

class RecordedKfd : public testing::TestWithParam<Recording> {};

TEST_P(RecordedKfd, ReadsAsTheImporterReadsIt) {
  CHIPWEAVE_NEEDS_SHARED_DATA();
  const codec::FileTree files = codec::kfd_archive(GetParam().archive);
  const auto imported = codec::import_kfd_tree(files, {});
  ASSERT_TRUE(imported) << imported.error().text();
  AmdFolder machine;
  for (const auto& [path, text] : files) {
    if (path.find("/caches/") != std::string::npos) continue;  // never read
    const std::string below = path.rfind("topology/", 0) == 0 ? path.substr(9) : path;
    machine.write("/sys/class/kfd/kfd/topology/" + below, text);
  }
  AmdOptions options;
  options.root = machine.root();
  const auto got = AmdProbe(options).discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(codec::export_topology_json(got->topology),
            codec::export_topology_json(imported->topology));
  EXPECT_EQ(got->warnings, imported->warnings);
  EXPECT_EQ(got->facts.count("render.0"), 1U);
  const auto gfx = got->facts.find("gfx");
  EXPECT_EQ(gfx == got->facts.end() ? "" : gfx->second, GetParam().gfx);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedKfd,
                         testing::Values(Recording{"mi210-xgmi-pcie.tar.gz", "gfx90a"},
                                         Recording{"mi300x-cpx-64part.tar.gz", "gfx942"},
                                         Recording{"vega10-single.tar.gz", ""}),
                         [](const auto& of) {
                           return of.param.archive.substr(0, of.param.archive.find('-'));
                         });

}  // namespace
}  // namespace chipweave::agent
