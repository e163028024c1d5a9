#include "scheduler-plugin/state/name_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace chipweave::sched {
namespace {

// Names that differ in every byte that a comparison could skip: short ones, ones at the limit of
// the inline comparison, and long ones with equal prefixes.
std::string name_of(int i) {
  switch (i % 4) {
    case 0:
      return "n" + std::to_string(i);
    case 1:
      return "node-" + std::to_string(100000 + i) + ".example.org";
    case 2:
      return std::string(27, 'a') + std::to_string(1000 + i);
    default:
      return std::string(60, 'z') + std::to_string(i);
  }
}

class NameIndexTest : public ::testing::Test {
 protected:
  void add(int i) { by_name_[name_of(i)] = index_.add(name_of(i)); }
  void expect_found(const std::vector<std::string>& names) {
    const std::vector<std::string_view> asked(names.begin(), names.end());
    index_.find_all(asked, ids_);
    ASSERT_EQ(ids_.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto it = by_name_.find(names[i]);
      EXPECT_EQ(ids_[i], it == by_name_.end() ? kNoNode : it->second) << names[i] << " at " << i;
      EXPECT_EQ(index_.find(names[i]), ids_[i]) << names[i];
    }
  }

  NameIndex index_;
  std::map<std::string, NodeId> by_name_;
  std::vector<NodeId> ids_;
};

TEST_F(NameIndexTest, EmptyIndexKnowsNobody) { expect_found({"", "a", name_of(3)}); }

TEST_F(NameIndexTest, AnyOrderWithGapsRepetitionsAndUnknownNames) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int nodes = 0;
  std::vector<int> order;
  for (int round = 0; round < 300; ++round) {
    for (int more = below(6); more > 0; --more) {
      order.push_back(nodes);
      add(nodes++);
    }
    if (round % 17 == 0) std::shuffle(order.begin(), order.end(), random);
    const int left_out = below(4);  // of four
    std::vector<std::string> asked;
    for (const int i : order) {
      if (below(4) < left_out) continue;
      asked.push_back(name_of(i));
      if (below(20) == 0) asked.push_back(name_of(i));
      if (below(20) == 0) asked.push_back(name_of(1'000'000 + i));
    }
    expect_found(asked);
  }
}

TEST_F(NameIndexTest, RenamedNodeAnswersToItsNewNameOnly) {
  for (int i = 0; i < 200; ++i) add(i);
  expect_found({name_of(3), name_of(4), name_of(5)});
  const NodeId id = by_name_.at(name_of(4));
  index_.rename(id, "new");
  by_name_.erase(name_of(4));
  by_name_["new"] = id;
  expect_found({name_of(3), name_of(4), name_of(5)});
  expect_found({name_of(3), "new", name_of(5)});
}

TEST_F(NameIndexTest, SortedCountsNumbersAsNumbers) {
  for (const char* name : {"n10", "n9", "a", "n1"}) index_.add(name);
  EXPECT_EQ(index_.sorted(), (std::vector<NodeId>{2, 3, 1, 0}));
}

}  // namespace
}  // namespace chipweave::sched
