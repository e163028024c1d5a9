#include "common/base/sharded_map.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave {
namespace {

TEST(ShardedMap, FindsWhatWasAddedUntilItIsErased) {
  ShardedMap<int> map;
  constexpr int kCount = 1000;
  for (int i = 0; i < kCount; ++i) map.add(std::to_string(i), i);
  EXPECT_EQ(map.size(), 1000U);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_NE(map.find(std::to_string(i)), nullptr);
    EXPECT_EQ(*map.find(std::to_string(i)), i);
  }
  EXPECT_FALSE(map.contains("1000"));
  map.erase("7");
  map.erase("7");
  EXPECT_EQ(map.find("7"), nullptr);
  EXPECT_EQ(map.size(), 999U);
}

TEST(ShardedMap, ValuesStayWhereTheyAre) {
  ShardedMap<int> map;
  const int* first = &map.add("first", 1);
  for (int i = 0; i < 10'000; ++i) map.add(std::to_string(i), i);
  EXPECT_EQ(map.find("first"), first);
}

}  // namespace
}  // namespace chipweave
