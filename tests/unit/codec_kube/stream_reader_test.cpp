#include "common/codec/json/stream_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec::json_stream {
namespace {

// Wherever they are in the text, and whatever its length.
TEST(StreamReader, CountsPunctuationExactly) {
  std::string text;
  while (text.size() < kMaxPunctuation) text += "[]{},:";
  text.resize(kMaxPunctuation);
  text.insert(text.size() / 2, 77, 'x');
  EXPECT_FALSE(too_dense(text));
  text += "\"\\;|+-";
  EXPECT_FALSE(too_dense(text));
  for (const char one : {'[', ']', '{', '}', ',', ':'}) {
    EXPECT_TRUE(too_dense(text + one)) << one;
    EXPECT_TRUE(too_dense(one + text)) << one;
  }
}

}  // namespace
}  // namespace chipweave::codec::json_stream
