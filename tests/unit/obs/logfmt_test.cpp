#include "common/obs/logfmt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace chipweave::obs {
namespace {

std::string quoted(std::string_view value) {
  std::string out;
  append_value(out, value);
  return out;
}

TEST(Logfmt, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(quoted("ns/pod-1"), "ns/pod-1");
  EXPECT_EQ(quoted("1.5"), "1.5");
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("two words"), R"("two words")");
  EXPECT_EQ(quoted("a=b"), R"("a=b")");
  EXPECT_EQ(quoted(R"(say "no")"), R"("say \"no\"")");
  EXPECT_EQ(quoted(R"(back\slash)"), R"("back\\slash")");
  EXPECT_EQ(quoted("Knoten-\xc3\xa4"), "Knoten-\xc3\xa4");
}

TEST(Logfmt, NoValueCanEndTheLine) {
  EXPECT_EQ(quoted("a\nlevel=error"), R"("a\nlevel=error")");
  EXPECT_EQ(quoted("\r\t"), R"("\r\t")");
  EXPECT_EQ(quoted(std::string_view("\0\x1b[31m\x7f", 7)), R"("\u0000\u001b[31m\u007f")");
}

TEST(Logfmt, WritesTimeLevelMessageAndFields) {
  const auto time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1767323045123));
  EXPECT_EQ(format_line(time, Level::info, "bound",
                        {{"pod", "ns/p"}, {"node", std::string("n 1")}, {"chips", 8}}),
            R"(ts=2026-01-02T03:04:05.123Z level=info msg=bound pod=ns/p node="n 1" chips=8)");
  EXPECT_EQ(format_line(time, Level::error, "it broke", {{"bad key", 1}, {"", 2}}),
            R"(ts=2026-01-02T03:04:05.123Z level=error msg="it broke" bad_key=1 _=2)");
}

TEST(Logfmt, WritesNumbersShortly) {
  EXPECT_EQ(Field("k", 0.25).value, "0.25");
  EXPECT_EQ(Field("k", 300.0).value, "300");
  EXPECT_EQ(Field("k", NAN).value, "nan");
  EXPECT_EQ(Field("k", -3LL).value, "-3");
}

TEST(Log, KeepsItsLevelAndWritesWholeLines) {
  EXPECT_FALSE(set_level("loud"));
  EXPECT_FALSE(set_level(""));
  ASSERT_TRUE(set_level("warn"));
  testing::internal::CaptureStderr();
  log(Level::info, "hidden");
  log(Level::warn, "shown {} %s", {{"k", "{}"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 50; ++i) log(Level::error, "line", {{"end", "here"}});
    });
  }
  for (auto& thread : threads) thread.join();
  const std::string text = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(set_level("info"));
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_NE(text.find(R"(level=warn msg="shown {} %s" k={})"
                      "\n"),
            std::string::npos)
      << text;
  std::size_t whole = 0;
  for (std::size_t at = 0;
       (at = text.find("level=error msg=line end=here\nts=", at)) != std::string::npos; ++at)
    ++whole;
  EXPECT_EQ(whole, 199U);
}

}  // namespace
}  // namespace chipweave::obs
