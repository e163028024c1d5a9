// What chipweave simulate prints of gangs.
#include "cli/simulate/gangs/gang_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/simulate/small_fabric.hpp"

namespace chipweave::cli {
namespace {

using simulate::test::gang;
using ::testing::HasSubstr;

GangSimulationReport report_of(double patience_s) {
  const solver::Fabric cluster = simulate::test::fabric(1, 2, 2);
  const std::vector<domain::TraceGang> gangs = {gang(3, 8, 0, 100), gang(2, 8, 10, 50),
                                                gang(5, 8, 20, 30)};
  GangSimulationReport report;
  report.nodes = cluster.size();
  report.chips = 32;
  report.levels = simulate::test::kLevels;
  report.gangs = "three";
  report.seed = 7;
  report.patience_s = patience_s;
  report.notes = {"as \"agreed\""};
  for (const simulate::NamedGangPlacer& one : simulate::gang_placers()) {
    const auto placer = one.make(report.levels);
    auto run = simulate::test::replayed(gangs, cluster, *placer, patience_s).value();
    auto summary = simulate::summary_of(gangs, run);
    report.policies.push_back(
        {std::string(one.name), std::string(one.help), std::move(summary), std::move(run.samples)});
  }
  return report;
}

TEST(GangReport, JsonHasAllFigures) {
  const auto json = nlohmann::json::parse(report_json(report_of(0)));
  EXPECT_EQ(json["chips"], 32);
  EXPECT_EQ(json["levels"], (std::vector<std::string>{"block", "rack"}));
  EXPECT_EQ(json["patience_s"], 0);
  EXPECT_EQ(json["notes"][0], "as \"agreed\"");
  const auto& policy = json["policies"][2];
  EXPECT_EQ(policy["name"], "chipweave");
  EXPECT_EQ(policy["started"], 2);
  EXPECT_EQ(policy["never_fit"], 1);
  EXPECT_DOUBLE_EQ(policy["used"]["until_last_arrival"].get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(policy["queue"]["wait_s"]["mean"].get<double>(), 45);
  EXPECT_EQ(policy["levels"][1]["level"], "rack");
  EXPECT_EQ(policy["levels"][1]["domains"], 3);
  EXPECT_EQ(policy["levels"][1]["crossings"], 2);
  EXPECT_EQ(policy["sizes"].size(), 3U);
  EXPECT_EQ(policy["curve"].back()["used"], 0);
}

TEST(GangReport, TextSaysHowGangsQueue) {
  const std::string strict = report_text(report_of(0), false);
  EXPECT_THAT(strict, HasSubstr("4 nodes with 32 chips; levels: block, rack"));
  EXPECT_THAT(strict, HasSubstr("no gang passes a waiting one"));
  EXPECT_THAT(strict, HasSubstr("note: as \"agreed\""));
  EXPECT_THAT(report_text(report_of(300), false), HasSubstr("lets others pass for 300 s"));
}

}  // namespace
}  // namespace chipweave::cli
