#include "common/http/body_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace chipweave::http {
namespace {

using DecoderState = BodyDecoder::State;

struct Decoded {
  DecoderState state;
  std::string body;
  std::string rest;
};

Decoded decode(std::string_view bytes, std::size_t cut, std::size_t max_body = 1000,
               std::size_t max_extra = 100) {
  BodyDecoder decoder(max_body, max_extra);
  Decoded out{DecoderState::more, {}, {}};
  std::string_view first = bytes.substr(0, cut);
  std::string_view second = bytes.substr(cut);
  out.state = decoder.feed(first, out.body);
  if (out.state == DecoderState::more) out.state = decoder.feed(second, out.body);
  out.rest = std::string(first) + std::string(second);
  return out;
}

TEST(BodyDecoder, ReadsTheSameWhereverItIsCut) {
  const std::string bytes =
      "4\r\nbody\r\n00A; name=\"value\"\r\n0123456789\r\nf\r\nfifteen bytes..\r\n0\r\nTrailer: "
      "x\r\n\r\nnext";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const Decoded out = decode(bytes, cut);
    ASSERT_EQ(out.state, DecoderState::done) << "cut at " << cut;
    EXPECT_EQ(out.body, "body0123456789fifteen bytes..");
    EXPECT_EQ(out.rest, "next");
  }
}

TEST(BodyDecoder, AnEmptyBodyMayBeCutAnywhereToo) {
  const std::string bytes = "0\r\n\r\n";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(decode(bytes, cut).state, DecoderState::done) << "cut at " << cut;
  }
}

TEST(BodyDecoder, WantsMoreUntilTheLastByte) {
  const std::string bytes = "3\r\nabc\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode(bytes.substr(0, size), 0).state, DecoderState::more) << size;
  }
}

TEST(BodyDecoder, RefusesBrokenFraming) {
  for (const char* bytes : {"x\r\n", "\r\n", ";a\r\n", "4\nbody\r\n", "4\r\nbodyX", "4\r\nbody\rX",
                            "4\rX", "0\r\n\rX", "0\r\n\n", "0\r\nTrailer\n", "4 x\n", "-1\r\n",
                            "4,\r\n", "0x4\r\n", "1000000000000000\r\n"}) {
    EXPECT_EQ(decode(bytes, 0).state, DecoderState::malformed) << bytes;
  }
}

TEST(BodyDecoder, BoundsThePayloadByTheSumOfTheChunks) {
  EXPECT_EQ(decode("3e8\r\n", 0).state, DecoderState::more);
  EXPECT_EQ(decode("3e9\r\n", 0).state, DecoderState::too_large);
  EXPECT_EQ(decode("5\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n", 0, 10).state, DecoderState::done);
  EXPECT_EQ(decode("5\r\nabcde\r\n6\r\n", 0, 10).state, DecoderState::too_large);
  EXPECT_EQ(decode("fffffffffffffff\r\n", 0).state, DecoderState::too_large);
}

TEST(BodyDecoder, BoundsExtensionsAndTrailersTogether) {
  const std::string extension = "1;" + std::string(60, 'e') + "\r\nx\r\n";
  EXPECT_EQ(decode(extension + "0\r\n\r\n", 0).state, DecoderState::done);
  EXPECT_EQ(decode(extension + extension, 0).state, DecoderState::malformed);
  EXPECT_EQ(decode("0\r\nT: " + std::string(200, 't'), 0).state, DecoderState::malformed);
}

TEST(BodyDecoder, LeavesRoomBehindTheBody) {
  std::string body;
  for (std::size_t size = 1; size < 3000; size += 7) {
    append_padded(body, std::string(7, 'x'));
    ASSERT_GE(body.capacity(), body.size() + kBodyPadding);
  }
}

}  // namespace
}  // namespace chipweave::http
