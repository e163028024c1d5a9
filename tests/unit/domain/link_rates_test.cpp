#include "common/domain/link_rates.hpp"

#include <gtest/gtest.h>

namespace chipweave::domain {
namespace {

TEST(LinkRates, AModelWhoseLinksAreKnownHasItsOwnPcie) {
  const double unknown = default_host_bandwidth("").pix;
  for (const char* model : {"AMD Instinct MI355X", "MI308X", "MI325X", "gfx950", "H20-3e"}) {
    EXPECT_EQ(default_host_bandwidth(model).pix, pcie_host_bandwidth(5, false).pix) << model;
  }
  for (const char* model : {"MI100", "RTX A5000", "gfx90a", "NVIDIA L40S"}) {
    EXPECT_EQ(default_host_bandwidth(model).pix, pcie_host_bandwidth(4, false).pix) << model;
  }
  EXPECT_EQ(default_host_bandwidth("V100-SXM2").pix, unknown);
  EXPECT_EQ(default_gbps_per_lane(LinkKind::xgmi, "mi355x"), 57.6);
  EXPECT_EQ(default_gbps_per_lane(LinkKind::nvswitch, "NVIDIA H20"), 20.6);
  EXPECT_EQ(default_gbps_per_lane(LinkKind::nvlink, "NVIDIA L40S"),
            default_gbps_per_lane(LinkKind::nvlink, ""));
}

}  // namespace
}  // namespace chipweave::domain
