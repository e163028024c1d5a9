// Chips of a gang's pods on one node: the joint set, its parts in rank order against plain
// enumeration, vendor rules, tables of bandwidths, rings.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "common/domain/topology_builder.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;
using domain::NodeTopology;
using solver::choose_for_pods;
using solver::GroupChoice;
using solver::Machine;
using Sets = std::vector<ChipSet>;

// The bandwidth between two sets of chips in 1e-6 GB/s: the rule of node_chips.hpp restated on the
// topology itself.
class PlainHops {
 public:
  explicit PlainHops(const NodeTopology& t) : t_(t) {
    const int n = t.chip_count();
    routed_.assign(static_cast<std::size_t>(n * n), 0);
    for (const domain::DirectLink& l : t.links()) {
      if (!domain::is_routed(l.kind)) continue;
      routed(l.a, l.b) = routed(l.b, l.a) = rate(l.gbps());
    }
    for (int k = 0; k < n; ++k) {
      for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b)
          routed(a, b) = std::max(routed(a, b), std::min(routed(a, k), routed(k, b)));
      }
    }
    for (const domain::Switch& s : t.switches()) {
      ChipSet members;
      for (const domain::SwitchPort& p : s.ports) {
        if (p.lanes_up() > 0) members.insert(p.slot);
      }
      for (const domain::SwitchPort& p : s.ports)
        planes_[members.bits()][p.slot] += rate(p.lanes_up() * s.gbps_per_lane);
    }
  }

  std::int64_t fast(ChipSet a, ChipSet b) const {
    std::int64_t direct = 0;
    for (const domain::DirectLink& l : t_.links()) {
      if ((a.contains(l.a) && b.contains(l.b)) || (a.contains(l.b) && b.contains(l.a)))
        direct += rate(l.gbps());
    }
    std::int64_t switched = 0;
    for (const auto& [members, ports] : planes_) {
      std::int64_t from = 0;
      std::int64_t to = 0;
      for (const auto& [slot, egress] : ports) {
        from += a.contains(slot) ? egress : 0;
        to += b.contains(slot) ? egress : 0;
      }
      switched += std::min(from, to);
    }
    return std::max(direct, switched);
  }
  std::int64_t any(ChipSet a, ChipSet b) {
    std::int64_t best = fast(a, b);
    for (const int i : a) {
      for (const int j : b) best = std::max({best, routed(i, j), host(i, j)});
    }
    return best;
  }

 private:
  static std::int64_t rate(double gbps) { return std::llround(gbps * 1e6); }
  std::int64_t& routed(int a, int b) {
    return routed_[static_cast<std::size_t>(a * t_.chip_count() + b)];
  }
  std::int64_t host(int a, int b) const {
    if (!t_.p2p()) return rate(0.75 * t_.host_bandwidth().pix);
    return rate(t_.host_bandwidth().of(t_.host_path(a, b)));
  }

  const NodeTopology& t_;
  std::vector<std::int64_t> routed_;
  std::map<std::uint64_t, std::map<int, std::int64_t>> planes_;
};

// slowest pod, sum of pods, then the chain's sum, least, sum of widest ways, closing hop
using Worth = std::array<std::int64_t, 6>;

Worth worth(Machine& machine, PlainHops& hops, const Sets& parts) {
  Worth w{std::numeric_limits<std::int64_t>::max(), 0, 0, 0, 0, 0};
  for (const ChipSet p : parts) {
    if (p.size() < 2) continue;
    const std::int64_t rate = std::llround(machine.gbps(p) * 1e6);
    w[0] = std::min(w[0], rate);
    w[1] += rate;
  }
  if (parts.size() < 2) return w;
  w[3] = std::numeric_limits<std::int64_t>::max();
  for (std::size_t k = 1; k < parts.size(); ++k) {
    w[2] += hops.fast(parts[k - 1], parts[k]);
    w[3] = std::min(w[3], hops.fast(parts[k - 1], parts[k]));
    w[4] += hops.any(parts[k - 1], parts[k]);
  }
  w[5] = hops.fast(parts.back(), parts.front());
  return w;
}

// Every way to divide `pool` among pods of these sizes, in their order.
void each_deal(ChipSet pool, const std::vector<int>& sizes, Sets& parts,
               const std::function<void(const Sets&)>& see) {
  if (parts.size() == sizes.size()) {
    see(parts);
    return;
  }
  for (std::uint64_t bits = pool.bits(); bits != 0; bits = (bits - 1) & pool.bits()) {
    if (ChipSet(bits).size() != sizes[parts.size()]) continue;
    parts.push_back(ChipSet(bits));
    each_deal(pool - ChipSet(bits), sizes, parts, see);
    parts.pop_back();
  }
}

std::vector<int> lowest_chips(const Sets& parts) {
  std::vector<int> out;
  for (const ChipSet p : parts) out.push_back(p.lowest());
  return out;
}

void check_against_enumeration(const NodeTopology& t, const solver::GroupRequest& pods) {
  Machine machine(t);
  PlainHops hops(t);
  const GroupChoice found = choose_for_pods(machine, pods);
  const int total = std::accumulate(pods.sizes.begin(), pods.sizes.end(), 0);
  const ChipSet pool = pods.usable - pods.already_held;
  ASSERT_EQ(found.fits, total <= pool.size());
  if (!found.fits) return;
  double best_union = 0;
  for (std::uint64_t bits = pool.bits(); bits != 0; bits = (bits - 1) & pool.bits()) {
    if (ChipSet(bits).size() == total)
      best_union = std::max(best_union, machine.gbps(ChipSet(bits) | pods.already_held));
  }
  EXPECT_EQ(found.gbps, best_union);
  ASSERT_EQ(found.parts.size(), pods.sizes.size());
  const Worth mine = worth(machine, hops, found.parts);
  Worth best{};
  Sets parts;
  std::vector<std::uint64_t> same_parts;
  for (const ChipSet p : found.parts) same_parts.push_back(p.bits());
  std::sort(same_parts.begin(), same_parts.end());
  each_deal(found.chips, pods.sizes, parts, [&](const Sets& other) {
    const Worth w = worth(machine, hops, other);
    best = std::max(best, w);
    if (w != mine) return;
    std::vector<std::uint64_t> bits;
    for (const ChipSet p : other) bits.push_back(p.bits());
    std::sort(bits.begin(), bits.end());
    if (bits == same_parts) {
      EXPECT_LE(lowest_chips(found.parts), lowest_chips(other));
    }
  });
  EXPECT_EQ(mine, best);
}

TEST(PodsOfANode, BestOrderOfAllOnRandomMachines) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int chips = 4 + static_cast<int>(random() % 5);
    NodeTopology t = test::random_machine(chips, seed);
    if (random() % 2 == 0) t = test::with_random_faults(std::move(t), seed);
    solver::GroupRequest pods;
    pods.usable = t.all();
    if (random() % 2 == 0) pods.usable.erase(static_cast<int>(random() % unsigned(chips)));
    if (random() % 3 == 0)
      pods.already_held = ChipSet{static_cast<int>(random() % unsigned(chips))};
    int left = (pods.usable - pods.already_held).size();
    while (left > 0 && (pods.sizes.size() < 2 || random() % 4 != 0)) {
      pods.sizes.push_back(1 + static_cast<int>(random() % unsigned(std::min(left, 3))));
      left -= pods.sizes.back();
    }
    check_against_enumeration(t, pods);
  }
}

TEST(PodsOfANode, BestOrderOfAllOnRealMachines) {
  for (const char* name :
       {"hgx-v100-8", "dgx1-p100-8", "mi250x-8", "pcie-8", "hgx-a100-8", "pcie-nvlink-bridge-8"}) {
    for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{1, 1, 1, 1, 1, 1, 1, 1},
                                                                       {2, 2, 2, 2},
                                                                       {1, 2, 1, 2},
                                                                       {4, 2},
                                                                       {2, 3, 1, 1},
                                                                       {1, 1, 1}}) {
      SCOPED_TRACE(std::string(name) + " " + ::testing::PrintToString(sizes));
      check_against_enumeration(test::profile(name), {ChipSet::first(8), {}, sizes, true});
    }
  }
}

TEST(PodsOfANode, FourOnTheBestLinkedFour) {
  Machine m(test::profile("hgx-v100-8"));
  const std::vector<int> four{1, 1, 1, 1};
  const GroupChoice g = choose_for_pods(m, {ChipSet::first(8), {}, four, true});
  EXPECT_EQ(g.gbps, 80);
  EXPECT_EQ(g.parts, (Sets{{0}, {3}, {2}, {1}}));  // two lanes between neighbours
  // One of the first four is taken: the other quad is as good, but no mixture is.
  const GroupChoice other = choose_for_pods(m, {ChipSet{1, 2, 3, 4, 5, 6, 7}, {}, four, true});
  EXPECT_EQ(other.gbps, 80);
  EXPECT_EQ(other.parts, (Sets{{4}, {7}, {6}, {5}}));
  // Two pods of the gang run already: the new ones complete the same quad.
  const GroupChoice joined = choose_for_pods(m, {m.topology().all(), ChipSet{1, 2}, {1, 1}, true});
  EXPECT_EQ(joined.chips, (ChipSet{0, 3}));
  EXPECT_EQ(joined.gbps, 80);
  // Four or none.
  const GroupChoice none = choose_for_pods(m, {ChipSet{0, 1, 2}, {}, four, true});
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.why, solver::Misfit::too_few_chips);
  EXPECT_TRUE(none.parts.empty());
}

TEST(PodsOfANode, EightPodsFollowTheRingOfTwoLanes) {
  Machine m(test::profile("hgx-v100-8"));
  const GroupChoice g =
      choose_for_pods(m, {m.topology().all(), {}, {1, 1, 1, 1, 1, 1, 1, 1}, true});
  EXPECT_EQ(g.parts, (Sets{{0}, {3}, {2}, {1}, {5}, {6}, {7}, {4}}));
}

TEST(PodsOfANode, AlikeHopsGoByIndexSoThatLocalRankIsRail) {
  for (const char* name : {"hgx-h100-8", "hgx-a100-8", "mi300x-8"}) {
    Machine m(test::profile(name));
    const GroupChoice g =
        choose_for_pods(m, {ChipSet::first(8), {}, {1, 1, 1, 1, 1, 1, 1, 1}, true});
    ASSERT_TRUE(g.fits) << name;
    for (int k = 0; k < 8; ++k) EXPECT_EQ(g.parts[static_cast<std::size_t>(k)], ChipSet{k}) << name;
  }
}

// A rail network needs local rank i on the same chip of every node with the same set.
TEST(PodsOfANode, OrderDependsOnTheSetNotOnWhatElseIsFree) {
  Machine m(test::profile("hgx-v100-8"));
  const std::vector<int> sizes{1, 2, 1};
  for (std::uint64_t bits = 0; bits < 256; ++bits) {
    const GroupChoice g = choose_for_pods(m, {ChipSet(bits), {}, sizes, true});
    if (!g.fits) continue;
    EXPECT_EQ(choose_for_pods(m, {g.chips, {}, sizes, true}).parts, g.parts) << bits;
  }
}

TEST(PodsOfANode, PodsKeepTheirSizes) {
  Machine m(test::profile("hgx-v100-8"));
  const std::vector<int> sizes{0, 1, 4, 0, 2, 1};
  const GroupChoice g = choose_for_pods(m, {m.topology().all(), {}, sizes, true});
  ASSERT_TRUE(g.fits);
  ASSERT_EQ(g.parts.size(), sizes.size());
  ChipSet seen;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    EXPECT_EQ(g.parts[k].size(), sizes[k]);
    EXPECT_FALSE(seen.intersects(g.parts[k]));
    seen |= g.parts[k];
  }
  EXPECT_EQ(seen, g.chips);
  const GroupChoice nothing = choose_for_pods(m, {{}, {}, {0, 0}, true});
  EXPECT_TRUE(nothing.fits);
  EXPECT_EQ(nothing.parts, (Sets{{}, {}}));
}

TEST(PodsOfANode, OnePodIsAnOrdinaryRequest) {
  Machine m(test::profile("ascend-910a-8"));
  for (const ChipSet usable : {ChipSet::first(8), ChipSet{0, 1, 2, 3, 6, 7}, ChipSet{1, 4, 5, 6}}) {
    const solver::Choice choice = m.choose({usable, {}, {}, 2, true});
    EXPECT_EQ(choose_for_pods(m, {usable, {}, {2}, true}).parts, Sets{choice.chips});
  }
}

TEST(PodsOfANode, VendorRulesHoldForEveryPod) {
  for (const std::string& name : test::profile_names(16)) {
    Machine m(test::profile(name));
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::mt19937 random(seed);
      const ChipSet usable =
          m.topology().all() - ChipSet(seed == 0 ? 0 : random() & random() & random());
      const int size = std::vector<int>{1, 2, 4}[random() % 3];
      const int pods = 2 + static_cast<int>(random() % 3);
      const std::vector<int> sizes(static_cast<std::size_t>(pods), size);
      const GroupChoice g = choose_for_pods(m, {usable, {}, sizes, true});
      EXPECT_EQ(g.fits, m.choose_group({usable, {}, sizes, true}).fits);
      ChipSet seen;
      for (const ChipSet part : g.parts) {
        EXPECT_EQ(part.size(), size) << name;
        EXPECT_TRUE(usable.contains(part)) << name;
        EXPECT_TRUE(m.legal(part, usable, true)) << name << " seed " << seed;
        EXPECT_FALSE(seen.intersects(part)) << name;
        seen |= part;
      }
      EXPECT_EQ(seen, g.chips);
    }
  }
}

TEST(PodsOfANode, Ascend910AInsideOneRing) {
  Machine m(test::profile("ascend-910a-8"));
  const auto parts = [&m](ChipSet usable, const std::vector<int>& sizes) {
    return choose_for_pods(m, {usable, {}, sizes, true}).parts;
  };
  EXPECT_EQ(parts(ChipSet{1, 2, 3, 4, 5, 6, 7}, {2, 2}), (Sets{{4, 5}, {6, 7}}));
  EXPECT_EQ(parts(ChipSet::first(8), {4, 4}), (Sets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_TRUE(parts(ChipSet{0, 1, 2, 4, 5, 6}, {4}).empty());
  EXPECT_EQ(choose_for_pods(m, {ChipSet::first(8), {}, {3, 1}, true}).why, solver::Misfit::size);
}

TEST(PodsOfANode, AscendA3WholeModules) {
  Machine m(test::profile("ascend-a3-16"));
  // Dies 0 and 5 are taken: the modules {0,1} and {4,5} are not whole.
  const ChipSet usable = m.topology().all() - ChipSet{0, 5};
  const GroupChoice g = choose_for_pods(m, {usable, {}, {2, 4, 2}, true});
  ASSERT_TRUE(g.fits);
  for (const ChipSet part : g.parts) {
    for (const int slot : part) EXPECT_TRUE(part.contains(slot ^ 1));
  }
  EXPECT_FALSE(choose_for_pods(m, {usable, {}, {1, 1}, true}).fits);
  EXPECT_EQ(choose_for_pods(m, {m.topology().all(), {}, std::vector<int>(8, 2), true}).parts,
            (Sets{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
}

// Above the exact limit: sixteen pods, each mesh is left once.
TEST(PodsOfANode, ManyPodsStayInTheirMesh) {
  Machine m(test::profile("ascend-910b-16"));
  const GroupChoice g = choose_for_pods(m, {m.topology().all(), {}, std::vector<int>(16, 1), true});
  ASSERT_TRUE(g.fits);
  int crossings = 0;
  for (std::size_t k = 1; k < 16; ++k)
    crossings += (g.parts[k - 1].lowest() < 8) != (g.parts[k].lowest() < 8) ? 1 : 0;
  EXPECT_EQ(crossings, 1);
  EXPECT_EQ(g.parts[0], ChipSet{0});
}

TEST(BandwidthOfPods, ByNumberOfPods) {
  Machine v100(test::profile("hgx-v100-8"));
  using Table = std::vector<std::optional<double>>;
  EXPECT_EQ(gbps_of_pods(v100, ChipSet::first(8), 9, 1),
            (Table{0, 40, 40, 80, 40, 80, 80, 120, std::nullopt}));
  EXPECT_EQ(gbps_of_pods(v100, ChipSet::first(8), 3, 4), (Table{80, 120, std::nullopt}));
  EXPECT_EQ(gbps_of_pods(v100, ChipSet{0, 1, 6, 7}, 2, 2), (Table{40, v100.gbps({0, 1, 6, 7})}));
  EXPECT_EQ(gbps_of_pods(v100, ChipSet::first(8), 2, 1, ChipSet{1, 2, 3}), (Table{80, 40}));
  EXPECT_EQ(gbps_of_pods(v100, {}, 2, 0), (Table{0, 0}));
  Machine a3(test::profile("ascend-a3-16"));
  EXPECT_EQ(gbps_of_pods(a3, a3.topology().all(), 2, 1), (Table{std::nullopt, std::nullopt}));
  EXPECT_EQ(gbps_of_pods(a3, ChipSet{0, 1, 2, 4}, 2, 2), (Table{200, std::nullopt}));
}

// Narrowest hop, sum of hops; then the slots.
std::pair<std::pair<std::int64_t, std::int64_t>, std::vector<int>> ring_worth(
    PlainHops& hops, const std::vector<int>& ring) {
  std::pair<std::int64_t, std::int64_t> value{std::numeric_limits<std::int64_t>::max(), 0};
  std::vector<int> backwards;  // greater is better, here as well
  for (std::size_t k = 0; k < ring.size(); ++k) {
    const std::int64_t hop = hops.any({ring[k]}, {ring[(k + 1) % ring.size()]});
    value = {std::min(value.first, hop), value.second + hop};
    backwards.push_back(-ring[k]);
  }
  return {value, backwards};
}

TEST(RingOrder, BestOfAllRings) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const NodeTopology t = test::random_machine(4 + static_cast<int>(seed % 5), seed);
    PlainHops hops(t);
    const std::vector<int> found = solver::ring_order(t, t.all());
    std::vector<int> ring(static_cast<std::size_t>(t.chip_count()));
    std::iota(ring.begin(), ring.end(), 0);
    auto best = ring_worth(hops, ring);
    do {
      best = std::max(best, ring_worth(hops, ring));
    } while (std::next_permutation(ring.begin() + 1, ring.end()));
    EXPECT_EQ(ring_worth(hops, found), best) << "seed " << seed;
  }
}

TEST(RingOrder, OfMachines) {
  using Slots = std::vector<int>;
  const NodeTopology v100 = test::profile("hgx-v100-8");
  EXPECT_EQ(solver::ring_order(v100, v100.all()), (Slots{0, 3, 2, 1, 5, 6, 7, 4}));
  EXPECT_EQ(solver::ring_order(v100, {4, 5, 6, 7}), (Slots{4, 5, 6, 7}));
  EXPECT_EQ(solver::ring_order(v100, {2, 6}), (Slots{2, 6}));
  EXPECT_EQ(solver::ring_order(v100, {5}), Slots{5});
  EXPECT_EQ(solver::ring_order(v100, {}), Slots{});
  const NodeTopology h100 = test::profile("hgx-h100-8");
  EXPECT_EQ(solver::ring_order(h100, {1, 4, 6, 7}), (Slots{1, 4, 6, 7}));
  const NodeTopology a3 = test::profile("ascend-a3-16");
  const Slots ring = solver::ring_order(a3, a3.all());
  for (std::size_t k = 0; k < 16; k += 2) EXPECT_EQ(ring[k] ^ 1, ring[k + 1]);  // over each SIO
}

TEST(RingOrder, AboveTheExactLimit) {
  constexpr int kChips = 20;
  domain::TopologyBuilder b;
  for (int i = 0; i < kChips; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    b.add_chip(chip);
  }
  // One ring in steps of three.
  for (int i = 0; i < kChips; ++i) {
    b.add_link(domain::ChipIndex{i}, domain::ChipIndex{(i + 3) % kChips}, domain::LinkKind::nvlink,
               1, 20.0);
  }
  const auto t = std::move(b).build();
  ASSERT_TRUE(t);
  const std::vector<int> ring = solver::ring_order(*t, t->all());
  ASSERT_EQ(ring.size(), 20U);
  for (int k = 0; k < kChips; ++k) EXPECT_EQ(ring[static_cast<std::size_t>(k)], 3 * k % kChips);
}

}  // namespace
}  // namespace chipweave
