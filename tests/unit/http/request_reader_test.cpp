#include "common/http/request_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chipweave::http {
namespace {

using RequestState = RequestReader::State;

constexpr RequestReader::Limits kLimits{1000, 5000};

struct Seen {
  std::string method;
  std::string path;
  std::string query;
  std::string body;
  bool keep_alive;
  bool operator==(const Seen&) const = default;
};

// All requests in `bytes`, fed in pieces of that many bytes.
std::vector<Seen> read_all(std::string_view bytes, std::size_t step,
                           RequestReader::Limits limits = kLimits) {
  RequestReader reader(limits);
  std::vector<Seen> seen;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    RequestState state = reader.feed(bytes.substr(at, step));
    while (state == RequestState::ready) {
      const Request r = reader.request();
      seen.push_back({std::string(r.method), std::string(r.path), std::string(r.query), r.body,
                      reader.keep_alive()});
      state = reader.next();
    }
  }
  return seen;
}

RequestReader::Refusal refusal_of(std::string_view bytes, RequestReader::Limits limits = kLimits) {
  RequestReader reader(limits);
  if (reader.feed(bytes) != RequestState::failed) return {0, "not refused", ""};
  return reader.refusal();
}

std::string with_field(const std::string& field) {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + field + "\r\n\r\n";
}

TEST(RequestReader, ReadsAStreamOfRequestsInStepsOfAnySize) {
  const std::string bytes =
      "GET /one?q=1&r=%20 HTTP/1.1\r\nHost: x\r\n\r\n"
      "\r\n"
      "POST /two HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"
      "DELETE /three HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
      "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /? HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const std::vector<Seen> expected = {
      {"GET", "/one", "q=1&r=%20", "", true},
      {"POST", "/two", "", "abc", true},
      {"DELETE", "/three", "", "de", true},
      {"GET", "/", "", "", true},
      {"GET", "/", "", "", false},
  };
  for (std::size_t step = 1; step <= bytes.size(); ++step)
    ASSERT_EQ(read_all(bytes, step), expected) << step;
}

TEST(RequestReader, SaysWhereItIs) {
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.state(), RequestState::idle);
  EXPECT_EQ(reader.feed("\r\n"), RequestState::idle);
  EXPECT_EQ(reader.feed("P"), RequestState::header);
  EXPECT_EQ(reader.feed("OST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"),
            RequestState::body);
  EXPECT_EQ(reader.feed("a"), RequestState::body);
  EXPECT_EQ(reader.feed("bGET"), RequestState::ready);
  EXPECT_EQ(reader.next(), RequestState::header);
}

TEST(RequestReader, UnderstandsTheTargetFormsOfServersAndProxies) {
  const auto target = [](const std::string& t) {
    const auto seen = read_all("GET " + t + " HTTP/1.1\r\nHost: x\r\n\r\n", 1000);
    return seen.empty() ? std::string("refused") : seen[0].path + " " + seen[0].query;
  };
  EXPECT_EQ(target("/a/b"), "/a/b ");
  EXPECT_EQ(target("/a%2Fb?x?y"), "/a%2Fb x?y");
  EXPECT_EQ(target("http://host:80/a?b"), "/a b");
  EXPECT_EQ(target("HTTP://host"), "/ ");
  EXPECT_EQ(target("http://host?b"), "/ b");
  EXPECT_EQ(target("*"), "* ");
  EXPECT_EQ(target("a"), "refused");
  EXPECT_EQ(target("?a"), "refused");
  EXPECT_EQ(target("http:/a"), "refused");
}

TEST(RequestReader, RefusesWhatIsMalformed) {
  EXPECT_EQ(refusal_of(std::string_view("\0", 1)).code, "bad_request");
  EXPECT_EQ(refusal_of("\x16\x03\x01").code, "bad_request");
  EXPECT_EQ(refusal_of("GET\r\n\r\n").code, "bad_request");
  for (const char* line : {"GET / HTTP/1.1\n", "GET /x y HTTP/1.1\r\n", "GET / HTTX/1.1\r\n"}) {
    const auto refused = refusal_of(std::string(line) + "Host: x\r\n\r\n");
    EXPECT_EQ(refused.code, "bad_request_line") << line;
    EXPECT_EQ(refused.status, 400);
  }
  EXPECT_EQ(refusal_of("GET / HTTP/3.0\r\n\r\n").code, "bad_version");
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nA b: c\r\nHost: x\r\n\r\n").status, 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nA: \x01\r\nHost: x\r\n\r\n").status, 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n").code, "bad_host");
  EXPECT_EQ(refusal_of("GET x HTTP/1.1\r\nHost: x\r\n\r\n").code, "bad_target");
}

TEST(RequestReader, RefusesDoubtfulBodyLengths) {
  for (const char* field :
       {"Content-Length: 3\r\nContent-Length: 4", "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 3", "Content-Length: -1",
        "Content-Length: +1", "Content-Length: 0x1", "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"}) {
    EXPECT_EQ(refusal_of(with_field(field)).code, "bad_length") << field;
  }
  EXPECT_EQ(refusal_of(with_field("Transfer-Encoding: gzip")).status, 501);
  EXPECT_EQ(refusal_of(with_field("Transfer-Encoding: gzip, chunked")).status, 501);
  EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").code, "bad_length");
  EXPECT_EQ(refusal_of(with_field("Transfer-Encoding: chunked") + "oops").code, "bad_chunk");
}

TEST(RequestReader, KnowsOneExpectation) {
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.feed(with_field("Expect: 100-Continue\r\nContent-Length: 1")),
            RequestState::body);
  EXPECT_TRUE(reader.take_expect_continue());
  EXPECT_FALSE(reader.take_expect_continue());
  EXPECT_EQ(refusal_of(with_field("Expect: a miracle")).status, 417);
  EXPECT_EQ(refusal_of(with_field("Expect: a miracle\r\nExpect: 100-continue")).status, 417);
}

TEST(RequestReader, AnHttp10ClientIsNotToldToContinue) {
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.feed("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"),
            RequestState::body);
  EXPECT_FALSE(reader.take_expect_continue());
}

// The library's own limit starts over with every piece; the sum must stay within the limit.
TEST(RequestReader, BoundsTheHeaderHoweverItIsCut) {
  std::string header = "GET / HTTP/1.1\r\nHost: x\r\n";
  while (header.size() < kLimits.header_bytes) header += "Some-Field: some value\r\n";
  for (const std::size_t step : {1U, 7U, 24U, 100U, 10000U}) {
    RequestReader reader(kLimits);
    RequestState state = RequestState::idle;
    std::size_t at = 0;
    for (; at < header.size() && state != RequestState::failed; at += step) {
      state = reader.feed(std::string_view(header).substr(at, step));
    }
    ASSERT_EQ(state, RequestState::failed) << step;
    EXPECT_EQ(reader.refusal().status, 431) << step;
  }
}

TEST(RequestReader, TakesAHeaderOfExactlyTheLimit) {
  const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nA: ";
  const auto of_size = [&](std::size_t size) {
    return start + std::string(size - start.size() - 4, 'a') + "\r\n\r\n";
  };
  for (const std::size_t step : {1U, 10000U}) {
    EXPECT_EQ(read_all(of_size(kLimits.header_bytes), step).size(), 1U) << step;
    EXPECT_EQ(read_all(of_size(kLimits.header_bytes + 1), step).size(), 0U) << step;
  }
  EXPECT_EQ(refusal_of(of_size(kLimits.header_bytes + 1)).status, 431);
}

TEST(RequestReader, BoundsTheBody) {
  EXPECT_EQ(refusal_of(with_field("Content-Length: 5001")).status, 413);
  EXPECT_EQ(read_all(with_field("Content-Length: 5000") + std::string(5000, 'b'), 999).size(), 1U);
  EXPECT_EQ(refusal_of(with_field("Transfer-Encoding: chunked") + "1389\r\n").status, 413);
}

TEST(RequestReader, ABuffersSizeFollowsWhatArrives) {
  RequestReader reader(kLimits);
  ASSERT_EQ(reader.feed(with_field("Content-Length: 5000")), RequestState::body);
  EXPECT_LT(reader.held(), 200U);
  ASSERT_EQ(reader.feed(std::string(1000, 'b')), RequestState::body);
  EXPECT_LT(reader.held(), 2500U);
  ASSERT_EQ(reader.feed(std::string(4000, 'b')), RequestState::ready);
  EXPECT_LT(reader.held(), 5200U);
}

// Leaves no more than so much room.
class TightGate final : public RequestGate {
 public:
  explicit TightGate(std::size_t room) : room_(room) {}
  HeadVerdict check(RequestHead) override { return std::size_t{5000}; }
  bool may_announce(std::size_t) override { return true; }
  bool make_room(std::size_t bytes) override { return bytes <= room_; }
  std::string take_buffer() override { return {}; }
  void give_back(std::string) override {}

 private:
  std::size_t room_;
};

TEST(RequestReader, BytesOfTheNextRequestNeedRoomToo) {
  const std::string next = with_field("Content-Length: 2000") + std::string(1000, 'b');
  for (const std::size_t room : {500U, 2000U}) {
    TightGate gate(room);
    RequestReader reader(kLimits, &gate);
    const RequestState state = reader.feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + next);
    EXPECT_EQ(state, room == 500 ? RequestState::failed : RequestState::ready);
    EXPECT_EQ(reader.refusal().status, room == 500 ? 503 : 400);
  }
}

TEST(RequestReader, AFailedReaderHoldsNothing) {
  TightGate gate(3000);
  RequestReader reader(kLimits, &gate);
  ASSERT_EQ(reader.feed(with_field("Content-Length: 5000") + std::string(1000, 'b')),
            RequestState::body);
  ASSERT_EQ(reader.feed(std::string(3900, 'b')), RequestState::failed);
  EXPECT_EQ(reader.refusal().status, 503);
  reader.drop_all();
  EXPECT_LT(reader.held(), 200U);
}

TEST(RequestReader, ABodyTakenAwayByTheHandlerDoesNoHarm) {
  RequestReader reader(kLimits);
  const std::string request = with_field("Content-Length: 3") + "abc";
  ASSERT_EQ(reader.feed(request + request), RequestState::ready);
  const std::string taken = std::move(reader.request().body);
  EXPECT_EQ(taken, "abc");
  ASSERT_EQ(reader.next(), RequestState::ready);
  EXPECT_EQ(reader.request().body, "abc");
}

TEST(RequestReader, BytesAfterARefusalAreNotRead) {
  RequestReader reader(kLimits);
  ASSERT_EQ(reader.feed("?"), RequestState::failed);
  EXPECT_EQ(reader.feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), RequestState::failed);
  EXPECT_EQ(reader.next(), RequestState::failed);
  EXPECT_FALSE(reader.keep_alive());
}

TEST(RequestReader, TheAuthorizationFieldIsThatOfThisRequest) {
  RequestReader reader({1000, 1000});
  const auto shown = [&](const std::string& fields) {
    EXPECT_EQ(reader.feed("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n"),
              RequestReader::State::ready);
    std::string out(reader.request().authorization);
    reader.next();
    return out;
  };
  EXPECT_EQ(shown("authorization: Basic YQ==\r\n"), "Basic YQ==");
  EXPECT_EQ(shown(""), "") << "not that of the request before";
  EXPECT_EQ(shown("Authorization: a\r\nAuthorization: b\r\n"), "");
  EXPECT_EQ(shown("Authorization: c\r\n"), "c");
}

}  // namespace
}  // namespace chipweave::http
