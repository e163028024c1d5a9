#include "common/solver/gang/fabric.hpp"

#include <gtest/gtest.h>

namespace chipweave::solver {
namespace {

TEST(Fabric, DomainsAreWholePaths) {
  Fabric fabric(2);
  const auto a = fabric.add("a", {"b1", "r1"});
  const auto b = fabric.add("b", {"b2", "r1"});
  const auto c = fabric.add("c", {"b1", "r1"});
  ASSERT_TRUE(a && b && c);
  EXPECT_NE(fabric.domain_of(*a, 1), fabric.domain_of(*b, 1));
  EXPECT_EQ(fabric.domain_of(*a, 1), fabric.domain_of(*c, 1));
  EXPECT_NE(fabric.domain_of(*a, 0), fabric.domain_of(*b, 0));
}

TEST(Fabric, WhatIsNotKnownIsSharedWithNobody) {
  Fabric fabric(2);
  const auto a = fabric.add("a", {"b1", ""});
  const auto b = fabric.add("b", {"b1"});
  const auto c = fabric.add("c", {"", "r1"});
  const auto d = fabric.add("d", {"", "r1"});
  ASSERT_TRUE(a && b && c && d);
  EXPECT_EQ(fabric.domain_of(*a, 0), fabric.domain_of(*b, 0));
  EXPECT_NE(fabric.domain_of(*a, 1), fabric.domain_of(*b, 1));
  EXPECT_NE(fabric.domain_of(*c, 1), fabric.domain_of(*d, 1));
}

TEST(Fabric, ChildrenStandInNaturalOrder) {
  Fabric fabric(1);
  for (const char* rack : {"r10", "", "r2", "r1"})
    ASSERT_TRUE(fabric.add(std::string("n") + rack, {rack}));
  std::vector<std::string> names;
  for (const DomainId child : fabric.children(kRootDomain)) names.push_back(fabric.name(child));
  EXPECT_EQ(names, (std::vector<std::string>{"r1", "r2", "r10", ""}));
}

TEST(Fabric, NodesComeAndGo) {
  Fabric fabric(2);
  const auto a = fabric.add("a", {"b1", "r1"});
  ASSERT_TRUE(a);
  EXPECT_FALSE(fabric.add("a", {"b1", "r2"}));
  EXPECT_FALSE(fabric.add("b", {"b1", "r2", "x"}));
  fabric.remove(*a);
  EXPECT_EQ(fabric.find("a"), kNowhere);
  EXPECT_TRUE(fabric.children(kRootDomain).empty());
  const std::size_t domains = fabric.domain_numbers();
  ASSERT_TRUE(fabric.add("a", {"b1", "r2"}));
  EXPECT_EQ(fabric.domain_numbers(), domains) << "numbers are reused";
  EXPECT_EQ(fabric.size(), 1U);
}

}  // namespace
}  // namespace chipweave::solver
