#include "cli/plan/render_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal.hpp"

namespace chipweave::cli {
namespace {

using domain::kNoSet;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

codec::PlanNode plan_node(const std::string& name, std::vector<std::string> path) {
  codec::PlanNode out;
  out.name = name;
  out.path = std::move(path);
  return out;
}

// Two racks of two nodes; `pods` asked, all of which must run.
codec::PlanRequest request(int pods) {
  codec::PlanRequest out;
  out.levels = {"block", "rack"};
  out.nodes = {plan_node("x1", {"b1", "r1"}), plan_node("x2", {"b1", "r1"}),
               plan_node("x3", {"b1", "r2"}), plan_node("x4", {})};
  out.gang.pods = pods;
  out.gang.min_member = pods;
  return out;
}

domain::Plan plan(std::vector<domain::PlannedPod> pods, std::vector<int> domains) {
  domain::Plan out;
  out.fits = true;
  out.pods = std::move(pods);
  out.domains = std::move(domains);
  return out;
}

void expect_narrow(const std::string& page) {
  for (std::size_t start = 0; start < page.size();) {
    const std::size_t end = page.find('\n', start);
    EXPECT_LE(end - start, kMaxColumns) << page.substr(start, end - start);
    start = end + 1;
  }
}

TEST(RenderPlan, SaysWhatFitsWhereAndWhichRanks) {
  const auto made =
      plan({{0, 0, 0, kNoSet}, {1, 0, 1, kNoSet}, {2, 0, 2, kNoSet}, {3, 2, 3, kNoSet}}, {1, 2});
  EXPECT_EQ(render_plan(request(4), made),
            "fits: 4 pods on 2 nodes\n"
            "domains: block 1, rack 2 (proven the best)\n"
            "\n"
            "NODE  PATH   PODS  RANKS\n"
            "x1    b1/r1     3  0-2\n"
            "x3    b1/r2     1  3\n");
}

TEST(RenderPlan, SaysWhatIsLeftOverAndWhatIsNotProven) {
  codec::PlanRequest asked = request(6);
  asked.gang.min_member = 2;
  asked.gang.existing[1] = {3, {}};
  domain::Plan made = plan({{0, 3, 3, kNoSet}}, {2, 3});
  made.optimal = false;
  made.bound = {1, 2};
  EXPECT_EQ(
      render_plan(asked, made),
      "fits: 1 of 6 pods on 1 node, beside 3 that run; at least 2 must run\n"
      "domains: block 2, rack 3 (not proven the best; no plan has fewer than block 1, rack 2)\n"
      "\n"
      "NODE  PATH  PODS  RANKS\n"
      "x4    -        1  3\n");
}

TEST(RenderPlan, ARepairCountsLostPods) {
  codec::PlanRequest asked = request(8);
  asked.gang.existing[0] = {2, {}};
  asked.gang.existing[1] = {6, {}};
  asked.gang.failed = {0};
  EXPECT_THAT(render_plan(asked, plan({{0, 2, 4, kNoSet}, {1, 2, 5, kNoSet}}, {1, 2})),
              StartsWith("fits: 2 lost pods on 1 node, beside 6 that run\n"));
}

TEST(RenderPlan, RolesAreRowsOfTheirOwn) {
  codec::PlanRequest asked = request(3);
  asked.gang.roles = true;
  asked.gang.sets.resize(2);
  asked.gang.sets[0].name = "leader";
  asked.gang.sets[1].name = "worker";
  const auto made = plan({{1, 0, 0, 1}, {0, 0, 1, 0}, {2, 0, 2, 1}}, {1, 1});
  EXPECT_THAT(render_plan(asked, made), HasSubstr("\nNODE  PATH   ROLE    PODS  RANKS\n"
                                                  "x1    b1/r1  worker     2  0,2\n"
                                                  "x1    b1/r1  leader     1  1\n"));
  asked.gang.roles = false;
  EXPECT_THAT(render_plan(asked, made), HasSubstr("NODE  PATH   SUBGROUP  PODS  RANKS\n"));
}

TEST(RenderPlan, ShowsChipsAndBandwidthWhereTheyAreKnown) {
  const auto made = plan({{0, 0, 0, kNoSet}, {1, 0, 1, kNoSet}, {2, 1, 2, kNoSet}}, {1, 1});
  codec::PlanDetails details;
  details.chips = {{4, 5}, {0, 1}, {}};
  details.bandwidth = {{"gbps", 45.25, ""}, {"limit", std::nullopt, "chips of x1"}};
  EXPECT_EQ(render_plan(request(3), made, details),
            "fits: 3 pods on 2 nodes\n"
            "domains: block 1, rack 1 (proven the best)\n"
            "bandwidth: 45.3 GB/s predicted, limited by chips of x1\n"
            "\n"
            "NODE  PATH   PODS  RANKS  CHIPS\n"
            "x1    b1/r1     2  0,1    0,1,4,5\n"
            "x2    b1/r1     1  2      -\n");
  details.bandwidth.push_back({"left_out", std::nullopt, "rails of x1"});
  EXPECT_THAT(
      render_plan(request(3), made, details),
      HasSubstr("bandwidth: at most 45.3 GB/s predicted, limited by chips of x1; not known: "
                "rails of x1\n"));
}

TEST(RenderPlan, LongPlansAreCutAndSaySo) {
  codec::PlanRequest asked = request(90);
  asked.nodes.clear();
  std::vector<domain::PlannedPod> pods;
  for (int i = 0; i < 45; ++i) {
    asked.nodes.push_back(plan_node("n" + std::to_string(i), {"b", "r"}));
    for (int k = 0; k < 2; ++k)
      pods.push_back({2 * i + k, static_cast<domain::GangNodeId>(i), 2 * i + k, kNoSet});
  }
  const auto made = plan(pods, {1, 1});
  const std::string page = render_plan(asked, made, {}, kMaxColumns);
  EXPECT_THAT(page, HasSubstr("\nn39   b/r      2  78,79\n"
                              "5 more rows with 10 pods left out: -o json has all\n"));
  EXPECT_THAT(page, Not(HasSubstr("n40")));
  const std::string piped = render_plan(asked, made, {}, kUnlimited);
  EXPECT_THAT(piped, HasSubstr("\nn44   b/r      2  88,89\n"));
  EXPECT_THAT(piped, Not(HasSubstr("left out")));
}

TEST(RenderPlan, NothingIsWiderThanATerminal) {
  codec::PlanRequest asked = request(200);
  const std::string longest(253, 'n');
  asked.nodes = {plan_node(longest, std::vector<std::string>(16, longest)),
                 plan_node("x\nx", {"b"})};
  asked.levels.assign(16, std::string(70, 'l'));
  asked.gang.sets.resize(1);
  asked.gang.sets[0].name = longest;
  std::vector<domain::PlannedPod> pods;
  codec::PlanDetails details;
  for (int i = 0; i < 200; ++i) {
    pods.push_back({i, static_cast<domain::GangNodeId>(i % 2), 99000 + i, 0});
    details.chips.push_back({3 * i});
  }
  const auto made = plan(pods, std::vector<int>(16, 1));
  const std::string page = render_plan(asked, made, details, kMaxColumns);
  expect_narrow(page);
  EXPECT_THAT(page, HasSubstr("  99000,99002,...  "));
  EXPECT_THAT(page, HasSubstr("\nx?x "));
  EXPECT_THAT(render_plan(asked, made, details, kUnlimited),
              AllOf(HasSubstr("\n" + longest + "  " + longest), HasSubstr(",99198  ")));
}

}  // namespace
}  // namespace chipweave::cli
