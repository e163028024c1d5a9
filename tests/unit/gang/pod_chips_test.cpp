// Sizes that pods of one job may have on a machine.
#include "common/solver/gang/chips/pod_chips.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/domain/topology_builder.hpp"

namespace chipweave::solver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

domain::NodeTopology machine(domain::RuleKind kind, int group, int chips) {
  domain::TopologyBuilder builder;
  builder.vendor = "ascend";
  builder.model = "test";
  builder.rule = domain::PlacementRule{kind, group};
  for (int i = 0; i < chips; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    builder.add_chip(chip);
  }
  return std::move(std::move(builder).build()).value();
}
std::string pod_problem(const domain::NodeTopology& of, const std::vector<int>& chips) {
  const auto ok = check_pod_chips(of, chips);
  return ok ? "" : ok.error().text();
}

TEST(PodChips, Of910A) {
  const auto module = machine(domain::RuleKind::ascend_910a_module, 4, 8);
  EXPECT_EQ(pod_problem(module, {1, 2, 4, 8}), "");
  EXPECT_THAT(pod_problem(module, {8, 3}),
              AllOf(StartsWith("pod_chips[1]"),
                    HasSubstr("legal sizes of a distributed job are 1, 2, 4, 8")));
  EXPECT_THAT(pod_problem(module, {3}), HasSubstr("legal sizes are 1, 2, 4, 8"));
  const auto half = machine(domain::RuleKind::ascend_910a_half, 4, 4);
  EXPECT_THAT(pod_problem(half, {4, 3}), HasSubstr("1, 2, 4"));
}

TEST(PodChips, Of910B) {
  const auto mesh = machine(domain::RuleKind::any, 1, 8);
  for (int size = 1; size <= 8; ++size) EXPECT_EQ(pod_problem(mesh, {size, size}), "") << size;
  EXPECT_NE(pod_problem(mesh, {9, 1}), "");
  const auto two = machine(domain::RuleKind::ascend_910b_16, 8, 16);
  for (const int size : {9, 11, 13, 15}) {
    EXPECT_NE(pod_problem(two, {size}), "");
    EXPECT_NE(pod_problem(two, {16, size}), "");
  }
  EXPECT_EQ(pod_problem(two, {1, 7, 8, 10, 12, 14, 16}), "");
}

TEST(PodChips, OddPodsOfA3AreAlone) {
  const auto a3_node = machine(domain::RuleKind::ascend_a3, 2, 16);
  EXPECT_EQ(pod_problem(a3_node, {1}), "");
  EXPECT_EQ(pod_problem(a3_node, {1, 0}), "");  // one pod with chips: not distributed
  EXPECT_THAT(pod_problem(a3_node, {1, 2}), HasSubstr("pod_chips[0]: 1 chip asked"));
  EXPECT_NE(pod_problem(a3_node, {3}), "");
  EXPECT_EQ(pod_problem(a3_node, {2, 16, 0}), "");
}

}  // namespace
}  // namespace chipweave::solver
