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

TEST(PlaceLine, WritesAnswers) {
  EXPECT_EQ(
      write_place_answer("\"r1\"", {true, {0, 4}, 40, 100000, "", std::nullopt, {}}),
      R"({"id":"r1","fits":true,"chips":[0,4],"gbps":40.0,"best_gbps":100000.0,"reason":""})");
  EXPECT_EQ(write_place_answer("null", {false, {}, 0, 0, "a \"b\"", 370.8, {"w"}}),
            R"({"id":null,"fits":false,"chips":[],"gbps":0.0,"best_gbps":0.0,"reason":"a \"b\"",)"
            R"("exact":false,"bound":370.8,"warnings":["w"]})");
  EXPECT_EQ(
      write_place_answer("1", {true, {0}, 0, 0, "", std::nullopt, {}}, R"("ring":[0])"),
      R"({"id":1,"fits":true,"chips":[0],"gbps":0.0,"best_gbps":0.0,"reason":"","ring":[0]})");
}

TEST(PlaceLine, WritesErrors) {
  EXPECT_EQ(write_batch_error("1", make_error(Errc::invalid_argument, "x").in("size")),
            R"({"id":1,"error":{"code":"invalid_request","message":"size: x"}})");
}

}  // namespace
}  // namespace chipweave::codec
