#include "cli/ranktable/tools/addresses/borrowed_nics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Device N has address 10.0.1.(18 + N); there are eight.
Result<Ports> eight(int device) {
  if (device > 7) return make_error(Errc::not_found, "no such device");
  return Ports{{"10.0.1." + std::to_string(18 + device), ""}};
}

std::string parse_error(const std::string& list, const std::vector<std::string>& range) {
  const auto out = BorrowedNics::parse(list, range);
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(BorrowedNics, UsesTheSiblingWithAPortOfItsOwn) {
  auto nics = BorrowedNics::parse("10.0.1.18,10.0.1.21,10.0.1.99", {"20000", "20001"});
  ASSERT_TRUE(nics.ok()) << nics.error().text();
  const auto own = nics->resolve(1, "10.0.1.19", eight);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->address, "10.0.1.19");
  EXPECT_FALSE(own->port);
  const auto lower = nics->resolve(0, "10.0.1.18", eight);
  ASSERT_TRUE(lower.ok());
  EXPECT_EQ(lower->address, "10.0.1.19");
  EXPECT_EQ(lower->port, 20000);
  const auto upper = nics->resolve(3, "10.0.1.21", eight);
  ASSERT_TRUE(upper.ok());
  EXPECT_EQ(upper->address, "10.0.1.20");
  EXPECT_EQ(upper->port, 20001);
  EXPECT_THAT(nics->unused(), ElementsAre("10.0.1.99"));
  const auto third = nics->resolve(0, "10.0.1.18", eight);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().text(), HasSubstr("no port left for device 0"));
}

TEST(BorrowedNics, RefusesASiblingThatIsAvoidedTooOrMissing) {
  auto nics = BorrowedNics::parse("10.0.1.18,10.0.1.19,10.0.1.26", {});
  ASSERT_TRUE(nics.ok()) << nics.error().text();
  const auto both = nics->resolve(0, "10.0.1.18", eight);
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().text(), HasSubstr("the list has its address 10.0.1.19 too"));
  const auto missing = nics->resolve(8, "10.0.1.26", eight);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().text(), HasSubstr("device 8 needs the NIC of its sibling die"));
}

TEST(BorrowedNics, RefusesWordsThatMakeNoSense) {
  for (const char* list : {",", "10.0.1.18,", "10.0.1.18, 10.0.1.19", "host", "10.0.1.256"}) {
    EXPECT_THAT(parse_error(list, {}), HasSubstr("argument --replace-device-list")) << list;
  }
  const std::vector<std::vector<std::string>> ranges = {{"0", "5"}, {"5", "4"},  {"1", "65536"},
                                                        {"a", "b"}, {"-1", "5"}, {"", ""}};
  for (const auto& range : ranges) {
    EXPECT_THAT(parse_error("", range), HasSubstr("argument --device-port-range")) << range[0];
  }
  EXPECT_EQ(parse_error("", {"1", "65535"}), "(no error)");
}

}  // namespace
}  // namespace chipweave::cli
