#include "common/codec/kube/objects/gang_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

GangPlanText two_pods() {
  return {"team/job/train",
          "0badcafe",
          {{"worker", 0, 8, "u0", "n1", {0, 1}}, {"", {}, 0, "", "", {}}}};
}

std::string problem_of(const std::string& text) {
  const auto plan = read_gang_plan(text);
  return plan ? "none" : plan.error().text();
}

// A plan whose one slot is this.
std::string slot(const std::string& members) {
  return problem_of(R"({"v":1,"gang":"a/b/c","plan":"p","slots":[{)" + members + "}]}");
}

GangPlanText large(std::size_t pods, std::size_t node_bytes) {
  GangPlanText plan{"team/job/train", "0badcafe", {}};
  for (std::size_t i = 0; i < pods; ++i) {
    std::string node = "n" + std::to_string(i);
    node.resize(node_bytes, 'x');
    for (std::size_t at = 60; at < node_bytes - 1; at += 60) node[at] = '.';
    std::string uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i);
    plan.slots.push_back({"worker", static_cast<int>(i), 8, uid, node, {0, 1, 2, 3, 4, 5, 6, 7}});
  }
  return plan;
}

TEST(GangPlanText, IsReadAsItWasWritten) {
  const auto text = write_gang_plan(two_pods());
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(*text,
            R"({"v":1,"gang":"team/job/train","plan":"0badcafe","slots":[)"
            R"({"role":"worker","index":0,"chips":8,"uid":"u0","node":"n1","indices":[0,1]},)"
            R"({"chips":0}]})");
  const auto plan = read_gang_plan(*text);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  EXPECT_EQ(*plan, two_pods());
}

TEST(GangPlanText, HasRoomForLargeGangs) {
  for (const auto& [pods, node_bytes] :
       {std::pair<std::size_t, std::size_t>{6000, 20}, {2300, 253}}) {
    const auto text = write_gang_plan(large(pods, node_bytes));
    EXPECT_TRUE(text.ok()) << text.error().text();
  }
  const auto text = write_gang_plan(large(10'000, 20));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Errc::limit_exceeded);
  EXPECT_THAT(text.error().text(), HasSubstr("with 10000 pods has"));
}

TEST(GangPlanText, WhatCouldNotBeReadIsNotWritten) {
  GangPlanText plan = two_pods();
  plan.slots[1].uid = "u0";
  ASSERT_FALSE(write_gang_plan(plan).ok());
  EXPECT_EQ(write_gang_plan(plan).error().code, Errc::invalid_argument);
  plan = two_pods();
  plan.gang += "\xff";
  ASSERT_FALSE(write_gang_plan(plan).ok());
  EXPECT_THAT(write_gang_plan(plan).error().text(), HasSubstr("not UTF-8"));
}

TEST(GangPlanText, ALaterVersionIsRefused) {
  const auto plan = read_gang_plan(R"({"v":2,"anything":[]})");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, Errc::unsupported);
  EXPECT_THAT(plan.error().text(), HasSubstr("version 2"));
}

TEST(GangPlanText, AnythingElseIsRefusedByItsKey) {
  EXPECT_EQ(problem_of(R"({"v":1,"gang":"a/b/c","plan":"p","slots":[]})"), "none");
  for (const char* text : {"", "[]", "{", "7", R"({"v":1,"v":1})"})
    EXPECT_NE(problem_of(text), "none") << text;
  EXPECT_THAT(problem_of("{}"), HasSubstr("v"));
  EXPECT_THAT(problem_of(R"({"v":1,"gang":"","plan":"p","slots":[]})"), HasSubstr("gang"));
  EXPECT_THAT(problem_of(R"({"v":1,"gang":"a/b/c","slots":[]})"), HasSubstr("plan"));
  EXPECT_THAT(problem_of(R"({"v":1,"gang":"a/b/c","plan":"p"})"), HasSubstr("slots"));
  EXPECT_THAT(problem_of(R"({"v":1,"gang":"a/b/c","plan":"p","slots":{}})"), HasSubstr("slots"));
  EXPECT_THAT(problem_of(R"({"v":1,"gang":"a","plan":"p","slots":[],"x":1})"), HasSubstr("x"));
}

TEST(GangPlanText, ASlotIsRefusedByItsKey) {
  EXPECT_EQ(slot(R"("chips":8,"node":"n","indices":[0,7])"), "none");
  for (const auto& [members, key] : std::vector<std::pair<std::string, std::string>>{
           {"", "chips"},
           {R"("chips":-1)", "chips"},
           {R"("chips":1000001)", "chips"},
           {R"("chips":1,"role":"")", "role"},
           {R"("chips":1,"role":")" + std::string(254, 'r') + "\"", "role"},
           {R"("chips":1,"index":100001)", "index"},
           {R"("chips":1,"uid":7)", "uid"},
           {R"("chips":1,"uid":")" + std::string(129, 'u') + "\"", "uid"},
           {R"("chips":1,"node":"../x")", "node"},
           {R"("chips":1,"indices":[0])", "node"},
           {R"("chips":1,"node":"n","indices":[])", "indices"},
           {R"("chips":1,"node":"n","indices":[1,1])", "ascending"},
           {R"("chips":1,"node":"n","indices":[2,1])", "ascending"},
           {R"("chips":1,"node":"n","indices":[1048577])", "indices"},
           {R"("chips":1,"chip":1)", "chip"}})
    EXPECT_THAT(slot(members), HasSubstr(key)) << members;
  std::string indices = "0";
  for (int i = 1; i <= 64; ++i) indices += "," + std::to_string(i);
  EXPECT_THAT(slot(R"("chips":1,"node":"n","indices":[)" + indices + "]"), HasSubstr("indices"));
}

}  // namespace
}  // namespace chipweave::codec
