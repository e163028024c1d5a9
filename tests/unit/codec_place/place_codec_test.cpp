#include "common/codec/place/place_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

PlaceLine with_id(const std::string& id) {
  return parse_place_line("{\"id\":" + id + R"(,"machine":"hgx-v100-8","size":2})");
}

TEST(PlaceLine, IdsComeBackAsTheyWere) {
  for (const char* id : {"\"r1\"", "\"\"", "0", "-7", "18446744073709551615",
                         "-9223372036854775808", "\"\\\"\"", "null"}) {
    const PlaceLine line = with_id(id);
    EXPECT_EQ(line.id, id);
    EXPECT_TRUE(line.request.ok()) << id;
  }
  EXPECT_EQ(parse_place_line(R"({"machine":"hgx-v100-8","size":2})").id, "null");
}

TEST(PlaceLine, IdsThatWouldNotComeBackAsTheyWereAreErrors) {
  for (const std::string& id :
       {std::string("123456789012345678901234567890"), std::string("1.0"), std::string("1e3"),
        std::string("true"), std::string("[1]"), std::string("{}"),
        "\"" + std::string(limits::kMaxBatchIdBytes, 'x') + "\""}) {
    const PlaceLine line = with_id(id);
    EXPECT_EQ(line.id, "null") << id;
    ASSERT_FALSE(line.request.ok()) << id;
    EXPECT_THAT(line.request.error().text(), HasSubstr("id: ")) << id;
  }
}

TEST(PlaceLine, AnErrorOfARepeatedKeyKeepsTheId) {
  const PlaceLine line =
      parse_place_line(R"({"size":1,"id":"r1","machine":"hgx-v100-8","size":2})");
  EXPECT_EQ(line.id, "\"r1\"");
  ASSERT_FALSE(line.request.ok());
  EXPECT_THAT(line.request.error().text(), HasSubstr("\"size\" appears twice"));
  EXPECT_EQ(parse_place_line(R"({"id":1,"id":2,"machine":"hgx-v100-8","size":2})").id, "null");
  EXPECT_EQ(parse_place_line(R"({"id":1,"machine":{"id":5,"id":6},"size":2})").id, "1");
  EXPECT_EQ(parse_place_line(R"({"id":1,"size":)").id, "null");
}

}  // namespace
}  // namespace chipweave::codec
