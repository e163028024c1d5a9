// The fit of constants: a case computed by hand, machines with a known constant, what is refused.
#include "common/solver/calibration/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "common/domain/rate_overlay.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::solver {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using test::machine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

domain::NodeTopology described(const std::string& json) {
  return codec::import_topology_json(json, {}).value().topology;
}

std::string refusal(const domain::NodeTopology& topology,
                    const std::vector<CalibrationPoint>& points) {
  const auto fit = fit_rates(topology, points);
  return fit ? "accepted" : fit.error().text();
}

// 12 lanes at r predict 12 r. Measured 228 and 240: a = 12/228 and 12/240, so
// r = (a1 + a2) / (a1² + a2²) = 0.102632 / 0.0052701 = 19.474.
TEST(Fit, MinimisesSquaredRelativeErrors) {
  const auto fit =
      fit_rates(machine("hgx-a100-8"), {{ChipSet::first(8), 228}, {ChipSet::first(4), 240}});
  ASSERT_TRUE(fit.ok()) << fit.error().text();
  ASSERT_THAT(fit->rates, SizeIs(1));
  EXPECT_EQ(fit->rates[0].kind, LinkKind::nvswitch);
  EXPECT_DOUBLE_EQ(fit->rates[0].before, 20);
  EXPECT_DOUBLE_EQ(fit->rates[0].after, 19.474);
  EXPECT_EQ(fit->rates[0].points, 2U);
  EXPECT_DOUBLE_EQ(fit->points[0].before, 240);
  EXPECT_NEAR(fit->points[0].after, 12 * 19.474, 1e-6);
  EXPECT_THAT(fit->points[0].decided_by, ElementsAre(LinkKind::nvswitch));
}

// Points made from a machine whose constant is known, with noise of ±2 %, give the constant back.
TEST(Fit, RecoversTheConstantOfRandomMachines) {
  std::mt19937 random(20260314);
  int recovered = 0;
  for (const auto& [profile, kind] :
       {std::pair{"hgx-v100-8", LinkKind::nvlink}, std::pair{"hgx-a100-8", LinkKind::nvswitch},
        std::pair{"mi300x-8", LinkKind::xgmi}, std::pair{"mi250x-8", LinkKind::xgmi},
        std::pair{"ascend-910b-8", LinkKind::hccs}}) {
    const domain::NodeTopology built_in = machine(profile);
    for (int round = 0; round < 5; ++round) {
      const double scale = std::uniform_real_distribution<double>(0.6, 1.2)(random);
      double truth = 0;
      const domain::NodeTopology real = built_in.with_rates(
          [&, fitted = kind](LinkKind each, double rate) {
            if (each != fitted) return rate;
            truth = rate * scale;
            return truth;
          },
          built_in.host_bandwidth());
      Machine model(real);
      std::vector<CalibrationPoint> points;
      while (points.size() < 12) {
        const ChipSet chips(std::uniform_int_distribution<std::uint64_t>(1, 255)(random));
        if (chips.size() < 2) continue;
        const double noise = std::uniform_real_distribution<double>(0.98, 1.02)(random);
        points.push_back({chips, model.gbps(chips) * noise});
      }
      const auto fit = fit_rates(built_in, points);
      if (!fit) {
        // a slow enough link loses against the host, which the fit has to see
        EXPECT_THAT(fit.error().text(), HasSubstr("no longer decided by")) << profile;
        continue;
      }
      for (const FittedRate& rate : fit->rates) {
        if (rate.kind != kind) continue;
        EXPECT_NEAR(rate.after, truth, truth * 0.02) << profile;
        ++recovered;
      }
    }
  }
  EXPECT_GE(recovered, 20);
}

TEST(Fit, GivesHostPathsAConstantToo) {
  const domain::NodeTopology four = described(
      R"({"vendor":"nvidia","model":"A100-PCIE","chips":4,
          "host_gbps":{"PIX":24,"PXB":24,"PHB":24,"NODE":22,"SYS":20},
          "host_groups":[{"kind":"NODE","groups":[[0,1],[2,3]]}]})");
  const auto fit = fit_rates(four, {{ChipSet{0, 1}, 20}, {ChipSet{0, 1, 2, 3}, 16}});
  ASSERT_TRUE(fit.ok()) << fit.error().text();
  ASSERT_THAT(fit->rates, SizeIs(2));
  EXPECT_EQ(fit->rates[0].kind, LinkKind::node);
  EXPECT_DOUBLE_EQ(fit->rates[0].after, 20);
  EXPECT_EQ(fit->rates[1].kind, LinkKind::sys);
  EXPECT_DOUBLE_EQ(fit->rates[1].after, 16);
  EXPECT_THAT(refusal(four, {{ChipSet{0, 1, 2, 3}, 23}}),
              HasSubstr("SYS comes to 23.00 GB/s, more than the nearer path NODE with 22.00"));
}

// PIX is slower here, but no pair of chips has it; and NVLINK has nothing to do with host paths.
TEST(Fit, ComparesOnlyHostPathsThatItChangesAndChipsHave) {
  const domain::NodeTopology odd = described(
      R"({"vendor":"nvidia","model":"A100-PCIE","chips":2,
          "host_gbps":{"PIX":12,"PXB":12,"PHB":12,"NODE":20,"SYS":20},
          "host_groups":[{"kind":"NODE","groups":[[0,1]]}]})");
  EXPECT_DOUBLE_EQ(fit_rates(odd, {{ChipSet{0, 1}, 22}}).value().rates[0].after, 22);
  const domain::NodeTopology bridged = described(
      R"({"vendor":"nvidia","model":"A100-PCIE","chips":3,
          "host_gbps":{"PIX":12,"PXB":12,"PHB":12,"NODE":18,"SYS":20},
          "links":[{"a":0,"b":1,"kind":"NVLINK","lanes":4}],
          "host_groups":[{"kind":"NODE","groups":[[0,1]]}]})");
  EXPECT_DOUBLE_EQ(fit_rates(bridged, {{ChipSet{0, 1}, 76}}).value().rates[0].after, 19);
}

// A ring over both sockets is as fast as its slowest hop, and here two kinds are the slowest.
TEST(Fit, DoesNotUsePointsThatSeveralKindsDecide) {
  const domain::NodeTopology even = described(
      R"({"vendor":"nvidia","model":"A100-PCIE","chips":4,
          "host_gbps":{"PIX":24,"PXB":24,"PHB":24,"NODE":20,"SYS":20},
          "host_groups":[{"kind":"NODE","groups":[[0,1],[2,3]]}]})");
  const auto fit = fit_rates(even, {{ChipSet{0, 1, 2}, 18}, {ChipSet{0, 1}, 22}});
  ASSERT_TRUE(fit.ok()) << fit.error().text();
  EXPECT_THAT(fit->points[0].decided_by, ElementsAre(LinkKind::node, LinkKind::sys));
  EXPECT_FALSE(fit->points[0].used());
  EXPECT_TRUE(fit->points[1].used());
  ASSERT_THAT(fit->rates, SizeIs(1));
  EXPECT_EQ(fit->rates[0].kind, LinkKind::node);
  EXPECT_DOUBLE_EQ(fit->rates[0].after, 22);
  EXPECT_THAT(refusal(even, {{ChipSet{0, 1, 2}, 18}}),
              HasSubstr("no point is decided by one kind of link alone"));
}

TEST(Fit, RefusesConstantsThatNoLinkHas) {
  // 116 of 247: half of the lanes of a bridge are missing
  EXPECT_THAT(refusal(machine("hgx-a100-8"), {{ChipSet::first(8), 110}}),
              HasSubstr("NVSWITCH comes to 9.17 GB/s, 0.46 times the constant 20.00"));
  EXPECT_THAT(refusal(machine("hgx-a100-8"), {{ChipSet::first(8), 400}}),
              HasSubstr("1.67 times the constant"));
  // NVLS taken for a ring: 26.06 GB/s a lane is more than its nominal 25
  EXPECT_THAT(refusal(machine("hgx-h100-8"), {{ChipSet::first(8), 469}}),
              HasSubstr("or the run was not a ring"));
}

TEST(Fit, RefusesConstantsWithWhichOtherKindsDecide) {
  const domain::NodeTopology close = described(
      R"({"vendor":"nvidia","model":"A100-SXM4","chips":2,"host_gbps":{"PIX":24,"SYS":20},
          "links":[{"a":0,"b":1,"kind":"NVLINK","lanes":1,"gbps_per_lane":22}]})");
  EXPECT_THAT(refusal(close, {{ChipSet{0, 1}, 15}}),
              HasSubstr("chips 0,1 are no longer decided by NVLINK"));
}

TEST(Fit, RefusesMachinesWhoseLanesDiffer) {
  const domain::NodeTopology uneven = described(
      R"({"vendor":"nvidia","chips":3,"links":[
          {"a":0,"b":1,"kind":"NVLINK","gbps_per_lane":20},
          {"a":1,"b":2,"kind":"NVLINK","gbps_per_lane":25}]})");
  EXPECT_THAT(refusal(uneven, {{ChipSet{0, 1}, 19}}),
              HasSubstr("NVLINK lanes of this machine have several constants"));
}

}  // namespace
}  // namespace chipweave::solver
