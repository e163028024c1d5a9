#include "node-agent/probes/host/host_neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/sys_folder.hpp"
#include "tests/unit/codec_lldp/made_frame.hpp"

namespace chipweave::agent {
namespace {

using codec::file_of;
using codec::made_frame;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Neighbours : public testing::Test, public SysFolder {
 protected:
  Neighbours() {
    nic("pci0000:10/0000:11:00.0", "mlx5_0", "eth2", 7, 0);
    nic("pci0000:20/0000:21:00.0", "mlx5_1", "eth3", 8, 0);
    const std::string plain_nic = device("pci0000:30/0000:31:00.0", "0x020000", "0x8086", "0x1", 0);
    interface(plain_nic, "eno1", 2);
  }
  // A replacement for lldpctl.
  LldpOptions tool(const std::string& lines) const {
    write("/lldpctl", "#!/bin/sh\n" + lines + "\n");
    std::filesystem::permissions(root() + "/lldpctl", std::filesystem::perms::owner_all);
    LldpOptions out;
    out.lldpctl = root() + "/lldpctl";
    return out;
  }
  std::vector<std::string> seen(const LldpOptions& options = {}) {
    domain::TopologyBuilder builder;
    builder.add_chip({});
    domain::Observation out{"m", std::move(builder).build().value(), {}};
    add_neighbours(tree(), scan_host(tree()), options, out);
    warnings_ = out.warnings;
    std::vector<std::string> list;
    for (const domain::Neighbour& n : out.neighbours) {
      EXPECT_FALSE(n.chip);
      list.push_back(n.nic + " " + n.system + " " + n.port + " " + n.address);
    }
    return list;
  }
  std::vector<std::string> warnings_;
};

TEST_F(Neighbours, AreTheRdmaNicsOfNetworkdsFiles) {
  write("/run/systemd/netif/lldp/7", file_of({made_frame("leaf1", "400GE1/1/20:2", "10.0.0.1")}));
  write("/run/systemd/netif/lldp/2", file_of({made_frame("office", "7", "10.0.0.9")}));
  write("/run/systemd/netif/lldp/99", file_of({made_frame("unknown", "7", "10.0.0.9")}));
  EXPECT_THAT(seen(), ElementsAre("mlx5_0 leaf1 400GE1/1/20:2 10.0.0.1"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Neighbours, WithoutRdmaAreThoseOfEveryNic) {
  remove("/sys/bus/pci/devices/0000:11:00.0");
  remove("/sys/bus/pci/devices/0000:21:00.0");
  write("/run/systemd/netif/lldp/2", file_of({made_frame("leaf1", "7", "10.0.0.9")}));
  EXPECT_THAT(seen(), ElementsAre("eno1 leaf1 7 10.0.0.9"));
}

TEST_F(Neighbours, LldpdsAccountOfANicGoesFirst) {
  write("/run/systemd/netif/lldp/7", file_of({made_frame("old", "p", "10.0.0.1")}));
  write("/run/systemd/netif/lldp/8", file_of({made_frame("leaf2", "p2", "10.0.0.2")}));
  const auto options = tool(
      R"(test "$*" = "-f json0" && echo '{"lldp":[{"interface":[{"name":"eth2","via":"LLDP",)"
      R"("chassis":[{"name":[{"value":"leaf1"}]}],"port":[{"id":[{"type":"ifname","value":"p1"}]}]}]}]}')");
  EXPECT_THAT(seen(options), ElementsAre("mlx5_0 leaf1 p1 ", "mlx5_1 leaf2 p2 10.0.0.2"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Neighbours, AToolThatFailsIsAWarningAndTheFilesServe) {
  write("/run/systemd/netif/lldp/7", file_of({made_frame("leaf1", "p", "10.0.0.1")}));
  EXPECT_THAT(seen(tool("exit 3")), SizeIs(1));
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("status 3"));
  EXPECT_THAT(seen(tool("echo no json")), SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("not valid JSON"));
  LldpOptions absent;
  absent.lldpctl = root() + "/nowhere";
  EXPECT_THAT(seen(absent), SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("nowhere"));
}

TEST_F(Neighbours, AToolThatHangsIsGivenUp) {
  LldpOptions hangs = tool("sleep 1000");
  hangs.deadline = std::chrono::milliseconds(20);
  EXPECT_THAT(seen(hangs), IsEmpty());
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("20 ms"));
}

TEST_F(Neighbours, ABrokenFileIsAWarning) {
  write("/run/systemd/netif/lldp/7", "rubbish");
  write("/run/systemd/netif/lldp/8", file_of({made_frame("leaf2", "p2", "10.0.0.2")}));
  EXPECT_THAT(seen(), ElementsAre("mlx5_1 leaf2 p2 10.0.0.2"));
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("eth2"));
}

}  // namespace
}  // namespace chipweave::agent
