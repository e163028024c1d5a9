// Of which namespaces rank tables are kept.
#include "node-agent/ranktables/rank_table_options.hpp"

#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

TEST(RankTableOptions, AreNamesOfNamespacesEachOnce) {
  const auto two = read_rank_table_namespaces("train,team-b");
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(*two, (std::vector<std::string>{"train", "team-b"}));
  for (const char* wrong : {"", "train,", "Train", "a.b", "../x", "a,b,a"}) {
    const auto read = read_rank_table_namespaces(wrong);
    ASSERT_FALSE(read.ok()) << wrong;
    EXPECT_EQ(read.error().code, Errc::invalid_argument) << wrong;
  }
}

TEST(RankTableOptions, AreLimited) {
  std::string many = "n0";
  for (int i = 1; i < 64; ++i) many += ",n" + std::to_string(i);
  EXPECT_TRUE(read_rank_table_namespaces(many).ok());
  const auto read = read_rank_table_namespaces(many + ",n64");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::agent
