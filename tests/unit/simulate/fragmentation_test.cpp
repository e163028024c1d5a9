#include "common/solver/simulate/cluster/fragmentation.hpp"

#include <gtest/gtest.h>

#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

using test::machine;
using test::node;
using test::pod;

TEST(RequestMix, CountsClassesMostFrequentFirst) {
  const auto mix = request_mix({pod(1), pod(8), pod(1), pod(1, 2000)});
  ASSERT_EQ(mix.size(), 3U);
  EXPECT_EQ(mix[0].shape, (PodShape{1, 1000, 1}));
  EXPECT_DOUBLE_EQ(mix[0].share, 0.5);
  EXPECT_DOUBLE_EQ(mix[1].share + mix[2].share, 0.5);
  EXPECT_TRUE(request_mix({}).empty());
}

// The paper's definition, term by term: a half asks for one chip, a quarter for four, a quarter
// for none.
TEST(Fragmentation, AllFreeChipsOfANodeAreUnusableToWhatDoesNotFit) {
  ModelNode n = node("n", machine("pcie-8"), 10000);
  const Fragmentation of({{{1, 1000, 0}, 0.5}, {{4, 6000, 0}, 0.25}, {{0, 1000, 0}, 0.25}}, {n});
  EXPECT_DOUBLE_EQ(of.total(), 8 * 0.25);  // pods without chips can use none
  n.free = ChipSet::first(3);
  EXPECT_DOUBLE_EQ(of.of(n), 3 * (0.25 + 0.25));
  n.free = ChipSet::first(5);
  EXPECT_DOUBLE_EQ(of.of(n), 5 * 0.25);
  n.cpu_milli = 5000;  // too little for four chips
  EXPECT_DOUBLE_EQ(of.of(n), 5 * (0.25 + 0.25));
  n.cpu_milli = 500;
  EXPECT_DOUBLE_EQ(of.of(n), 5);
  n.free = {};
  EXPECT_DOUBLE_EQ(of.of(n), 0);
}

TEST(Fragmentation, UpdatesKeepTheTotal) {
  std::vector<ModelNode> nodes{node("a", machine("pcie-8")), node("b", machine("pcie-8"))};
  Fragmentation of({{{8, 1000, 0}, 1}}, nodes);
  EXPECT_DOUBLE_EQ(of.total(), 0);
  nodes[1].free = ChipSet::first(7);
  of.update(1, nodes[1]);
  EXPECT_DOUBLE_EQ(of.total(), 7);
  EXPECT_DOUBLE_EQ(of.of(std::size_t{1}), 7);
  nodes[1].free = ChipSet::first(8);
  of.update(1, nodes[1]);
  EXPECT_DOUBLE_EQ(of.total(), 0);
}

}  // namespace
}  // namespace chipweave::simulate
