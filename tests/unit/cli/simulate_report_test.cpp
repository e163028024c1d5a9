// What chipweave simulate prints and writes.
#include "cli/simulate/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/simulate/html_report.hpp"
#include "cli/simulate/machines.hpp"
#include "cli/simulate/svg_chart.hpp"
#include "common/solver/simulate/bounds.hpp"

namespace chipweave::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

domain::TraceNode trace_node(const char* name, const char* model, int chips) {
  return {name, model, 96000, 393216, chips};
}

// Eight plain chips and eight V100, on which pods of 8, 2, 1 and 0 chips run.
SimulationReport report_of(bool pods_end) {
  auto nodes = model_nodes(
      {trace_node("a", "T9", 8), trace_node("b", "V100M32", 8), trace_node("c", "", 0)}, {});
  EXPECT_TRUE(nodes.ok());
  const simulate::ModelCluster cluster(*nodes);
  std::vector<domain::TracePod> pods;
  for (const int chips : {8, 2, 1, 0, 4, 16}) {
    domain::TracePod pod;
    pod.chips = chips;
    pod.duration_s = 10;
    pods.push_back(pod);
  }
  const auto arrivals = simulate::recorded(pods);
  const auto mix = simulate::request_mix(pods);
  const auto alone = simulate::alone_gbps(pods, cluster);
  const simulate::Workload workload{pods, arrivals, mix, pods_end};
  SimulationReport report;
  report.nodes = cluster.nodes().size();
  report.chips = cluster.chips();
  report.machines = {{"<pcie>", 1, 8}, {"hgx-v100-8", 1, 8}};
  report.arrivals = "in a row";
  report.pods_end = pods_end;
  report.notes = {"five < \"six\""};
  for (const simulate::NamedPolicy& policy : simulate::policies()) {
    const auto run = simulate::replay(workload, cluster, policy, {});
    report.policies.push_back({std::string(policy.name), std::string(policy.help),
                               simulate::summary_of(workload, run, alone, cluster), run.samples});
  }
  return report;
}

TEST(SimulateMachines, ModelsBecomeProfilesOrPlainMachines) {
  const auto nodes = model_nodes({trace_node("a", "T4", 2), trace_node("b", "V100M16", 4),
                                  trace_node("c", "V100M32", 8), trace_node("d", "G9", 12)},
                                 {"G9=dgx2-v100-16"});
  ASSERT_TRUE(nodes.ok()) << nodes.error().text();
  EXPECT_EQ(nodes->at(0).kind, "pcie-2");
  EXPECT_EQ(nodes->at(1).kind, "4 of hgx-v100-8");
  EXPECT_EQ(nodes->at(1).machine->topology().chip_count(), 4);
  EXPECT_EQ(nodes->at(2).kind, "hgx-v100-8");
  EXPECT_EQ(nodes->at(3).kind, "12 of dgx2-v100-16");
  EXPECT_EQ(nodes->at(3).free.size(), 12);
  EXPECT_GT(nodes->at(1).machine->gbps(domain::ChipSet::first(2)),
            0.5 * nodes->at(0).machine->gbps(domain::ChipSet::first(2)));
}

TEST(SimulateMachines, ErrorsNameTheFlag) {
  const auto error = [](const std::vector<std::string>& overrides) {
    const auto nodes = model_nodes({trace_node("a", "T4", 9)}, overrides);
    return nodes ? "" : nodes.error().text();
  };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({"T4=pcie"}), "");
  EXPECT_THAT(error({"T4"}), HasSubstr("--machines: expected MODEL=PROFILE, got \"T4\""));
  EXPECT_THAT(error({"T4=hgx-h100-8"}), HasSubstr("hgx-h100-8 has 8 chips, a node of the trace"));
  EXPECT_THAT(error({"T4=no-such"}), HasSubstr("no built-in profile"));
  EXPECT_THAT(error({"T5=pcie"}), HasSubstr("--machines: no node has the model \"T5\""));
}

TEST(SimulateReport, TextFitsTheTerminal) {
  for (const bool pods_end : {false, true}) {
    std::istringstream lines(report_text(report_of(pods_end), false));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 102U) << line;
  }
  EXPECT_THAT(report_text(report_of(true), false), HasSubstr("WAITING"));
  EXPECT_THAT(report_text(report_of(false), false), Not(HasSubstr("WAITING")));
}

TEST(SimulateReport, JsonHasEveryPolicyAndGoal) {
  const auto json = nlohmann::json::parse(report_json(report_of(false)));
  ASSERT_EQ(json["policies"].size(), 6U);
  EXPECT_EQ(json["policies"][5]["name"], "chipweave");
  EXPECT_EQ(json["policies"][5]["arrived"], 6);
  EXPECT_EQ(json["policies"][5]["never_placed"], 1);
  EXPECT_EQ(json["policies"][5]["multi_chip"]["placed"], 3);
  EXPECT_GT(json["policies"][5]["multi_chip"]["of_most"], 0.5);
  EXPECT_FALSE(json["policies"][5]["curve"].empty());
  EXPECT_EQ(json["goals"].size(), 2U);
  const auto queued = nlohmann::json::parse(report_json(report_of(true)));
  EXPECT_TRUE(queued["policies"][0]["queue"].contains("wait_s"));
}

TEST(SimulateReport, GoalsFollowTheFigures) {
  SimulationReport report = report_of(false);
  PolicyReport& ours = report.policies.back();
  PolicyReport& fgd = report.policies[4];
  ours.summary.of_alone = 0.98;
  ours.summary.fragmented = fgd.summary.fragmented;
  EXPECT_TRUE(goals_of(report)[0].reached);
  EXPECT_TRUE(goals_of(report)[1].reached);
  ours.summary.of_alone = 0.979;
  ours.summary.fragmented.mean += 0.0002;
  EXPECT_FALSE(goals_of(report)[0].reached);
  EXPECT_FALSE(goals_of(report)[1].reached);
  report.policies.pop_back();
  EXPECT_TRUE(goals_of(report).empty());
}

TEST(SimulateReport, HtmlIsWholeAndLoadsNothing) {
  for (const bool pods_end : {false, true}) {
    const std::string html = report_html(report_of(pods_end));
    EXPECT_THAT(html, HasSubstr("</html>"));
    for (const char* loads : {"http:", "https:", "src=", "href=", "url(", "@import", "<script"})
      EXPECT_THAT(html, Not(HasSubstr(loads)));
    EXPECT_THAT(html, Not(HasSubstr("nan")));
    EXPECT_THAT(html, Not(HasSubstr("inf\"")));
    EXPECT_THAT(html, HasSubstr("five &lt; &quot;six&quot;"));
    EXPECT_THAT(html, HasSubstr("&lt;pcie&gt;"));
    EXPECT_EQ(html.find("Pods that wait") != std::string::npos, pods_end);
  }
}

TEST(SvgChart, PointsAreInsideThePlot) {
  const std::string svg = curves_svg({{"one", "c0", {{0, 0}, {5, 36}}}}, {"x", 1}, {"y", 1});
  EXPECT_THAT(svg, HasSubstr("points=\"52.0,258.0 606.0,36.6 \""));  // 36 of 40
  EXPECT_THAT(svg, HasSubstr(">40</text>"));
  EXPECT_THAT(curves_svg({}, {"x", 1}, {"y", 1}), HasSubstr("</svg>"));
  EXPECT_THAT(bars_svg({{"none", "c0", 0, 0, "0"}}), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace chipweave::cli
