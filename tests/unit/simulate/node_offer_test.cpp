// What a node would give and leave, by the tables of its machine.
#include "common/solver/nodes/node_offer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::solver {
namespace {

using domain::ChipSet;
using simulate::test::machine;

TEST(OpenSizes, AreThoseThatFit) {
  for (const char* name : {"pcie-8", "ascend-910a-8", "ascend-910b-16", "ascend-a3-8"}) {
    const auto of = machine(name);
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; ++round) {
      const ChipSet free = ChipSet(random() & random()) & of->topology().all();
      const OpenSizes open = of->open_sizes(free);
      for (int k = 0; (1 << k) <= kMaxOpenSize; ++k) {
        EXPECT_EQ((open >> k & 1) != 0, of->fits({free, {}, {}, 1 << k, false}))
            << name << " " << free.bits() << " " << (1 << k);
      }
      EXPECT_EQ(of->open_sizes(free), open);
    }
  }
}

TEST(OfferOf, CountsWhatIsLeft) {
  const auto of = machine("ascend-910a-8");  // two rings of four
  const NodeOffer offer = offer_of(*of, ChipSet::first(8), ChipSet{0}, 0, Demand(), Room(), Room());
  EXPECT_EQ(offer.left_over, 7);
  EXPECT_DOUBLE_EQ(offer.unusable, 7 * 0.25);  // no eight are left
  EXPECT_DOUBLE_EQ(offer.machine_gbps, of->gbps(ChipSet::first(8)));
  EXPECT_EQ(of->open_sizes(ChipSet::first(8)), 0b1111);
  // 1,1,1 of one ring and of the other: no four in one ring
  EXPECT_EQ(of->open_sizes(ChipSet{0, 1, 2, 4, 5, 6}), 0b0011);
}

}  // namespace
}  // namespace chipweave::solver
