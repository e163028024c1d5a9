#include "common/domain/network/host_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chipweave::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(HostNames, AreFoundAsWritten) {
  const HostNames names({"gpu01", "gpu01.a.local", "gpu02"});
  EXPECT_THAT(names.find("gpu01").index, Optional(0U));
  EXPECT_THAT(names.find("gpu01.a.local").index, Optional(1U));
  EXPECT_EQ(names.find("gpu03").index, std::nullopt);
  EXPECT_EQ(names.exact("gpu02.a"), std::nullopt);
  EXPECT_EQ(HostNames().find("gpu01").index, std::nullopt);
}

TEST(HostNames, ShortAndFullNamesMeanTheSameHost) {
  const HostNames full({"gpu01.a.local", "gpu02.a.local"});
  EXPECT_THAT(full.find("gpu02").index, Optional(1U));
  EXPECT_THAT(full.find("gpu02.a").index, Optional(1U));
  EXPECT_EQ(full.find("gpu02.b").index, std::nullopt);
  EXPECT_EQ(full.find("gpu02.b.local").index, std::nullopt);
  EXPECT_EQ(full.find("gpu0").index, std::nullopt);
  const HostNames short_names({"gpu01", "gpu02"});
  EXPECT_THAT(short_names.find("gpu02.a.local").index, Optional(1U));
  EXPECT_EQ(short_names.find("gpu020.a.local").index, std::nullopt);
}

TEST(HostNames, ShortNamesOfSeveralHostsAreAmbiguous) {
  const HostNames names({"gpu01.a", "gpu01.b", "gpu01.c", "gpu01.d", "gpu02.a"});
  const HostNames::Match match = names.find("gpu01");
  EXPECT_EQ(match.index, std::nullopt);
  EXPECT_THAT(match.candidates, ElementsAre("gpu01.a", "gpu01.b", "gpu01.c", "gpu01.d"));
  EXPECT_EQ(match.ambiguity("gpu01"), "\"gpu01\" could be gpu01.a or gpu01.b or gpu01.c or 1 more");
  EXPECT_THAT(names.find("gpu03").candidates, IsEmpty());
  EXPECT_EQ(names.find("gpu03").ambiguity("gpu03"), "");
}

// The dots of an address separate no domains.
TEST(HostNames, AddressesAreComparedAsWritten) {
  const HostNames names({"10.0.0.1", "10.0", "10"});
  EXPECT_THAT(names.find("10.0.0.1").index, Optional(0U));
  EXPECT_EQ(names.find("10.0.0.2").index, std::nullopt);
  EXPECT_EQ(names.find("10.0.0").index, std::nullopt);
}

TEST(HostNames, NamesOfDotsEnd) {
  const std::string dots(200, '.');
  const HostNames names({dots, "a..b", ".c"});
  EXPECT_THAT(names.find(dots).index, Optional(0U));
  EXPECT_EQ(names.find(dots + "x").index, std::nullopt);
  EXPECT_THAT(names.find("a").index, Optional(1U));
}

}  // namespace
}  // namespace chipweave::domain
