#include "common/io/gzip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::io {
namespace {

using ::testing::HasSubstr;

TEST(Gzip, UnpacksWhatItPacks) {
  for (const std::string& text :
       {std::string(), std::string("{\"a\":1}"), std::string(300000, 'x')}) {
    const std::string packed = gzip(text).value();
    EXPECT_TRUE(is_gzip(packed));
    EXPECT_EQ(gunzip(packed, 1U << 20U).value(), text);
    EXPECT_EQ(packed, gzip(text).value());
  }
  EXPECT_FALSE(is_gzip("{"));
  EXPECT_FALSE(is_gzip(""));
}

TEST(Gzip, RefusesWhatIsTooLargeOrBroken) {
  const std::string packed = gzip(std::string(std::size_t{2} << 20U, 'x')).value();
  EXPECT_THAT(gunzip(packed, 1U << 20U).error().text(), HasSubstr("more than 1 MiB"));
  EXPECT_THAT(gunzip(packed.substr(0, 40), 4U << 20U).error().text(), HasSubstr("too early"));
  EXPECT_THAT(gunzip("\x1f\x8b garbage", 4U << 20U).error().text(), HasSubstr("damaged"));
}

}  // namespace
}  // namespace chipweave::io
