#include "common/base/text.hpp"

#include <gtest/gtest.h>

#include "common/base/clock.hpp"
#include "common/base/foreign_text.hpp"

namespace chipweave {
namespace {

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc");
  EXPECT_EQ(shortened("a\u00e4b", 2), "a");
  EXPECT_EQ(shortened("\x80\x80\x80", 2), "");
}

TEST(Text, SaysWithDotsWhatWasCut) {
  EXPECT_EQ(with_dots("abcdef", 6), "abcdef");
  EXPECT_EQ(with_dots("abcdefg", 6), "abc...");
  EXPECT_EQ(with_dots("ab\u00e4defg", 6), "ab...");
}

TEST(Text, QuotesForeignWordsSafely) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("node_0 \u00e4"), "\"node_0 \u00e4\"");
  EXPECT_EQ(in_quotes("\x1b[2Ja\nb\x7f"), "\"?[2Ja?b?\"");
  const std::string quoted = in_quotes(std::string(500, 'x'));
  EXPECT_EQ(quoted.size(), 122U);
  EXPECT_EQ(quoted.substr(115), "xxx...\"");
}

TEST(Text, HidesTheSecretsOfUrls) {
  EXPECT_EQ(without_secrets(
                R"(Post "https://h.svc:8443/callers/s3cret/admission/binding?timeout=5s": EOF)"),
            R"(Post "https://h.svc:8443/callers/***/admission/binding?timeout=5s": EOF)");
  EXPECT_EQ(without_secrets("failed with https://kube-scheduler:s3cret@10.0.0.1/kube/filter: 503"),
            "failed with https://***@10.0.0.1/kube/filter: 503");
  for (const char* clean : {"", "no URL", "https://host/kube", "a@b", "://", "/callers",
                            "/callers/", "https://host/path@x", "pods \"a\" is forbidden"}) {
    EXPECT_EQ(without_secrets(clean), clean);
  }
}

TEST(Text, HidesSecretsHoweverTheyAreQuoted) {
  const std::string secret(48, 'a');
  for (const std::string& text :
       {"/callers/" + secret, "/callers//callers/" + secret + "/x",
        "/callers/callers/callers/" + secret, "/callers/x/callers/" + secret + "\n/callers/y",
        "https:///callers/" + secret, "://u:" + secret + "@://v:" + secret + "@h",
        "://u@" + secret + "@h", R"(\"https://h/callers/)" + secret + R"(\")",
        "https://u:" + secret + "@h/callers/" + secret + "?x=/callers/" + secret}) {
    EXPECT_EQ(without_secrets(text).find("aaaa"), std::string::npos) << without_secrets(text);
  }
}

TEST(Text, ListsNumbers) {
  EXPECT_EQ(comma_list({}), "");
  EXPECT_EQ(comma_list({0, 3, 12}), "0,3,12");
}

TEST(Text, SplitsAtASeparator) {
  using Items = std::vector<std::string_view>;
  EXPECT_EQ(split("0,1", ','), (Items{"0", "1"}));
  EXPECT_EQ(split("a,,", ','), (Items{"a", "", ""}));
  EXPECT_EQ(split("", ','), Items{""});
}

TEST(Text, ReadsWholeNumbersStrictly) {
  EXPECT_EQ(whole_number("0", 7), 0);
  EXPECT_EQ(whole_number("7", 7), 7);
  EXPECT_EQ(whole_number("9223372036854775807", INT64_MAX), INT64_MAX);
  for (const char* wrong : {"", "8", "-1", "+1", "01", "00", " 1", "1 ", "1a", "0x1",
                            "9223372036854775808", "99999999999999999999"}) {
    EXPECT_FALSE(whole_number(wrong, 7)) << wrong;
  }
}

TEST(Text, ConcatenatesTextAndNumbers) {
  EXPECT_EQ(concat(), "");
  EXPECT_EQ(concat("device ", 3, '/', std::size_t{16}, std::string(" of "), std::string_view("n1")),
            "device 3/16 of n1");
  EXPECT_EQ(concat(-1, std::int64_t{INT64_MIN}), "-1-9223372036854775808");
}

TEST(Clock, WritesMicroseconds) {
  using std::chrono::microseconds;
  const Clock::Wall second{std::chrono::seconds(1767323045)};
  EXPECT_EQ(rfc3339_micros(second), "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ(rfc3339_micros(second + microseconds(1)), "2026-01-02T03:04:05.000001Z");
  EXPECT_EQ(rfc3339_micros(second - microseconds(1)), "2026-01-02T03:04:04.999999Z");
}

}  // namespace
}  // namespace chipweave
