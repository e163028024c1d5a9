#include "common/http/reply_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::http {
namespace {

using ReplyState = ReplyReader::State;

struct Outcome {
  ReplyState state;
  int status;
  std::string body;
  bool keep_alive;
  bool operator==(const Outcome&) const = default;
};

enum class Ends { open, closed };

Outcome read(std::string_view bytes, std::size_t step, Ends ends = Ends::open,
             bool has_body = true) {
  ReplyReader reader({1000, 5000}, has_body);
  ReplyState state = ReplyState::more;
  for (std::size_t at = 0; at < bytes.size() && state == ReplyState::more; at += step) {
    state = reader.feed(bytes.substr(at, step));
  }
  if (ends == Ends::closed) state = reader.end_of_stream();
  return {state, reader.status(), reader.body(), reader.keep_alive()};
}

TEST(ReplyReader, ReadsLengthChunksAndInterimRepliesHoweverCut) {
  const std::string length = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
  const std::string chunked =
      "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n" + length;
  for (std::size_t step = 1; step < 120; ++step) {
    EXPECT_EQ(read(length, step), (Outcome{ReplyState::done, 200, "body", true})) << step;
    EXPECT_EQ(read(chunked, step), (Outcome{ReplyState::done, 404, "body", true})) << step;
    EXPECT_EQ(read(interim, step), (Outcome{ReplyState::done, 200, "body", true})) << step;
  }
}

TEST(ReplyReader, ABodyWithoutALengthEndsWithTheConnection) {
  const std::string bytes = "HTTP/1.0 200 OK\r\n\r\nbody";
  EXPECT_EQ(read(bytes, 5).state, ReplyState::more);
  EXPECT_EQ(read(bytes, 5, Ends::closed), (Outcome{ReplyState::done, 200, "body", false}));
}

TEST(ReplyReader, AClosedConnectionInTheMiddleIsAnError) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbod", 100, Ends::closed).state,
            ReplyState::malformed);
  EXPECT_EQ(
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", 100, Ends::closed)
          .state,
      ReplyState::malformed);
  EXPECT_EQ(read("HTTP/1.1 200", 100, Ends::closed).state, ReplyState::malformed);
}

TEST(ReplyReader, KnowsRepliesWithoutABody) {
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n", 7), (Outcome{ReplyState::done, 204, "", true}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 7, Ends::open, false),
            (Outcome{ReplyState::done, 200, "", true}));
}

TEST(ReplyReader, DoesNotKeepADoubtfulConnection) {
  EXPECT_FALSE(
      read("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 100).keep_alive);
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nsurplus", 100).keep_alive);
}

TEST(ReplyReader, IsBounded) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nA: " + std::string(2000, 'a'), 100).state,
            ReplyState::too_large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5001\r\n\r\n", 100).state,
            ReplyState::too_large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1389\r\n", 100).state,
            ReplyState::too_large);
  EXPECT_EQ(read("HTTP/1.0 200 OK\r\n\r\n" + std::string(5001, 'a'), 100).state,
            ReplyState::too_large);
  std::string interim;
  while (interim.size() < 2000) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(read(interim, 100).state, ReplyState::too_large);
}

TEST(ReplyReader, RefusesWhatIsNotHttp) {
  EXPECT_EQ(read("SSH-2.0-OpenSSH\r\n\r\n", 100).state, ReplyState::malformed);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 100).state,
            ReplyState::malformed);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz", 100).state,
            ReplyState::malformed);
}

}  // namespace
}  // namespace chipweave::http
