#include "common/http/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "common/http/client.hpp"
#include "tests/unit/http/running_server.hpp"

namespace chipweave::http {
namespace {

TEST(Server, KnowsWhetherItIsBoundToLoopback) {
  for (const auto& [host, loopback] :
       {std::pair{"127.0.0.1", true}, {"127.0.0.9", true}, {"0.0.0.0", false}}) {
    Loop loop;
    ServerOptions options;
    options.host = host;
    Server server(loop, options, echo);
    EXPECT_FALSE(server.is_on_loopback()) << "not yet";
    ASSERT_TRUE(server.start().ok()) << host;
    EXPECT_EQ(server.is_on_loopback(), loopback) << host;
  }
}

const std::string kGet = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(const std::string& path, const std::string& body, const std::string& fields = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(Server, AnswersWithContentLengthAndKeepsTheConnection) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  for (int i = 0; i < 3; ++i) {
    socket.send(kGet);
    const std::string reply = socket.read_reply();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 200");
    EXPECT_NE(reply.find("\r\nContent-Length: 11\r\n"), std::string::npos) << reply;
    EXPECT_NE(reply.find("\r\nContent-Type: text/plain\r\n"), std::string::npos) << reply;
    EXPECT_EQ(reply.find("Transfer-Encoding"), std::string::npos);
    EXPECT_EQ(reply.find("Connection:"), std::string::npos);
    EXPECT_EQ(body_of(reply), "GET /a?b=c ");
  }
  EXPECT_EQ(running.stats().requests, 3U);
  EXPECT_EQ(running.stats().connections_open, 1U);
}

TEST(Server, SaysWhichMethodsAPathTakes) {
  RunningServer running([](const Request&) {
    Response refused;
    refused.status = 405;
    refused.allow = "GET, POST";
    return refused;
  });
  RawSocket socket(running.port());
  socket.send(kGet);
  const std::string reply = socket.read_reply();
  EXPECT_EQ(status_of(reply), "HTTP/1.1 405");
  EXPECT_NE(reply.find("\r\nAllow: GET, POST\r\n"), std::string::npos) << reply;
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  std::string packet;
  for (int i = 0; i < 100; ++i)
    packet += post("/" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'));
  socket.send(packet);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(body_of(socket.read_reply()),
              "POST /" + std::to_string(i) + "? " + std::string(static_cast<std::size_t>(i), 'x'));
  }
}

TEST(Server, TakesARequestCutAtAnyByte) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  const std::string request = post("/cut", "body");
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    socket.send(request.substr(0, cut));
    socket.send(request.substr(cut));
    ASSERT_EQ(body_of(socket.read_reply()), "POST /cut? body") << "cut at " << cut;
  }
}

TEST(Server, TakesChunkedBodies) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n3;e=1\r\n, "
      "2\r\n0\r\n\r\n" +
      kGet);
  EXPECT_EQ(body_of(socket.read_reply()), "POST /c? body, 2");
  EXPECT_EQ(body_of(socket.read_reply()), "GET /a?b=c ");
}

TEST(Server, BodiesArePaddedForTheJsonReader) {
  std::atomic<bool> padded{true};
  RunningServer running([&](const Request& request) {
    if (request.body.capacity() < request.body.size() + 64) padded = false;
    return echo(request);
  });
  RawSocket socket(running.port());
  for (const std::size_t size : {0U, 1U, 100U, 4095U, 4096U, 300000U, 3U}) {
    const std::string body(size, 'b');
    socket.send(post("/p", body));
    ASSERT_EQ(body_of(socket.read_reply()), "POST /p? " + body);
  }
  EXPECT_TRUE(padded);
}

TEST(Server, HonoursExpectContinue) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(socket.read_reply(), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("body");
  EXPECT_EQ(body_of(socket.read_reply()), "POST /e? body");
}

TEST(Server, SaysNothingInBetweenWhenTheBodyCameAlong) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send(post("/e", "body", "Expect: 100-continue\r\n"));
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
}

TEST(Server, HeadHasTheLengthAndNoBody) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send("HEAD /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string reply = socket.read_to_close();
  EXPECT_NE(reply.find("Content-Length: 8\r\n"), std::string::npos) << reply;
  EXPECT_EQ(body_of(reply), "");
}

TEST(Server, ClosesWhenTheClientSaysSo) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string reply = socket.read_to_close();
  EXPECT_EQ(status_of(reply), "HTTP/1.1 200");
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos);
}

TEST(Server, ClosesWhenTheAnswerSaysSo) {
  RunningServer running([](const Request&) -> Answer {
    Response response;
    response.body = "ask another";
    response.close = true;
    return response;
  });
  RawSocket socket(running.port());
  socket.send(post("/1", "a") + post("/2", "b"));
  const std::string reply = socket.read_to_close();
  EXPECT_EQ(body_of(reply), "ask another");
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos);
}

TEST(Server, Http10ClosesUnlessAskedToStay) {
  RunningServer running(echo);
  RawSocket once(running.port());
  once.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(body_of(once.read_to_close()), "GET /? ");
  RawSocket stays(running.port());
  stays.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(stays.read_reply().find("Connection: keep-alive\r\n"), std::string::npos);
  stays.send("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(body_of(stays.read_to_close()), "GET /2? ");
}

TEST(Server, AnswersAClientThatHasFinishedSending) {
  RunningServer running(echo);
  RawSocket socket(running.port());
  socket.send(kGet);
  socket.finish_sending();
  EXPECT_EQ(body_of(socket.read_to_close()), "GET /a?b=c ");
}

TEST(Server, AHandlerThatThrowsIsA500AndTheConnectionStays) {
  RunningServer running([](const Request& request) -> Response {
    if (request.path == "/throw") throw std::runtime_error("no");
    if (request.path == "/odd") throw 7;
    return echo(request);
  });
  RawSocket socket(running.port());
  for (const char* path : {"/throw", "/odd"}) {
    socket.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string reply = socket.read_reply();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 500");
    EXPECT_EQ(body_of(reply).rfind(R"({"error":{"code":"internal","message":")", 0), 0U) << reply;
  }
  socket.send(kGet);
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
}

TEST(Server, WhatEscapesAHandlerIsHandedOnWithoutItsPath) {
  RunningServer running([](const Request&) -> Response { throw std::logic_error("half done"); });
  std::string escaped;
  post_and_wait(running.loop(), [&] {
    running.loop().on_escape([&](const std::string& what) { escaped = what; });
  });
  RawSocket socket(running.port());
  socket.send("GET /secret HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 500");
  EXPECT_EQ(escaped, "an HTTP handler: half done");
}

TEST(Server, A204HasNeitherBodyNorLength) {
  RunningServer running([](const Request&) {
    Response response;
    response.status = 204;
    response.body = "must not be sent";
    return response;
  });
  RawSocket socket(running.port());
  socket.send(kGet + kGet);
  for (int i = 0; i < 2; ++i) {
    const std::string reply = socket.read_reply();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 204");
    EXPECT_EQ(reply.find("Content-Length"), std::string::npos);
    EXPECT_EQ(body_of(reply), "");
  }
}

TEST(Server, ABodyInPiecesArrivesWholeAtASlowReader) {
  std::vector<std::string> pieces;
  for (const char c : {'a', 'b', 'c'}) pieces.emplace_back(3U << 20U, c);
  pieces.insert(pieces.end(), {"", "end"});
  std::string whole = "begin";
  for (const std::string& piece : pieces) whole += piece;
  RunningServer running([&](const Request&) {
    Response response;
    response.body = "begin";
    response.more = pieces;
    return response;
  });
  RawSocket socket(running.port(), 4096);
  socket.send(kGet + kGet + "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body_of(socket.read_reply()), whole);
  EXPECT_EQ(body_of(socket.read_reply()), whole);
  const std::string head = socket.read_to_close();
  EXPECT_NE(head.find("Content-Length: " + std::to_string(whole.size())), std::string::npos);
  EXPECT_EQ(body_of(head), "");
}

TEST(Server, LargeRepliesArriveWholeAtASlowReader) {
  const std::string large(8U << 20U, 'L');
  RunningServer running([&](const Request&) {
    Response response;
    response.body = large;
    return response;
  });
  RawSocket socket(running.port(), 4096);
  socket.send(kGet + kGet);
  EXPECT_EQ(body_of(socket.read_reply()), large);
  EXPECT_EQ(body_of(socket.read_reply()), large);
}

TEST(Server, ServesAHundredClientsAtOnce) {
  RunningServer running(echo);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 100; ++t) {
    threads.emplace_back([&, t] {
      auto client = Client::connect_to(running.url());
      if (!client.ok()) return;
      for (int i = 0; i < 20; ++i) {
        const std::string body =
            std::to_string(t) + "/" + std::to_string(i) + std::string(500, '.');
        const auto reply = client->call("POST", "/n?x", body);
        if (reply.ok() && reply->status == 200 && reply->body == "POST /n?x " + body) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 2000);
  EXPECT_EQ(running.stats().requests, 2000U);
  EXPECT_EQ(running.stats().connections_refused, 0U);
}

TEST(Server, ListensOnIPv6WithAndWithoutBrackets) {
  for (const char* host : {"::1", "[::1]", "localhost"}) {
    ServerOptions options;
    options.host = host;
    Loop loop;
    Server server(loop, options, echo);
    const auto port = server.start();
    if (!port.ok() && port.error().message.find("ssign requested") != std::string::npos)
      GTEST_SKIP() << "no IPv6 here";
    EXPECT_TRUE(port.ok()) << port.error().text();
  }
}

TEST(Server, SaysWhyItCannotListen) {
  RunningServer running(echo);
  Loop loop;
  ServerOptions taken;
  taken.port = running.port();
  Server second(loop, taken, echo);
  const auto port = second.start();
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.error().message.find(running.url()), std::string::npos) << port.error().message;
  ServerOptions nowhere;
  nowhere.host = "no such host";
  Server third(loop, nowhere, echo);
  EXPECT_FALSE(third.start().ok());
}

}  // namespace
}  // namespace chipweave::http
