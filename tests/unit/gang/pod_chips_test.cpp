// Sizes that pods of one job may have on a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/sets/rules.hpp"

namespace chipweave::solver {
namespace {

using ::testing::HasSubstr;

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
std::string problem(const domain::NodeTopology& of, int size, bool distributed) {
  const Wiring wiring(of);
  const Rules rules(wiring);
  return rules.legal_size(size, distributed) ? "" : rules.size_refusal(size, distributed);
}

TEST(PodChips, Of910A) {
  const auto module = machine(domain::RuleKind::ascend_910a_module, 4, 8);
  for (const int size : {1, 2, 4, 8}) EXPECT_EQ(problem(module, size, true), "") << size;
  EXPECT_EQ(problem(module, 3, true),
            "3 chips asked, legal sizes of a distributed job are 1, 2, 4, 8");
  EXPECT_EQ(problem(module, 3, false), "3 chips asked, legal sizes are 1, 2, 4, 8");
  const auto half = machine(domain::RuleKind::ascend_910a_half, 4, 4);
  EXPECT_THAT(problem(half, 3, true), HasSubstr("are 1, 2, 4"));
}

TEST(PodChips, Of910B) {
  const auto mesh = machine(domain::RuleKind::any, 1, 8);
  for (int size = 1; size <= 8; ++size) EXPECT_EQ(problem(mesh, size, true), "") << size;
  EXPECT_NE(problem(mesh, 9, true), "");
  const auto two = machine(domain::RuleKind::ascend_910b_16, 8, 16);
  for (const int size : {9, 11, 13, 15}) {
    EXPECT_NE(problem(two, size, false), "");
    EXPECT_NE(problem(two, size, true), "");
  }
  for (const int size : {1, 7, 8, 10, 12, 14, 16}) EXPECT_EQ(problem(two, size, true), "") << size;
}

TEST(PodChips, OddPodsOfA3AreAlone) {
  const auto a3_node = machine(domain::RuleKind::ascend_a3, 2, 16);
  EXPECT_EQ(problem(a3_node, 1, false), "");
  EXPECT_THAT(problem(a3_node, 1, true), HasSubstr("1 chip asked"));
  EXPECT_NE(problem(a3_node, 3, false), "");
  EXPECT_EQ(problem(a3_node, 2, true), "");
  EXPECT_EQ(problem(a3_node, 16, true), "");
}

}  // namespace
}  // namespace chipweave::solver
