// Chips for several requests with rules about attributes, against a search through all divisions.
#include "scheduler-plugin/app/chip_division.hpp"

#include <gtest/gtest.h>

#include <random>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "common/solver/chips/machine_cache.hpp"

namespace chipweave::sched {
namespace {

std::shared_ptr<solver::Machine> machine() {
  static solver::MachineCache cache;
  auto imported = codec::import_topology_json(profiles::find("hgx-v100-8")->json, {});
  return cache.get(imported->topology);
}

bool keeps_rules(const DivisionRequest& request, const std::vector<ChipSet>& chips) {
  ChipSet all;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (chips[i].size() != request.counts[i] || !request.usable.contains(chips[i]) ||
        all.intersects(chips[i]))
      return false;
    all |= chips[i];
  }
  for (const EqualAttribute& equal : request.equal) {
    std::set<std::string> values;
    for (const std::size_t i : equal.requests) {
      for (const int slot : chips[i]) {
        const auto& attributes = request.attributes.at(slot);
        const auto at = attributes.find(equal.attribute);
        if (at == attributes.end()) return false;
        values.insert(at->second);
      }
    }
    if (values.size() > 1) return false;
  }
  return true;
}

// Whether any division keeps the rules: each request takes each of its sets in turn.
bool possible(const DivisionRequest& request, std::vector<ChipSet>& chips) {
  if (chips.size() == request.counts.size()) return keeps_rules(request, chips);
  for (std::uint64_t bits = 0; bits < 256; ++bits) {
    const ChipSet set(bits);
    if (set.size() != request.counts[chips.size()]) continue;
    chips.push_back(set);
    const bool found = possible(request, chips);
    chips.pop_back();
    if (found) return true;
  }
  return false;
}

TEST(ChipDivision, FindsADivisionWheneverThereIsOne) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto wiring = machine();
  int found = 0;
  int none = 0;
  for (int round = 0; round < 300; ++round) {
    DivisionRequest request;
    for (int slot = 0; slot < 8; ++slot) {
      if (pick(5) == 0) continue;
      request.usable.insert(slot);
      Attributes& attributes = request.attributes[slot];
      if (pick(6) != 0) attributes["d/a"] = "s:" + std::to_string(pick(3));
      if (pick(6) != 0) attributes["d/b"] = "s:" + std::to_string(pick(2));
    }
    for (int i = 1 + pick(3); i > 0; --i) request.counts.push_back(1 + pick(2));
    for (const char* attribute : {"d/a", "d/b"}) {
      if (pick(2) == 0) continue;
      EqualAttribute equal{{}, attribute};
      for (std::size_t i = 0; i < request.counts.size(); ++i) {
        if (pick(3) != 0) equal.requests.push_back(i);
      }
      if (!equal.requests.empty()) request.equal.push_back(equal);
    }
    std::vector<ChipSet> chips;
    const bool expected = possible(request, chips);
    DivisionWork work;
    const auto division = divide(*wiring, request, work);
    ASSERT_EQ(division.has_value(), expected) << "round " << round;
    (expected ? found : none) += 1;
    if (division) {
      EXPECT_TRUE(keeps_rules(request, division->chips)) << "round " << round;
    }
  }
  EXPECT_GT(found, 50);
  EXPECT_GT(none, 30);
}

// Without rules all requests together have the best set of their size.
TEST(ChipDivision, IsTheBestSetOfAllTogether) {
  const auto wiring = machine();
  DivisionRequest request;
  request.usable = ChipSet::first(8);
  request.counts = {1, 3};
  DivisionWork work{0};
  const auto division = divide(*wiring, request, work);
  ASSERT_TRUE(division);
  EXPECT_DOUBLE_EQ(division->gbps, wiring->choose({ChipSet::first(8), {}, {}, 4, false}).gbps);
  EXPECT_EQ(division->chips[0].size(), 1);
  EXPECT_EQ(division->chips[1].size(), 3);
}

// Eight requests with eight values each.
TEST(ChipDivision, EndsWhenThereIsTooMuchToTry) {
  const auto wiring = machine();
  DivisionRequest request;
  request.usable = ChipSet::first(8);
  for (int slot = 0; slot < 8; ++slot)
    request.attributes[slot]["d/own"] = "s:" + std::to_string(slot);
  for (std::size_t i = 0; i < 8; ++i) {
    request.counts.push_back(1);
    request.equal.push_back({{i}, "d/own"});
  }
  DivisionWork work;
  EXPECT_TRUE(divide(*wiring, request, work)) << "the best of those that it has tried";
  EXPECT_TRUE(work.is_over());
  EXPECT_FALSE(divide(*wiring, request, work)) << "shared with the first one";
  DivisionWork enough;
  request.counts.resize(2);
  request.equal.resize(2);
  EXPECT_TRUE(divide(*wiring, request, enough));
  EXPECT_FALSE(enough.is_over());
}

// A rule that no device keeps costs nothing, whatever the others are.
TEST(ChipDivision, SeesAtOnceThatARuleCannotBeKept) {
  const auto wiring = machine();
  DivisionRequest request;
  request.usable = ChipSet::first(8);
  for (int slot = 0; slot < 8; ++slot)
    request.attributes[slot]["d/own"] = "s:" + std::to_string(slot);
  for (std::size_t i = 0; i < 8; ++i) {
    request.counts.push_back(1);
    request.equal.push_back({{i}, "d/own"});
  }
  request.equal.push_back({{0}, "d/none"});
  DivisionWork work;
  const int before = work.left;
  EXPECT_FALSE(divide(*wiring, request, work));
  EXPECT_EQ(work.left, before - 1);
}

}  // namespace
}  // namespace chipweave::sched
