// Lists are fetched by pages.
#include "cli/scheduler_client.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace chipweave::cli {
namespace {

struct Pages : ::testing::Test {
  Transport transport() {
    return [this](std::string_view, std::string_view target, std::string_view) {
      asked.emplace_back(target);
      const auto page = answers.find(asked.back());
      return Result<http::Reply>(page == answers.end() ? http::Reply{404, "{}"}
                                                       : http::Reply{200, page->second});
    };
  }
  std::map<std::string, std::string> answers;
  std::vector<std::string> asked;
  SchedulerClient client{transport()};
};

TEST_F(Pages, AListIsPutTogether) {
  answers = {
      {"/api/v1/pods?limit=2000", R"({"items":[{"namespace":"a","name":"p"}],"continue":"7-1"})"},
      {"/api/v1/pods?limit=2000&continue=7-1", R"({"items":[],"continue":"7-2"})"},
      {"/api/v1/pods?limit=2000&continue=7-2", R"({"items":[{"namespace":"a","name":"q"}]})"}};
  EXPECT_EQ(client.list("/api/v1/pods").value(),
            R"({"items":[{"namespace":"a","name":"p"},{"namespace":"a","name":"q"}]})");
  EXPECT_EQ(asked.size(), 3U);
  const auto pods = client.pods();
  ASSERT_TRUE(pods.ok());
  ASSERT_EQ(pods->size(), 2U);
  EXPECT_EQ(pods->at(1).name, "q");
}

TEST_F(Pages, AnEmptyListIsOne) {
  answers = {{"/api/v1/nodes?limit=2000", R"({"items":[]})"}};
  EXPECT_EQ(client.list("/api/v1/nodes").value(), R"({"items":[]})");
}

TEST_F(Pages, WhatIsNoListIsAnError) {
  answers = {{"/api/v1/nodes?limit=2000", R"({"name":"n"})"}};
  EXPECT_FALSE(client.list("/api/v1/nodes").ok());
  EXPECT_EQ(client.list("/api/v1/pods").error().code, Errc::unsupported);
}

}  // namespace
}  // namespace chipweave::cli
