#include "common/codec/gang/gang_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string gang_file_error(const std::string& text) {
  const auto file = read_gang_file(text);
  return file ? "(no error)" : file.error().text();
}

TEST(GangFile, GivesKeysAndTheObjectWithoutBraces) {
  const auto file = read_gang_file("\n{\n  \"pods\": 4,\n  \"slices\": [{\"size\": 2}]\n}\n");
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_THAT(file->keys, UnorderedElementsAre("pods", "slices"));
  EXPECT_EQ(file->members, "\n  \"pods\": 4,\n  \"slices\": [{\"size\": 2}]\n");
  EXPECT_EQ(read_gang_file("{ }").value().members, "");
  EXPECT_THAT(read_gang_file("{ }").value().keys, IsEmpty());
}

TEST(GangFile, SaysWhatIsWrong) {
  EXPECT_THAT(gang_file_error("{\"pods\":"), HasSubstr("not valid JSON: line 1"));
  EXPECT_THAT(gang_file_error("{\"pods\":1,\"pods\":2}"), HasSubstr("pods"));
  EXPECT_THAT(gang_file_error("[]"), HasSubstr("must be the gang, a JSON object"));
  EXPECT_THAT(gang_file_error("{\"network\":{},\"gang\":{}}"), HasSubstr("holds the key gang"));
}

}  // namespace
}  // namespace chipweave::codec
