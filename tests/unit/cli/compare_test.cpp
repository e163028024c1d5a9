#include "cli/compare.hpp"

#include <gmock/gmock.h>

#include "tests/unit/cli/profile.hpp"

namespace chipweave::cli {
namespace {

using testing::ElementsAre;

codec::NodeView node(const std::string& machine, std::vector<int> free) {
  codec::NodeView view;
  view.name = "n";
  view.machine = machine;
  view.free = std::move(free);
  return view;
}

TEST(Comparer, FiveChipsOfADgxOne) {
  Comparer comparer;
  const auto found = comparer.compare(node("hgx-v100-8", {0, 1, 2, 3, 4, 5, 6, 7}), 5, false);
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->pair_sum.has_value());
  ASSERT_TRUE(found->first_fit.has_value());
  EXPECT_THAT(found->first_fit->chips, ElementsAre(0, 1, 2, 3, 4));
  solver::Machine machine(test::profile("hgx-v100-8"));
  EXPECT_LT(found->pair_sum->gbps, machine.best_gbps(5, false));
  EXPECT_DOUBLE_EQ(found->first_fit->gbps, machine.gbps(domain::ChipSet{0, 1, 2, 3, 4}));
}

TEST(Comparer, SaysWhatAVendorWouldRefuse) {
  Comparer comparer;
  const auto found = comparer.compare(node("ascend-910a-8", {2, 3, 4, 5, 6, 7}), 4, false);
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->first_fit.has_value());
  EXPECT_THAT(found->first_fit->chips, ElementsAre(2, 3, 4, 5));
  EXPECT_FALSE(found->first_fit->legal);  // two chips in each ring
}

TEST(Comparer, CountsTheChipsOfTheSameJob) {
  Comparer comparer;
  const auto free = node("pcie-8", {3, 4, 5, 6, 7});
  EXPECT_EQ(comparer.compare(free, 3, false)->pair_sum->gbps, 24);  // 4, 5, 6: one socket
  EXPECT_EQ(comparer.compare(free, 3, false, {0, 1, 2})->pair_sum->gbps,
            20);  // with 0-2: two sockets
  EXPECT_FALSE(comparer.compare(free, 3, false, {9}).has_value());
}

TEST(Comparer, KnowsWhichLinksAreDown) {
  Comparer comparer;
  codec::NodeView broken = node("hgx-v100-8", {0, 3});
  broken.down_links = {{{0}, {3}, 1}};
  EXPECT_EQ(comparer.compare(broken, 2, false)->first_fit->gbps, 20);
  EXPECT_EQ(comparer.compare(node("hgx-v100-8", {0, 3}), 2, false)->first_fit->gbps, 40);
}

TEST(Comparer, UnknownMachinesAreNotCompared) {
  Comparer comparer;
  EXPECT_FALSE(comparer.compare(node("/etc/passwd", {0, 1}), 2, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 1}), 3, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 9}), 1, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 1}), 0, false).has_value());
}

}  // namespace
}  // namespace chipweave::cli
