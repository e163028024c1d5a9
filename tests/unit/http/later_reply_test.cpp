// Replies that come after the handler has returned.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "common/http/server.hpp"
#include "running_server.hpp"

namespace chipweave::http {
namespace {

using Waiting = std::deque<std::shared_ptr<PendingReply>>;

Response text(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

// "/now" is answered at once, everything else is kept in `waiting` (which the loop owns).
Handler keeping(Waiting& waiting) {
  return [&waiting](const Request& request) -> Answer {
    if (request.path == "/now") return text("now");
    return Later(
        [&waiting](std::shared_ptr<PendingReply> reply) { waiting.push_back(std::move(reply)); });
  };
}

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

// Until the handler has so many.
void wait_for(RunningServer& running, const Waiting& waiting, std::size_t count) {
  std::size_t have = 0;
  while (have < count) running.loop().post_and_wait([&] { have = waiting.size(); });
}

TEST(LaterReply, ComesWhenItIsSentAndKeepsTheConnection) {
  Waiting waiting;
  RunningServer running(keeping(waiting));
  RawSocket socket(running.port());
  for (int i = 0; i < 3; ++i) {
    socket.send(get("/later"));
    wait_for(running, waiting, 1);
    running.loop().post([&waiting, i] {
      waiting.front()->send(text("answer " + std::to_string(i)));
      waiting.pop_front();
    });
    const std::string reply = socket.read_reply();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 200");
    EXPECT_EQ(body_of(reply), "answer " + std::to_string(i));
  }
  EXPECT_EQ(running.stats().connections_open, 1U);
}

TEST(LaterReply, MaySendBeforeItReturns) {
  RunningServer running([](const Request& request) -> Answer {
    return Later([path = std::string(request.path)](const std::shared_ptr<PendingReply>& reply) {
      reply->send(text(path));
    });
  });
  RawSocket socket(running.port());
  std::string packet;
  for (int i = 0; i < 2000; ++i) packet += get("/" + std::to_string(i));
  socket.send(packet);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(body_of(socket.read_reply()), "/" + std::to_string(i));
}

TEST(LaterReply, OthersAreServedMeanwhileAndPipelinedRequestsWaitTheirTurn) {
  Waiting waiting;
  RunningServer running(keeping(waiting));
  RawSocket slow(running.port());
  slow.send(get("/later") + get("/now"));
  wait_for(running, waiting, 1);
  RawSocket other(running.port());
  other.send(get("/now"));
  EXPECT_EQ(body_of(other.read_reply()), "now");
  running.loop().post([&] {
    waiting.front()->send(text("first"));
    waiting.pop_front();
  });
  EXPECT_EQ(body_of(slow.read_reply()), "first");
  EXPECT_EQ(body_of(slow.read_reply()), "now");
}

TEST(LaterReply, OneThatIsDroppedIsAnInternalError) {
  Waiting waiting;
  RunningServer running(keeping(waiting));
  RawSocket socket(running.port());
  socket.send(get("/later"));
  wait_for(running, waiting, 1);
  running.loop().post([&] { waiting.clear(); });
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 500");
  socket.send(get("/now"));
  EXPECT_EQ(body_of(socket.read_reply()), "now");
}

TEST(LaterReply, AHandlerThatThrowsLaterIsAnInternalError) {
  RunningServer running([](const Request&) -> Answer {
    return Later([](const std::shared_ptr<PendingReply>&) { throw std::runtime_error("bug"); });
  });
  RawSocket socket(running.port());
  socket.send(get("/later"));
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 500");
}

TEST(LaterReply, SecondAnswersAndClientsThatLeftAreIgnored) {
  Waiting waiting;
  RunningServer running(keeping(waiting));
  {
    RawSocket gone(running.port());
    gone.send(get("/later"));
    wait_for(running, waiting, 1);
  }
  RawSocket socket(running.port());
  socket.send(get("/later"));
  wait_for(running, waiting, 2);
  running.loop().post([&] {
    for (const auto& reply : waiting) {
      reply->send(text("first"));
      reply->send(text("second"));
    }
    waiting.clear();
  });
  EXPECT_EQ(body_of(socket.read_reply()), "first");
  socket.send(get("/now"));
  EXPECT_EQ(body_of(socket.read_reply()), "now");
}

TEST(LaterReply, AfterTheLimitItIsTooLate) {
  Waiting waiting;
  ServerOptions options;
  options.answer_timeout = std::chrono::milliseconds(50);
  RunningServer running(keeping(waiting), options);
  RawSocket socket(running.port());
  socket.send(get("/later"));
  EXPECT_EQ(status_of(socket.read_to_close()), "HTTP/1.1 504");
  running.loop().post_and_wait([&] {
    for (const auto& reply : waiting) reply->send(text("late"));
    waiting.clear();
  });
  EXPECT_EQ(running.stats().connections_open, 0U);
}

TEST(LaterReply, DrainingWaitsForIt) {
  Waiting waiting;
  RunningServer running(keeping(waiting));
  RawSocket socket(running.port());
  socket.send(get("/later"));
  wait_for(running, waiting, 1);
  std::promise<void> drained;
  running.loop().post(
      [&] { running.server().drain(std::chrono::seconds(20), [&] { drained.set_value(); }); });
  running.loop().post([&] {
    waiting.front()->send(text("last"));
    waiting.clear();
  });
  const std::string reply = socket.read_reply();
  EXPECT_EQ(body_of(reply), "last");
  EXPECT_NE(reply.find("\r\nConnection: close\r\n"), std::string::npos);
  drained.get_future().get();
}

TEST(LaterReply, TheServerMayGoFirst) {
  Waiting waiting;
  {
    RunningServer running(keeping(waiting));
    RawSocket socket(running.port());
    socket.send(get("/later"));
    wait_for(running, waiting, 1);
  }
  waiting.front()->send(text("nobody hears"));
}

}  // namespace
}  // namespace chipweave::http
