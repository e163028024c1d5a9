// Chips of other jobs: of equally good sets the one that shares no adapter and no uplink with them,
// against every set of machines whose chips differ on the host side only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/machine.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver::loaded_test {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::LinkKind;

ChipSet slots(std::initializer_list<int> list) {
  ChipSet out;
  for (const int slot : list) out.insert(slot);
  return out;
}

TEST(Loaded, AChipOnAFreeUplinkComesFirst) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 4; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.numa = 0;
    b.add_chip(std::move(chip));
  }
  b.add_link(ChipIndex{0}, ChipIndex{1}, LinkKind::pix);
  b.add_link(ChipIndex{2}, ChipIndex{3}, LinkKind::pix);
  Machine machine(std::move(b).build().value());
  Request request{slots({1, 3}), {}, {}, 1};
  EXPECT_EQ(machine.choose(request).chips, slots({1}));
  request.loaded = slots({0});
  EXPECT_EQ(machine.choose(request).chips, slots({3}));
}

TEST(Loaded, NoneOfThemIsChosen) {
  Machine machine(test::profile("hgx-h100-8"));
  // What is usable is not loaded, whatever the request says.
  EXPECT_EQ(
      machine.choose({slots({0, 1}), {}, {}, 2, false, domain::Objective::bandwidth, slots({0, 1})})
          .chips,
      slots({0, 1}));
}

// Eight chips on one switch; adapters near random chips, random pairs behind one uplink, two NUMA
// nodes.
struct Box {
  std::vector<int> numa;
  std::vector<std::set<int>> near;  // by adapter
  domain::NodeTopology topology;
};

Box random_box(std::mt19937& random) {
  const auto draw = [&random](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  std::vector<int> numa;
  std::vector<std::set<int>> near;
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < 8; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    chip.numa = i / 4;
    numa.push_back(chip.numa);
    b.add_chip(std::move(chip));
  }
  std::vector<domain::TopologyBuilder::Port> ports;
  for (int i = 0; i < 8; ++i) ports.push_back({ChipIndex{i}, 18, 0});
  b.add_switch("nvswitch", LinkKind::nvswitch, std::move(ports), 20.6);
  for (int i = 0; i < 8; i += 2) {
    if (draw(1) == 0) b.add_link(ChipIndex{i}, ChipIndex{i + 1}, LinkKind::pix);
  }
  const int adapters = draw(6);
  for (int k = 0; k < adapters; ++k) {
    std::map<ChipIndex, LinkKind> paths;
    std::set<int>& of = near.emplace_back();
    const int first = draw(7);
    for (const int chip : {first, first ^ 1}) {
      if (chip != first && draw(1) == 0) continue;
      paths[ChipIndex{chip}] = LinkKind::pxb;
      of.insert(chip);
    }
    b.add_nic("nic" + std::to_string(k), "", first / 4, 50, paths);
  }
  auto built = std::move(b).build();
  if (!built) throw std::runtime_error(built.error().text());
  return {std::move(numa), std::move(near), *std::move(built)};
}

// The most chips of a set that can have an adapter each.
int matched(const Box& box, const std::vector<int>& chips, std::size_t at,
            std::set<std::size_t> used) {
  if (at == chips.size()) return 0;
  int best = matched(box, chips, at + 1, used);
  for (std::size_t k = 0; k < box.near.size(); ++k) {
    if (used.contains(k) || !box.near[k].contains(chips[at])) continue;
    std::set<std::size_t> with = used;
    with.insert(k);
    best = std::max(best, 1 + matched(box, chips, at + 1, std::move(with)));
  }
  return best;
}

std::vector<int> list(ChipSet set) {
  std::vector<int> out;
  for (const int slot : set) out.push_back(slot);
  return out;
}

using Value = std::tuple<int, int, int, std::vector<int>>;

Value value_of(const Box& box, ChipSet set, ChipSet loaded) {
  std::set<int> nodes;
  for (const int slot : set) nodes.insert(box.numa[static_cast<std::size_t>(slot)]);
  const int with = matched(box, list(set | loaded), 0, {});
  const int without = matched(box, list(loaded), 0, {});
  const int no_adapter = box.near.empty() ? 0 : set.size() - (with - without);
  int shared = 0;
  const auto behind_one = [&box](int a, int b) {
    return box.topology.host_path(a, b) == LinkKind::pix;
  };
  for (const int a : set) {
    for (const int b : set)
      if (a < b && behind_one(a, b)) ++shared;
    for (const int b : loaded)
      if (behind_one(a, b)) ++shared;
  }
  return {static_cast<int>(nodes.size()), no_adapter, shared, list(set)};
}

TEST(Loaded, NoOtherSetIsBetterOnTheHostSide) {
  std::mt19937 random(4);
  int moved = 0;
  for (int round = 0; round < 300; ++round) {
    const Box box = random_box(random);
    Machine machine(box.topology);
    const ChipSet usable(random() & box.topology.all().bits());
    const ChipSet loaded = ChipSet(random() & box.topology.all().bits()) - usable;
    for (int size = 1; size <= std::min(usable.size(), 5); ++size) {
      const Request request{usable, {}, {}, size, false, domain::Objective::bandwidth, loaded};
      const Choice choice = machine.choose(request);
      ASSERT_TRUE(choice.fits);
      std::optional<Value> best;
      for (std::uint64_t bits = 0; bits < 256; ++bits) {
        const ChipSet set(bits);
        if (set.size() != size || !usable.contains(set)) continue;
        Value value = value_of(box, set, loaded);
        if (!best || value < *best) best = std::move(value);
      }
      EXPECT_EQ(value_of(box, choice.chips, loaded), *best) << "round " << round;
      Request alone = request;
      alone.loaded = {};
      if (machine.choose(alone).chips != choice.chips) ++moved;
    }
  }
  EXPECT_GT(moved, 30);
}

}  // namespace
}  // namespace chipweave::solver::loaded_test
