#include "node-agent/probes/host/host_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::NodeTopology;
using domain::SignalKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two sockets. Chips 4 and 5 under one PCIe switch with mlx5_0; chip 6 under the same host bridge;
// chip 7 on the other socket with mlx5_1.
class HostOfFour : public testing::Test, public SysFolder {
 protected:
  HostOfFour() {
    const std::string under = "pci0000:10/0000:10:00.0/0000:11:00.0/";
    chip(under + "0000:12:00.0/0000:13:00.0", 0);
    chip(under + "0000:12:01.0/0000:14:00.0", 0);
    chip("pci0000:10/0000:10:01.0/0000:20:00.0", 0);
    chip("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
    first_nic_ = nic(under + "0000:12:02.0/0000:15:00.0", "mlx5_0", "eth2", 7, 0);
    nic("pci0000:80/0000:80:02.0/0000:82:00.0", "mlx5_1", "eth3", 8, 1);
  }
  void chip(const std::string& route, int numa) const {
    device(route, "0x120000", "0x1002", "0x74a1", numa);
  }
  // The facts of a source without the PCI tree: addresses, links, and NODE or SYS.
  static NodeTopology stated() {
    domain::TopologyBuilder builder;
    builder.vendor = "amd";
    builder.model = "MI300X";
    builder.rule = domain::PlacementRule{};
    const std::vector<std::string> addresses = {"0000:13:00.0", "0000:14:00.0", "0000:20:00.0",
                                                "0000:81:00.0"};
    for (int i = 0; i < 4; ++i) {
      domain::Chip chip;
      chip.index = ChipIndex{4 + i};
      chip.pci = addresses[static_cast<std::size_t>(i)];
      builder.add_chip(std::move(chip));
    }
    builder.add_link(ChipIndex{4}, ChipIndex{5}, LinkKind::xgmi, 2, 48.0, 1);
    builder.add_link(ChipIndex{4}, ChipIndex{5}, LinkKind::board);
    builder.add_link(ChipIndex{4}, ChipIndex{6}, LinkKind::node);
    builder.add_switch("s", LinkKind::nvswitch, {{ChipIndex{6}, 3, 1}, {ChipIndex{7}, 3, 0}}, 20.0);
    builder.add_partition({ChipIndex{4}, ChipIndex{5}});
    builder.add_nic("old", "", 0, 25, {{ChipIndex{4}, LinkKind::phb}});
    auto built = std::move(builder).build();
    EXPECT_TRUE(built) << built.error().text();
    return std::move(built).value();
  }
  std::string first_nic_;
};

TEST_F(HostOfFour, GivesPathsToNicsAndNumaNodes) {
  const auto got = with_host(stated(), scan_host(tree()));
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(got->nics(), SizeIs(2));
  EXPECT_EQ(got->nics()[0].name, "mlx5_0");
  EXPECT_EQ(got->nics()[0].gbps, 50);
  EXPECT_THAT(got->nics()[0].paths,
              ElementsAre(LinkKind::pix, LinkKind::pix, LinkKind::phb, LinkKind::sys));
  EXPECT_THAT(got->nics()[1].paths,
              ElementsAre(LinkKind::sys, LinkKind::sys, LinkKind::sys, LinkKind::phb));
  EXPECT_EQ(got->chip(0).numa, 0);
  EXPECT_EQ(got->chip(3).numa, 1);
}

TEST_F(HostOfFour, ReplacesOnlyCoarsePaths) {
  const auto got = with_host(stated(), scan_host(tree()));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->host_path(0, 1), LinkKind::board);
  EXPECT_EQ(got->host_path(0, 2), LinkKind::phb);
  EXPECT_EQ(got->host_path(0, 3), LinkKind::sys);
}

TEST_F(HostOfFour, LeavesTheWiringAlone) {
  const NodeTopology before = stated();
  const auto got = with_host(before, scan_host(tree()));
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(got->links(), SizeIs(1));
  EXPECT_EQ(got->links()[0].lanes, 2);
  EXPECT_EQ(got->links()[0].lanes_down, 1);
  EXPECT_EQ(got->links()[0].gbps_per_lane, 48);
  ASSERT_THAT(got->switches(), SizeIs(1));
  EXPECT_EQ(got->switches()[0].ports[0].lanes_down, 1);
  EXPECT_EQ(got->partitions(), before.partitions());
  EXPECT_EQ(got->model(), "MI300X");
  EXPECT_EQ(got->chip(0).index, ChipIndex{4});
}

TEST_F(HostOfFour, AHostThatShowsNothingChangesNothing) {
  const NodeTopology before = stated();
  const auto got = with_host(before, HostView{});
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(got->nics(), SizeIs(1));
  EXPECT_EQ(got->nics()[0].name, "old");
  EXPECT_EQ(got->nics()[0].paths, before.nics()[0].paths);
  EXPECT_EQ(got->host_path(0, 2), LinkKind::node);
  EXPECT_EQ(got->chip(3).numa, -1);
}

TEST_F(HostOfFour, PartitionsAreFoundAtTheirPackage) {
  const HostView view = scan_host(tree());
  const PciDevice* found = view.find("0000:13:00.5");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->address, "0000:13:00.0");
  EXPECT_EQ(view.find("0000:15:00.5"), nullptr);  // an adapter has no partitions
  EXPECT_EQ(view.find("0000:99:00.0"), nullptr);
  EXPECT_EQ(view.find(""), nullptr);
}

TEST_F(HostOfFour, ListsNumaNodesInOrder) {
  for (const char* name : {"node10", "node2", "node0", "nodes", "node-1", "online"}) {
    write("/sys/devices/system/node/" + std::string(name) + "/cpulist", "0\n");
  }
  EXPECT_THAT(scan_host(tree()).numa_nodes, ElementsAre(0, 2, 10));
}

TEST_F(HostOfFour, ReportsWhichNicIsDownAndItsCounters) {
  write(first_nic_ + "/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  write(first_nic_ + "/infiniband/mlx5_0/ports/1/phys_state", "2: Polling\n");
  write(first_nic_ + "/infiniband/mlx5_0/ports/1/counters/link_downed", "5\n");
  write(first_nic_ + "/net/eth2/carrier_changes", "11\n");
  domain::Observation out{"m", stated(), {}};
  add_host(scan_host(tree()), out);
  std::vector<std::string> of_first;
  for (const domain::Signal& s : out.signals) {
    EXPECT_FALSE(s.chip);
    if (s.nic == "mlx5_0")
      of_first.push_back(s.code + "=" + std::to_string(static_cast<int>(s.value)));
  }
  EXPECT_THAT(of_first, ElementsAre("nic.down=0", "nic.link-downed=5", "nic.flap=11"));
  EXPECT_EQ(out.signals[0].kind, SignalKind::state);
  EXPECT_EQ(out.signals[0].text, "port 1 is DOWN (Polling)");
  EXPECT_EQ(out.signals[1].kind, SignalKind::counter);
  ASSERT_THAT(out.signals, SizeIs(5));  // including two counters of mlx5_1
  EXPECT_THAT(out.warnings, IsEmpty());
}

TEST_F(HostOfFour, PublishesTheAddressOfEachRdmaDevice) {
  const std::string port = first_nic_ + "/infiniband/mlx5_0/ports/1";
  write(port + "/gids/3", "x");
  for (int i = 0; i < 3; ++i) write(port + "/gids/" + std::to_string(i), "0000\n");
  write(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  write(port + "/gid_attrs/types/3", "RoCE v2\n");
  write(port + "/gid_attrs/ndevs/3", "eth2.100\n");
  domain::Observation out{"m", stated(), {}};
  add_host(scan_host(tree()), out);
  EXPECT_EQ(out.facts.at("rdma.mlx5_0.gid"), "0000:0000:0000:0000:0000:ffff:0a00:0001");
  EXPECT_EQ(out.facts.at("rdma.mlx5_0.gid-index"), "3");
  EXPECT_EQ(out.facts.at("rdma.mlx5_0.layer"), "Ethernet");
  EXPECT_EQ(out.facts.at("rdma.mlx5_0.interface"), "eth2.100");
  EXPECT_EQ(out.facts.count("rdma.mlx5_1.gid"), 0U);
  EXPECT_EQ(out.facts.at("rdma.mlx5_1.interface"), "eth3");
}

TEST_F(HostOfFour, AnInterfaceWithoutRdmaIsNeverDown) {
  const std::string at = device("pci0000:10/0000:10:05.0", "0x020000", "0x8086", "0x1", 0);
  interface(at, "eno1", 2);
  write(at + "/net/eno1/carrier", "0\n");
  domain::Observation out{"m", stated(), {}};
  add_host(scan_host(tree()), out);
  EXPECT_THAT(out.topology.nics(), SizeIs(3));
  for (const domain::Signal& s : out.signals) EXPECT_NE(s.nic, "eno1");
}

TEST_F(HostOfFour, TheWatchNoticesNicsAndDevices) {
  const SysfsTree sys = tree();
  HostWatch watch(sys);
  EXPECT_TRUE(watch.changed());  // it has not read the host yet
  watch.look();
  EXPECT_FALSE(watch.changed());
  write(first_nic_ + "/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_TRUE(watch.changed());
  watch.look();
  EXPECT_FALSE(watch.changed());
  remove("/sys/bus/pci/devices/0000:81:00.0");
  EXPECT_TRUE(watch.changed());
}

TEST_F(HostOfFour, TheWatchNoticesThatADriverIsLoadedAgain) {
  const SysfsTree sys = tree();
  HostWatch watch(sys);
  remove(first_nic_ + "/infiniband");
  watch.look();
  EXPECT_FALSE(watch.changed());
  rdma(first_nic_, "mlx5_0");
  EXPECT_TRUE(watch.changed());
}

}  // namespace
}  // namespace chipweave::agent
