#include "cli/compare.hpp"

#include <gmock/gmock.h>

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
  const auto best = comparer.best_gbps("hgx-v100-8", 5, false);
  ASSERT_TRUE(best.has_value());
  EXPECT_LT(found->pair_sum->gbps, *best);
}

TEST(Comparer, SaysWhatAVendorWouldRefuse) {
  Comparer comparer;
  const auto found = comparer.compare(node("ascend-910a-8", {2, 3, 4, 5, 6, 7}), 4, false);
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->first_fit.has_value());
  EXPECT_THAT(found->first_fit->chips, ElementsAre(2, 3, 4, 5));
  EXPECT_FALSE(found->first_fit->legal);  // two chips in each ring
}

TEST(Comparer, UnknownMachinesAreNotCompared) {
  Comparer comparer;
  EXPECT_FALSE(comparer.compare(node("/etc/passwd", {0, 1}), 2, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 1}), 3, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 9}), 1, false).has_value());
  EXPECT_FALSE(comparer.compare(node("hgx-v100-8", {0, 1}), 0, false).has_value());
  EXPECT_FALSE(comparer.best_gbps("no-such-box", 2, false).has_value());
  EXPECT_FALSE(comparer.best_gbps("hgx-v100-8", 9, false).has_value());
}

}  // namespace
}  // namespace chipweave::cli
