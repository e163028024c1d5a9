// Replies that come after the handler has returned.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/http/server.hpp"
#include "tests/unit/http/running_server.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::http {
namespace {

using Waiting = std::deque<std::shared_ptr<PendingReply>>;

Response text(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

// "/now" is answered at once, other requests are kept.
class LaterReply : public ::testing::Test {
 protected:
  void start(const ServerOptions& options = {}) {
    const auto keep = [this](std::shared_ptr<PendingReply> reply) {
      waiting_.push_back(std::move(reply));
    };
    running_.emplace(
        [keep](const Request& request) -> Answer {
          if (request.path == "/now") return text("now");
          return Later(keep);
        },
        options);
  }
  // A client whose request is the `count`-th kept one; it has pipelined `more` after it.
  std::unique_ptr<RawSocket> kept(std::size_t count = 1, const std::string& more = {}) {
    auto socket = std::make_unique<RawSocket>(running_->port());
    ask(*socket, count, more);
    return socket;
  }
  void ask(RawSocket& socket, std::size_t count = 1, const std::string& more = {}) {
    socket.send(get("/later") + more);
    std::size_t have = 0;
    while (have < count) post_and_wait(running_->loop(), [&] { have = waiting_.size(); });
  }
  void answer(const std::string& body) {
    running_->loop().post([this, body] {
      waiting_.front()->send(text(body));
      waiting_.pop_front();
    });
  }
  static void expect_served(RawSocket& socket) {
    socket.send(get("/now"));
    EXPECT_EQ(body_of(socket.read_reply()), "now");
  }

  Waiting waiting_;  // the loop's
  std::optional<RunningServer> running_;
};

TEST_F(LaterReply, ComesWhenItIsSentAndKeepsTheConnection) {
  start();
  RawSocket socket(running_->port());
  for (int i = 0; i < 3; ++i) {
    ask(socket);
    answer("answer " + std::to_string(i));
    const std::string reply = socket.read_reply();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 200");
    EXPECT_EQ(body_of(reply), "answer " + std::to_string(i));
  }
  EXPECT_EQ(running_->stats().connections_open, 1U);
}

TEST_F(LaterReply, MaySendBeforeItReturns) {
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

TEST_F(LaterReply, OthersAreServedMeanwhileAndPipelinedRequestsWaitTheirTurn) {
  start();
  const auto slow = kept(1, get("/now"));
  RawSocket other(running_->port());
  expect_served(other);
  answer("first");
  EXPECT_EQ(body_of(slow->read_reply()), "first");
  EXPECT_EQ(body_of(slow->read_reply()), "now");
}

TEST_F(LaterReply, OneThatIsDroppedIsAnInternalError) {
  start();
  const auto socket = kept();
  running_->loop().post([this] { waiting_.clear(); });
  EXPECT_EQ(status_of(socket->read_reply()), "HTTP/1.1 500");
  expect_served(*socket);
}

TEST_F(LaterReply, AHandlerThatThrowsLaterIsAnInternalError) {
  RunningServer running([](const Request&) -> Answer {
    return Later([](const std::shared_ptr<PendingReply>&) { throw std::runtime_error("bug"); });
  });
  RawSocket socket(running.port());
  socket.send(get("/later"));
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 500");
}

TEST_F(LaterReply, SecondAnswersAndClientsThatLeftAreIgnored) {
  start();
  kept();  // and gone
  const auto socket = kept(2);
  running_->loop().post([this] {
    for (const auto& reply : waiting_) {
      reply->send(text("first"));
      reply->send(text("second"));
    }
    waiting_.clear();
  });
  EXPECT_EQ(body_of(socket->read_reply()), "first");
  expect_served(*socket);
}

TEST_F(LaterReply, AfterTheLimitItIsTooLate) {
  ServerOptions options;
  options.answer_timeout = std::chrono::milliseconds(50);
  start(options);
  const auto socket = kept();
  EXPECT_EQ(status_of(socket->read_to_close()), "HTTP/1.1 504");
  post_and_wait(running_->loop(), [this] {
    for (const auto& reply : waiting_) reply->send(text("late"));
    waiting_.clear();
  });
  EXPECT_EQ(running_->stats().connections_open, 0U);
}

TEST_F(LaterReply, DrainingWaitsForIt) {
  start();
  const auto socket = kept();
  std::future<void> drained = running_->drain(std::chrono::seconds(20));
  answer("last");
  const std::string reply = socket->read_reply();
  EXPECT_EQ(body_of(reply), "last");
  EXPECT_NE(reply.find("\r\nConnection: close\r\n"), std::string::npos);
  drained.get();
}

TEST_F(LaterReply, TheServerMayGoFirst) {
  start();
  kept();
  running_.reset();
  waiting_.front()->send(text("nobody hears"));
}

}  // namespace
}  // namespace chipweave::http
