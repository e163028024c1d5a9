#include "node-agent/sources/health_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

TEST(HealthSource, AnswersOnlyWhenTheFileChanged) {
  const io::TempFolder folder;
  const std::string path = folder.path() + "/health.json";
  const auto write = [&path](const char* text) { std::ofstream(path, std::ios::binary) << text; };
  HealthFile file(path);
  auto first = file.changes();
  ASSERT_TRUE(first && first->ok());  // no file yet: nothing is broken
  EXPECT_TRUE((*first)->unhealthy.empty());
  EXPECT_FALSE(file.changes());
  write(R"({"unhealthy":[3]})");
  auto second = file.changes();
  ASSERT_TRUE(second && second->ok());
  EXPECT_EQ((*second)->unhealthy.size(), 1U);
  EXPECT_FALSE(file.changes());
  write(R"({"unhealthy":3})");
  auto bad = file.changes();
  ASSERT_TRUE(bad && !bad->ok());
  EXPECT_THAT(bad->error().text(), testing::HasSubstr("health.json"));
  std::filesystem::remove(path);
  auto gone = file.changes();
  ASSERT_TRUE(gone && !gone->ok());
  EXPECT_EQ(gone->error().code, Errc::not_found);
}

}  // namespace
}  // namespace chipweave::agent
