// Tested on constructed trees: beyond vendor id and class, the PCI bus of such a machine is
// unknown.
#include "node-agent/probes/metax/metax_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/profiles/profiles.hpp"
#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Metax : public testing::Test, public SysFolder {
 protected:
  Metax() : probe_(options()) {}
  MetaxOptions options() const {
    MetaxOptions out;
    out.root = root();
    return out;
  }
  void chip(const std::string& route, int numa) const {
    device(route, "0x038000", "0x9999", "0x4000", numa);
  }
  void two_chips() const {
    chip("pci0000:10/0000:10:01.0/0000:11:00.0", 0);
    chip("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
  }
  MetaxProbe probe_;
};

TEST_F(Metax, ReportsChipsAndNicsButNoLinksWithAWarning) {
  two_chips();
  nic("pci0000:10/0000:10:01.0/0000:12:00.0", "mlx5_0", "eth2", 7, 0);
  device("pci0000:20/0000:21:00.0", "0x030200", "0x10de", "0x20b0", 0);  // another vendor's device
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.vendor(), "metax");
  ASSERT_EQ(got->topology.chip_count(), 2);
  EXPECT_EQ(got->topology.chip(1).pci, "0000:81:00.0");
  EXPECT_EQ(got->topology.host_path(0, 1), LinkKind::sys);
  EXPECT_THAT(got->topology.links(), IsEmpty());
  ASSERT_THAT(got->topology.nics(), SizeIs(1));
  EXPECT_THAT(got->topology.nics()[0].paths, ElementsAre(LinkKind::pix, LinkKind::sys));
  EXPECT_THAT(got->warnings, Contains(HasSubstr("--probe profile:metax-c550-8")));
  EXPECT_NE(profiles::find("metax-c550-8"), nullptr);  // named by the warning
}

TEST_F(Metax, NothingAtAllIsAnOrdinaryState) {
  const auto none = probe_.discover();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("metax"));
}

TEST_F(Metax, ADeviceThatLeavesTheBusIsAChange) {
  two_chips();
  ASSERT_TRUE(probe_.discover());
  EXPECT_FALSE(probe_.changes());
  remove("/sys/bus/pci/devices/0000:81:00.0");
  EXPECT_TRUE(probe_.changes());
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 1);
}

TEST_F(Metax, SlicesBesideTheirCardAreNoChips) {
  two_chips();
  chip("pci0000:10/0000:10:01.0/0000:11:00.1", 0);
  link("/sys/bus/pci/devices/0000:11:00.1/physfn",
       "/sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0");
  const auto got = probe_.discover();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->topology.chip_count(), 2);
}

}  // namespace
}  // namespace chipweave::agent
