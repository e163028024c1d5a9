#include "common/solver/chips/baselines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/profiles/profiles.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;

NodeTopology profile(std::string_view name) {
  const profiles::Profile* found = profiles::find(name);
  EXPECT_NE(found, nullptr) << name;
  auto imported = codec::import_topology_json(found->json, {});
  EXPECT_TRUE(imported.ok());
  return std::move(imported->topology);
}

int sum_of(const NodeTopology& topology, ChipSet set) {
  int sum = 0;
  for (const int a : set) {
    for (const int b : set) sum += a < b ? pair_points(topology, a, b) : 0;
  }
  return sum;
}

TEST(PairPoints, HostPathPlusHundredALane) {
  domain::TopologyBuilder builder;
  for (int i = 0; i < 8; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    builder.add_chip(chip);
  }
  const LinkKind paths[] = {LinkKind::board, LinkKind::pix,  LinkKind::pxb,
                            LinkKind::phb,   LinkKind::node, LinkKind::sys};
  for (int i = 0; i < 6; ++i) builder.add_link(ChipIndex{0}, ChipIndex{i + 1}, paths[i]);
  builder.add_link(ChipIndex{0}, ChipIndex{2}, LinkKind::nvlink, 3, 20.0, 1);
  builder.add_switch("s", LinkKind::nvswitch, {{ChipIndex{6}, 6, 0}, {ChipIndex{7}, 12, 8}}, 20.0);
  auto built = std::move(builder).build();
  ASSERT_TRUE(built.ok()) << built.error().text();
  EXPECT_EQ(pair_points(*built, 0, 1), 60);
  EXPECT_EQ(pair_points(*built, 0, 2), 50 + 200);  // one of three lanes is down
  EXPECT_EQ(pair_points(*built, 0, 3), 40);
  EXPECT_EQ(pair_points(*built, 0, 4), 30);
  EXPECT_EQ(pair_points(*built, 0, 5), 20);
  EXPECT_EQ(pair_points(*built, 0, 6), 10);
  EXPECT_EQ(pair_points(*built, 6, 7), 10 + 400);  // the smaller port, lanes that are up
  EXPECT_EQ(pair_points(*built, 7, 6), pair_points(*built, 6, 7));
}

// The DGX-1V, five of eight chips: the largest pair sum has a chip that hangs on one neighbour, so
// no NVLink ring runs through the set at all, although other sets of five have one.
TEST(PairSum, DgxOneFiveChipsHasNoRing) {
  const NodeTopology dgx = profile("hgx-v100-8");
  const auto chosen = choose_by_pair_sum(dgx, dgx.all(), 5);
  ASSERT_TRUE(chosen.has_value());
  ASSERT_EQ(chosen->size(), 5);
  int least_neighbours = 5;
  for (const int a : *chosen) {
    int neighbours = 0;
    for (const int b : *chosen) neighbours += a != b && dgx.link(a, b) != nullptr ? 1 : 0;
    least_neighbours = std::min(least_neighbours, neighbours);
  }
  EXPECT_EQ(least_neighbours, 1);

  Machine machine(dgx);
  Request request;
  request.usable = dgx.all();
  request.size = 5;
  const Choice ours = machine.choose(request);
  ASSERT_TRUE(ours.fits);
  EXPECT_GT(ours.gbps, machine.gbps(*chosen));
  EXPECT_LE(sum_of(dgx, ours.chips), sum_of(dgx, *chosen));
}

TEST(PairSum, EqualsTheLargestSumOfAllSetsAndTakesTheLowestIndices) {
  const NodeTopology dgx = profile("hgx-v100-8");
  const ChipSet free{0, 2, 3, 5, 6, 7};
  for (int size = 1; size <= 6; ++size) {
    ChipSet best;
    int best_sum = -1;
    for (std::uint64_t bits = 0; bits < 256; ++bits) {
      const ChipSet set(bits);
      if (set.size() != size || !free.contains(set)) continue;
      const int sum = sum_of(dgx, set);
      if (sum > best_sum || (sum == best_sum && lower_indices(set, best))) {
        best = set;
        best_sum = sum;
      }
    }
    const auto chosen = choose_by_pair_sum(dgx, free, size);
    ASSERT_TRUE(chosen.has_value()) << size;
    EXPECT_EQ(*chosen, best) << size;
  }
}

TEST(PairSum, SwitchedMachinesTieEverywhereSoLowestIndicesWin) {
  const NodeTopology hgx = profile("hgx-h100-8");
  const auto chosen = choose_by_pair_sum(hgx, ChipSet{1, 2, 3, 4, 5, 6, 7}, 4);
  ASSERT_TRUE(chosen.has_value());
  Machine machine(hgx);
  EXPECT_DOUBLE_EQ(machine.gbps(*chosen), machine.best_gbps(4, false));
}

TEST(PairSum, RefusesWhatItCannotDo) {
  const NodeTopology cards = profile("ascend-310-chip-4");
  ASSERT_EQ(cards.chip_count(), 64);
  EXPECT_FALSE(choose_by_pair_sum(cards, cards.all(), 32).has_value());  // 1.8e18 sets
  EXPECT_TRUE(choose_by_pair_sum(cards, cards.all(), 2).has_value());
  EXPECT_FALSE(choose_by_pair_sum(cards, ChipSet{1, 2}, 3).has_value());
  EXPECT_FALSE(choose_by_pair_sum(cards, ChipSet{1, 2}, -1).has_value());
  EXPECT_EQ(choose_by_pair_sum(cards, ChipSet{1, 2}, 0), ChipSet());
}

TEST(FirstFit, LowestFreeChips) {
  EXPECT_EQ(choose_first_fit(ChipSet{1, 3, 4, 63}, 3), (ChipSet{1, 3, 4}));
  EXPECT_EQ(choose_first_fit(ChipSet{1, 3}, 2), (ChipSet{1, 3}));
  EXPECT_EQ(choose_first_fit(ChipSet{1, 3}, 0), ChipSet());
  EXPECT_FALSE(choose_first_fit(ChipSet{1, 3}, 3).has_value());
  EXPECT_FALSE(choose_first_fit(ChipSet{1, 3}, -1).has_value());
}

}  // namespace
}  // namespace chipweave::solver
