#include "node-agent/publish/compat/label_value.hpp"

#include <gtest/gtest.h>

#include <random>

namespace chipweave::agent {
namespace {

TEST(LabelValue, KeepsWhatMayStandThere) {
  EXPECT_EQ(label_value("NVIDIA H100 80GB HBM3"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(label_value("550.54.15"), "550.54.15");
  EXPECT_EQ(label_value("910B3"), "910B3");
  EXPECT_EQ(label_value("V100-SXM2 (DGX-1V)"), "V100-SXM2--DGX-1V");
}

TEST(LabelValue, NothingMayBeLeft) {
  EXPECT_EQ(label_value(""), "");
  EXPECT_EQ(label_value("--__.. "), "");
  EXPECT_EQ(label_value("\xe6\x98\x87\xe8\x85\xbe"), "");
}

TEST(LabelValue, ALongTextIsCutToAValue) {
  EXPECT_EQ(label_value(std::string(200, 'x')), std::string(63, 'x'));
  EXPECT_EQ(label_value(std::string(62, 'x') + "-tail"), std::string(62, 'x'));
}

TEST(LabelValue, KnowsWhatIsOne) {
  EXPECT_TRUE(is_label_value(""));
  EXPECT_TRUE(is_label_value("a_b.c-d"));
  EXPECT_TRUE(is_label_value(std::string(63, 'a')));
  EXPECT_FALSE(is_label_value(std::string(64, 'a')));
  for (const char* text : {"-a", "a-", ".", "a b", "a/b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_label_value(text)) << text;
  }
}

TEST(LabelValue, HostileTextsBecomeValuesToo) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<int> length(0, 130);
  int kept = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(static_cast<std::size_t>(length(random)), ' ');
    for (char& c : text) c = static_cast<char>(byte(random));
    const std::string value = label_value(text);
    ASSERT_TRUE(is_label_value(value)) << value;
    kept += value.empty() ? 0 : 1;
  }
  EXPECT_GT(kept, 15'000);
}

}  // namespace
}  // namespace chipweave::agent
