// Published measurements: points that the fit did not see come closer by it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/domain/rate_overlay.hpp"
#include "common/solver/calibration/fit.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::solver {
namespace {

// Runs of one node that reduce in no switch.
std::vector<CalibrationPoint> published(const nlohmann::json& measured, const char* profile) {
  const domain::NodeTopology topology = test::machine(profile);
  std::vector<CalibrationPoint> points;
  for (const nlohmann::json& p : measured) {
    if (p.at("machine") != profile || p.value("nodes", 1) != 1 || p.value("algo", "") == "NVLS")
      continue;
    domain::ChipSet chips = domain::ChipSet::first(p.at("n").get<int>());
    if (p.at("chips").is_array()) {
      chips = {};
      for (const nlohmann::json& chip : p.at("chips"))
        chips.insert(topology.slot_of({chip.get<int>()}).value());
    }
    points.push_back({chips, p.at("busbw_gbps").get<double>()});
  }
  return points;
}

double squared_error(const domain::NodeTopology& topology, const CalibrationPoint& point) {
  const double off = Machine(topology).gbps(point.chips) / point.gbps - 1;
  return off * off;
}

TEST(MeasuredFit, BringsPointsCloserThatItDidNotSee) {
  const auto text = test::file_content(test::shared_data_path("measured/measured.json"));
  if (!text) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  const nlohmann::json measured = nlohmann::json::parse(*text);
  for (const char* profile : {"hgx-a100-8", "hgx-h100-8", "mi250x-8"}) {
    const domain::NodeTopology built_in = test::machine(profile);
    const std::vector<CalibrationPoint> points = published(measured, profile);
    ASSERT_GE(points.size(), 2U) << profile;
    double before = 0;
    double after = 0;
    for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
      std::vector<CalibrationPoint> seen = points;
      seen.erase(seen.begin() + static_cast<std::ptrdiff_t>(left_out));
      const auto fit = fit_rates(built_in, seen);
      ASSERT_TRUE(fit.ok()) << profile << ": " << fit.error().text();
      domain::RateOverlay overlay{"", built_in.vendor(), {built_in.model()}, {}, {}};
      for (const FittedRate& rate : fit->rates) overlay.lanes[rate.kind] = rate.after;
      before += squared_error(built_in, points[left_out]);
      after += squared_error(domain::calibrated(built_in, {overlay}), points[left_out]);
    }
    EXPECT_LT(after, before) << profile;
    std::printf("%s: %zu points, off by %.1f %% before, %.1f %% after (left out of the fit)\n",
                profile, points.size(),
                100 * std::sqrt(before / static_cast<double>(points.size())),
                100 * std::sqrt(after / static_cast<double>(points.size())));
  }
}

}  // namespace
}  // namespace chipweave::solver
