#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

constexpr int kWrongUsage = 2;
constexpr int kUnreadable = 3;
const std::string kPlace = "chipweave place --machine hgx-v100-8 ";

TEST(CommandLine, AnAnswerThatCannotBeWrittenIsAnError) {
  const std::string request = R"('{"machine":"hgx-v100-8","size":2}')";
  for (const std::string& line :
       {std::string("%B/chipweave place --machine hgx-v100-8 --size 2"),
        std::string("%B/chipweave place --machine hgx-v100-8 --size 2 -o json"),
        "echo " + request + " | %B/chipweave place --batch -"}) {
    const Outcome full = run("{ " + line + "; } 2>&1 >/dev/full");
    EXPECT_EQ(full.code, kUnreadable) << line;
    EXPECT_THAT(full.text, HasSubstr("chipweave: the output could not be written")) << line;
  }
}

TEST(CommandLine, AnEmptyListOfChipsIsNeitherAllNorChipZero) {
  for (const char* flag : {"--free '' --size 1", "--chips ''"}) {
    const Outcome said = complaint(kPlace + flag);
    EXPECT_EQ(said.code, kWrongUsage) << flag;
    EXPECT_THAT(said.text, HasSubstr(": names no chip;")) << flag;
  }
  EXPECT_EQ(run("%B/" + kPlace + "--unhealthy '' --required '' --beside '' --size 1 --free 0").code,
            0);
}

TEST(CommandLine, ChipsAndLinksOfPlaceAreReadStrictly) {
  EXPECT_EQ(complaint(kPlace + "--chips 0,0").text, "chipweave: --chips: chip 0 is named twice\n");
  EXPECT_EQ(complaint(kPlace + "--size 2 --required 0,0").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1z").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1,1-2").text, "");
  EXPECT_THAT(complaint(kPlace + "--size 2 --down 0-5").text, HasSubstr("chipweave: warning: "));
}

}  // namespace
}  // namespace chipweave
