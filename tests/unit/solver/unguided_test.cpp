// Bandwidth of chips that are picked without regard to their links.
#include "common/solver/chips/unguided.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;

// The median over all sets of the size.
double median_of_all(solver::Machine& m, ChipSet free, int size, ChipSet beside = {}) {
  std::vector<double> rates;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << m.topology().chip_count()); ++bits) {
    const ChipSet set(bits);
    if (set.size() == size && free.contains(set)) rates.push_back(m.gbps(set | beside));
  }
  std::sort(rates.begin(), rates.end());
  return rates[(rates.size() - 1) / 2];
}

TEST(Unguided, IsTheMedianOfAllSetsWhileThereAreFew) {
  solver::Machine m(test::profile("hgx-v100-8"));
  const ChipSet all = ChipSet::first(8);
  EXPECT_EQ(solver::unguided_gbps(m, all, 2, {}), median_of_all(m, all, 2));
  EXPECT_EQ(solver::unguided_gbps(m, ChipSet{0, 1, 2, 4, 7}, 3, {}),
            median_of_all(m, ChipSet{0, 1, 2, 4, 7}, 3));
  EXPECT_EQ(solver::unguided_gbps(m, all - ChipSet{0, 3}, 2, ChipSet{0, 3}),
            median_of_all(m, all - ChipSet{0, 3}, 2, ChipSet{0, 3}));
  EXPECT_LT(solver::unguided_gbps(m, all, 2, {}), m.best_gbps(2, false));
}

// 70 sets, of which it sees some: within the lower and the upper quartile of all.
TEST(Unguided, IsNearTheMedianWhereThereAreMany) {
  solver::Machine m(test::profile("pcie-nvlink-bridge-8"));
  const ChipSet all = ChipSet::first(8);
  std::vector<double> rates;
  for (std::uint64_t bits = 0; bits < 256; ++bits)
    if (ChipSet(bits).size() == 4) rates.push_back(m.gbps(ChipSet(bits)));
  std::sort(rates.begin(), rates.end());
  const double found = solver::unguided_gbps(m, all, 4, {});
  EXPECT_GE(found, rates[rates.size() / 4]);
  EXPECT_LE(found, rates[rates.size() * 3 / 4]);
  EXPECT_EQ(solver::unguided_gbps(m, all, 4, {}), found) << "the same each time";
}

TEST(Unguided, CostsNothingWhereAllSetsAreEqual) {
  solver::Machine m(test::profile("hgx-h100-8"));
  EXPECT_EQ(solver::unguided_gbps(m, ChipSet::first(8), 4, {}), m.best_gbps(4, false));
}

TEST(Unguided, TakesAllChipsOfALargeMachineAndNoneThatAreNotThere) {
  solver::Machine m(test::profile("hgx-v100-8"));
  EXPECT_EQ(solver::unguided_gbps(m, ChipSet::first(8), 8, {}), m.gbps(ChipSet::first(8)));
  EXPECT_EQ(solver::unguided_gbps(m, ChipSet{0, 1}, 3, {}), 0);
  EXPECT_EQ(solver::unguided_gbps(m, ChipSet{0, 1}, 0, {}), 0);
}

}  // namespace
}  // namespace chipweave
