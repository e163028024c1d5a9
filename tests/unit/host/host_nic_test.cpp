#include "node-agent/probes/host/host_nic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class HostNics : public testing::Test, public SysFolder {
 protected:
  std::vector<HostNic> read() const { return read_nics(tree(), list_pci(tree())); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const HostNic& nic : read()) out.push_back(nic.name);
    return out;
  }
};

TEST_F(HostNics, AreReadWithTheirPortsInterfacesAndGid) {
  const std::string at = nic("pci0000:10/0000:10:01.0/0000:11:00.0", "mlx5_0", "eth2", 7, 1);
  const std::string port = at + "/infiniband/mlx5_0/ports/1";
  write(port + "/counters/link_downed", "3\n");
  write(port + "/gids/0", "fe80:0000:0000:0000:bace:f6ff:feaa:bb01\n");
  write(port + "/gid_attrs/types/0", "RoCE v2\n");
  write(port + "/gids/1", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  write(port + "/gid_attrs/types/1", "IB/RoCE v1\n");
  write(port + "/gids/2", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  write(port + "/gid_attrs/types/2", "RoCE v2\n");
  write(port + "/gid_attrs/ndevs/2", "eth2\n");
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(1));
  const HostNic& nic = nics[0];
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.at.address, "0000:11:00.0");
  EXPECT_EQ(nic.at.numa, 1);
  EXPECT_EQ(nic.guid, "b8ce:f603:00aa:bb01");
  EXPECT_EQ(nic.gbps(), 50);
  EXPECT_FALSE(nic.down());
  ASSERT_THAT(nic.ports, SizeIs(1));
  EXPECT_EQ(nic.ports[0].phys_state, "LinkUp");
  EXPECT_EQ(nic.ports[0].layer, "Ethernet");
  EXPECT_EQ(nic.ports[0].link_downed, 3U);
  ASSERT_TRUE(nic.gid);
  EXPECT_EQ(nic.gid->index, 2);
  EXPECT_EQ(nic.gid->interface, "eth2");
  ASSERT_THAT(nic.interfaces, SizeIs(1));
  EXPECT_EQ(nic.interfaces[0].number, 7);
  EXPECT_EQ(nic.interfaces[0].carrier, true);
  EXPECT_EQ(nic.interfaces[0].carrier_changes, 2U);
}

TEST_F(HostNics, APortThatIsDownStatesNoRate) {
  const std::string at = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  write(at + "/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  write(at + "/infiniband/mlx5_0/ports/1/phys_state", "3: Disabled\n");
  write(at + "/infiniband/mlx5_0/ports/1/rate", "40 Gb/sec (4X QDR)\n");
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(1));
  EXPECT_TRUE(nics[0].down());
  EXPECT_EQ(nics[0].gbps(), 0);
}

TEST_F(HostNics, OneActivePortOfTwoIsEnough) {
  const std::string at = nic("pci0000:10/0000:11:00.0", "mlx4_0", "eth2", 7, 0);
  write(at + "/infiniband/mlx4_0/ports/2/state", "1: DOWN\n");
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(1));
  EXPECT_THAT(nics[0].ports, SizeIs(2));
  EXPECT_FALSE(nics[0].down());
}

TEST_F(HostNics, SlicesBesideTheirCardDoNotCount) {
  const std::string card = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  const std::string slice = nic("pci0000:10/0000:11:00.2", "mlx5_2", "eth2v0", 8, 0);
  link(slice + "/physfn", card);
  EXPECT_THAT(names(), ElementsAre("mlx5_0"));
}

TEST_F(HostNics, ASliceThatAVirtualMachineWasGivenCounts) {
  nic("pci0000:10/0000:11:00.2", "mlx5_0", "eth0", 2, 0);
  EXPECT_THAT(names(), ElementsAre("mlx5_0"));
}

TEST_F(HostNics, ABondUnderOneRdmaDeviceIsOneAdapter) {
  const std::string first = nic("pci0000:10/0000:11:00.0", "mlx5_bond_0", "eth2", 7, 0);
  const std::string second = device("pci0000:10/0000:11:00.1", "0x020000", "0x15b3", "0x1021", 0);
  interface(second, "eth3", 8);
  for (const std::string& slave : {first + "/net/eth2", second + "/net/eth3"}) {
    link(slave + "/master", "/sys/devices/virtual/net/bond0");
    write(slave + "/bonding_slave/state", "active\n");
  }
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(1));
  EXPECT_EQ(nics[0].name, "mlx5_bond_0");
  ASSERT_THAT(nics[0].interfaces, SizeIs(2));
  EXPECT_EQ(nics[0].interfaces[1].name, "eth3");
  EXPECT_EQ(nics[0].interfaces[1].master, "bond0");
}

TEST_F(HostNics, ABondOfAdaptersWithTheirOwnRdmaDevicesIsSeveral) {
  const std::string first = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  const std::string second = nic("pci0000:20/0000:21:00.0", "mlx5_1", "eth3", 8, 0);
  for (const std::string& slave : {first + "/net/eth2", second + "/net/eth3"}) {
    link(slave + "/master", "/sys/devices/virtual/net/bond0");
    write(slave + "/bonding_slave/state", "active\n");
  }
  EXPECT_THAT(names(), ElementsAre("mlx5_0", "mlx5_1"));
}

TEST_F(HostNics, InterfacesOfOneBridgeAreNoBond) {
  const std::string first = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  const std::string second = device("pci0000:10/0000:11:00.1", "0x020000", "0x15b3", "0x1021", 0);
  interface(second, "eth3", 8);
  for (const std::string& port : {first + "/net/eth2", second + "/net/eth3"}) {
    link(port + "/master", "/sys/devices/virtual/net/br0");
  }
  EXPECT_THAT(names(), ElementsAre("mlx5_0", "eth3"));
}

TEST_F(HostNics, WithoutRdmaTheInterfaceNamesItAndWithoutThatTheAddress) {
  const std::string plain_nic = device("pci0000:10/0000:11:00.0", "0x020000", "0x8086", "0x1", 0);
  interface(plain_nic, "eno1", 2);
  device("pci0000:10/0000:12:00.0", "0x020000", "0x8086", "0x1", 0);
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(2));
  EXPECT_EQ(nics[0].name, "eno1");
  EXPECT_EQ(nics[0].gbps(), 50);
  EXPECT_FALSE(nics[0].down());
  EXPECT_EQ(nics[1].name, "0000:12:00.0");
}

TEST_F(HostNics, OldInfinibandAdaptersAreNoNetworkClass) {
  const std::string at = device("pci0000:10/0000:11:00.0", "0x0c0600", "0x15b3", "0x6340", 0);
  rdma(at, "mlx4_0");
  EXPECT_THAT(names(), ElementsAre("mlx4_0"));
}

TEST_F(HostNics, OneThatVanishesWhileItIsReadIsLeftOutWhole) {
  const std::string at = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  nic("pci0000:20/0000:21:00.0", "mlx5_1", "eth3", 8, 0);
  const auto devices = list_pci(tree());
  remove(at);  // between the listing and the reading
  const auto nics = read_nics(tree(), devices);
  ASSERT_THAT(nics, SizeIs(1));
  EXPECT_EQ(nics[0].name, "mlx5_1");
}

TEST_F(HostNics, RubbishInFilesIsUnknown) {
  const std::string at = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  const std::string port = at + "/infiniband/mlx5_0/ports/1";
  write(port + "/state", std::string(3000, '\x01'));
  write(port + "/rate", "-1 Gb/sec");
  write(port + "/counters/link_downed", "N/A (not supported)");
  write(port + "/gids/0", "0000:0000:0000:0000:0000:ffff:0a00:0001");
  write(at + "/infiniband/mlx5_0/ports/many/state", "4: ACTIVE");
  write(at + "/infiniband/mlx5_0/ports/99999/state", "4: ACTIVE");
  write(at + "/net/eth2/ifindex", "-7");
  write(at + "/net/eth2/carrier_changes", "99999999999999999999999");
  write(at + "/numa_node", "123456789");
  const auto nics = read();
  ASSERT_THAT(nics, SizeIs(1));
  ASSERT_THAT(nics[0].ports, SizeIs(1));
  EXPECT_EQ(nics[0].ports[0].state, std::string(128, '?'));
  EXPECT_EQ(nics[0].gbps(), 0);
  EXPECT_FALSE(nics[0].ports[0].link_downed);
  EXPECT_FALSE(nics[0].gid);  // of an unknown type
  EXPECT_EQ(nics[0].interfaces[0].number, 0);
  EXPECT_FALSE(nics[0].interfaces[0].carrier_changes);
  EXPECT_EQ(nics[0].at.numa, -1);
}

TEST_F(HostNics, NoMoreThanATopologyTakes) {
  for (int i = 0; i < 300; ++i) {
    const std::string address =
        "00" + std::to_string(10 + i % 30) + ":" + std::to_string(10 + i / 30) + ":00.0";
    device("pci" + address.substr(0, 4) + ":00/" + address, "0x020000", "0x8086", "0x1", 0);
  }
  EXPECT_THAT(read(), SizeIs(256));
}

TEST_F(HostNics, StatesTellOfPortsAndCarriers) {
  const std::string at = nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
  const auto nics = read();
  const std::string before = nic_states(tree(), nics);
  write(at + "/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  EXPECT_EQ(nic_states(tree(), nics), before);  // not among the files that are read twice a second
  write(at + "/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  const std::string down = nic_states(tree(), nics);
  EXPECT_NE(down, before);
  write(at + "/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  EXPECT_EQ(nic_states(tree(), nics), before);
  write(at + "/net/eth2/carrier_changes", "4\n");  // down and up between two reads
  EXPECT_NE(nic_states(tree(), nics), before);
  remove(at);
  EXPECT_NE(nic_states(tree(), nics), before);
}

}  // namespace
}  // namespace chipweave::agent
