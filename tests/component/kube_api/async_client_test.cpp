// AsyncClient with servers that behave in every permitted way, and with misbehaving ones.
#include "common/http/async_client.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/component/kube_api/async_client_calls.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave {
namespace {

TEST_F(Client, SpeaksTlsWithAPrivateAuthorityAndAnAddress) {
  const Pem authority = test::make_authority("e2e");
  const ScriptedServer server(test::make_certificate(authority, "IP:127.0.0.1"), answer_all);
  AsyncClient& client = to(server, secure(authority));
  AsyncRequest request;
  request.method = "POST";
  request.target = "/api?x=1";
  request.headers = {{"Authorization", "Bearer t"}};
  request.body = std::string(200000, 'x');
  const Outcome out = call(client, request);
  ASSERT_TRUE(out.ok) << out.text;
  EXPECT_EQ(out.reply.status, 200);
  EXPECT_EQ(out.reply.body,
            "POST /api?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nAuthorization: Bearer t\r\nContent-Length: 200000\r\n\r\n" + request.body);
  EXPECT_TRUE(get(client).ok);
  EXPECT_EQ(server.connections(), 1) << "kept and reused";
}

TEST_F(Client, RefusesServersThatAreNotWhoTheyShouldBe) {
  const Pem authority = test::make_authority("e2e");
  const ScriptedServer server(test::make_certificate(authority, "DNS:kube.example,IP:10.0.0.1"),
                              answer_all);
  Outcome out = get(to(server, secure(authority)));
  EXPECT_FALSE(out.ok) << "the certificate is for other names";
  EXPECT_EQ(out.code, Errc::unavailable);
  EXPECT_NE(out.text.find("TLS handshake"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("IP address mismatch"), std::string::npos) << out.text;

  http::Origin named = secure(authority);
  named.pem.server_name = "kube.example";
  EXPECT_TRUE(get(to(server, named)).ok);
  named.pem.server_name = "10.0.0.1";
  EXPECT_TRUE(get(to(server, named)).ok);
  named.pem.server_name = "other.example";
  EXPECT_FALSE(get(to(server, named)).ok);

  http::Origin other = secure(test::make_authority("e2e"));
  other.pem.server_name = "kube.example";
  EXPECT_FALSE(get(to(server, other)).ok) << "another authority of the same name";
  other.pem.ca.clear();
  EXPECT_FALSE(get(to(server, other)).ok) << "not in the system's trust store";
  other.verify = false;
  EXPECT_TRUE(get(to(server, other)).ok);
}

TEST_F(Client, CertificatesThatAreNoneAreErrorsAtOnce) {
  http::Origin origin;
  origin.pem.ca = "no certificate";
  auto made = AsyncClient::make(loop_, origin, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::invalid_argument);
  const Pem authority = test::make_authority("e2e");
  origin = secure(authority);
  origin.pem.certificate = test::make_certificate(authority, "DNS:me").certificate;
  origin.pem.key =
      test::make_certificate(authority, "DNS:me").key;  // the key of another certificate
  made = AsyncClient::make(loop_, origin, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().text().find("client key"), std::string::npos) << made.error().text();
}

TEST_F(Client, AKeptConnectionThatDiedIsReplacedForWhatMayBeRepeated) {
  // Answers once, and disconnects on the next request.
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    if (!talk.request()) return;
    talk.reply(200, "first of " + std::to_string(talk.number));
    talk.request();
  });
  AsyncClient& client = to(server, plain());
  EXPECT_EQ(get(client).reply.body, "first of 1");
  EXPECT_EQ(get(client).reply.body, "first of 2");
  const Outcome out = post(client);
  EXPECT_FALSE(out.ok) << "the server may have acted";
  EXPECT_EQ(out.code, Errc::unavailable);
  EXPECT_EQ(post(client).reply.body, "first of 3");
}

TEST_F(Client, AConnectionThatIsSeenToBeClosedIsNotUsed) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    if (talk.request()) talk.reply(200, "x");  // and closes
  });
  AsyncClient& client = to(server, plain());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(post(client).ok);
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(Client, EveryWaitHasAnEnd) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    if (talk.number > 1) talk.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    talk.wait_for_end();
  });
  AsyncClient& client = to(server, plain());
  for (int i = 0; i < 2; ++i) {
    AsyncRequest request;
    request.target = "/";
    const Outcome out = call(client, request, milliseconds(200));
    EXPECT_EQ(out.code, Errc::deadline) << out.text;
  }
}

TEST_F(Client, SlowServersAreWaitedFor) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    for (const char byte :
         std::string_view("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nabc")) {
      talk.say({&byte, 1});
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const Outcome out = get(to(server, plain()));
  EXPECT_EQ(out.reply.status, 201);
  EXPECT_EQ(out.reply.body, "abc");
}

TEST_F(Client, WhatIsNoAnswerIsAnError) {
  for (const std::string& text :
       {std::string("SSH-2.0-x\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("HTTP/1.1 200 OK\r\nX: ") + std::string(70000, 'y'), std::string("")}) {
    const ScriptedServer server(std::nullopt, [&](Talk& talk) {
      talk.request();
      talk.say(text);
    });
    const Outcome out = get(to(server, plain()));
    EXPECT_FALSE(out.ok) << text.substr(0, 40);
    EXPECT_NE(out.text, "") << text.substr(0, 40);
  }
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    talk.reset();
  });
  EXPECT_EQ(get(to(server, plain())).code, Errc::unavailable);
}

TEST_F(Client, AnswersAreBounded) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    talk.reply(200, std::string(2000, 'x'));
  });
  AsyncClient::Limits limits;
  limits.max_reply_bytes = 1000;
  EXPECT_EQ(get(to(server, plain(), limits)).code, Errc::limit_exceeded);
}

TEST_F(Client, CallsBeyondTheLimitWaitForTheirTurn) {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  const ScriptedServer server(std::nullopt, [&](Talk& talk) {
    while (talk.request()) {
      const int at_once = ++now;
      for (int seen = most; seen < at_once && !most.compare_exchange_weak(seen, at_once);) continue;
      std::this_thread::sleep_for(milliseconds(10));
      --now;
      talk.reply(200, "x");
    }
  });
  AsyncClient::Limits limits;
  limits.max_calls = 2;
  AsyncClient& client = to(server, plain(), limits);
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 9; ++i) all.push_back(start(client, "POST", seconds(10)));
  for (auto& one : all) EXPECT_TRUE(got(std::move(one)).ok);
  EXPECT_EQ(most, 2);
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(Client, ACallMayEndWhileItWaitsForItsTurn) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> requests{0};
  const ScriptedServer server(std::nullopt, [&](Talk& talk) {
    while (talk.request()) {
      ++requests;
      released.wait();
      talk.reply(200, "x");
    }
  });
  AsyncClient::Limits limits;
  limits.max_calls = 1;
  AsyncClient& client = to(server, plain(), limits);
  auto first = start(client, "POST", seconds(10));
  const Outcome late = got(start(client, "POST", milliseconds(20)));
  EXPECT_EQ(late.code, Errc::deadline);
  EXPECT_NE(late.text.find("busy with other calls"), std::string::npos) << late.text;
  post_and_wait(loop_, [&] {
    AsyncRequest request;
    request.target = "/";
    const auto ticket = client.call(request, seconds(5), [](const Result<AsyncReply>&) {
      ADD_FAILURE() << "an answer to an abandoned call";
    });
  });
  auto last = start(client, "POST", seconds(10));
  release.set_value();
  EXPECT_TRUE(got(std::move(first)).ok);
  EXPECT_TRUE(got(std::move(last)).ok);
  EXPECT_EQ(requests, 2);
}

TEST_F(Client, WhatCannotBeSentIsNot) {
  const ScriptedServer server(std::nullopt, answer_all);
  AsyncClient& client = to(server, plain());
  for (const char* target : {"", "x", "/a b", "/a\r\nX: y", "/\x80"}) {
    EXPECT_EQ(get(client, target).code, Errc::invalid_argument) << target;
  }
  AsyncRequest request;
  request.target = "/";
  request.headers = {{"Authorization", "Bearer a\r\nX: y"}};
  EXPECT_EQ(call(client, request).code, Errc::invalid_argument);
  EXPECT_EQ(server.connections(), 0);
}

// may_send is called when the call has its turn and the connection is open, not when the call is
// made.
TEST_F(Client, ACallThatIsCalledOffWhileItWaitsIsNotSent) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> requests{0};
  const ScriptedServer server(std::nullopt, [&](Talk& talk) {
    while (talk.request()) {
      ++requests;
      released.wait();
      talk.reply(200, "x");
    }
  });
  AsyncClient::Limits limits;
  limits.max_calls = 1;
  AsyncClient& client = to(server, plain(), limits);
  auto first = start(client, "POST", seconds(10));
  std::atomic<bool> may{true};
  std::atomic<int> asked{0};
  AsyncRequest request;
  request.method = "POST";
  request.target = "/";
  request.may_send = [&] {
    ++asked;
    return may.load();
  };
  auto second = start(client, request, seconds(10));
  post_and_wait(loop_, [] {});
  EXPECT_EQ(asked, 0);
  may = false;
  release.set_value();
  EXPECT_TRUE(got(std::move(first)).ok);
  const Outcome off = got(std::move(second));
  EXPECT_EQ(off.code, Errc::unavailable);
  EXPECT_EQ(off.text, "the request was not sent: it was called off");
  EXPECT_EQ(asked, 1);
  may = true;
  EXPECT_TRUE(call(client, request).ok) << "the next one has its turn";
  EXPECT_EQ(requests, 2);
}

TEST_F(Client, NobodyThere) {
  std::uint16_t port = 0;
  {
    const ScriptedServer gone(std::nullopt, answer_all);
    port = gone.port();
  }
  http::Origin origin = plain();
  origin.host = "127.0.0.1";
  origin.port = std::to_string(port);
  clients_.push_back(std::move(AsyncClient::make(loop_, origin, {}).value()));
  EXPECT_EQ(get(*clients_.back()).code, Errc::unavailable);
}

TEST_F(Client, StreamsComeInPiecesAndEndInOrderOrNot) {
  const auto script = [](Talk& talk) {
    talk.request();
    talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char* part : {"one\n", "tw", "o\nthree", "\n"}) {
      talk.chunk(part);
      std::this_thread::sleep_for(milliseconds(5));
    }
    if (talk.number == 1) talk.say("0\r\n\r\n");
    if (talk.number == 2) talk.reset();
  };
  const ScriptedServer server(std::nullopt, script);
  AsyncClient& client = to(server, plain());
  Story story = stream(client);
  EXPECT_EQ(story.bytes, "one\ntwo\nthree\n");
  EXPECT_TRUE(story.in_order) << story.problem;
  for (int cut = 0; cut < 2; ++cut) {  // by a reset, then by an end without the last chunk
    story = stream(client);
    EXPECT_FALSE(story.in_order);
    EXPECT_NE(story.problem, "");
  }
  EXPECT_EQ(story.bytes, "one\ntwo\nthree\n");
}

TEST_F(Client, ARefusedStreamSaysWhyAndHowLong) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    talk.reply(429, "Too many requests", "Retry-After: 7\r\n");
  });
  const Story story = stream(to(server, plain()));
  EXPECT_EQ(story.refused, 429);
  EXPECT_EQ(story.body, "Too many requests");
  EXPECT_EQ(story.retry_after, seconds(7));
}

TEST_F(Client, ASilentStreamIsDead) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    talk.chunk("x");
    talk.wait_for_end();
  });
  const Story story = stream(to(server, plain()), milliseconds(150));
  EXPECT_EQ(story.bytes, "x");
  EXPECT_FALSE(story.in_order);
  EXPECT_NE(story.problem.find("in time"), std::string::npos) << story.problem;
}

TEST_F(Client, ATicketThatIsGoneIsSilent) {
  std::atomic<int> calls{0};
  {
    const ScriptedServer server(std::nullopt, [](Talk& talk) {
      talk.request();
      std::this_thread::sleep_for(milliseconds(50));
      talk.reply(200, "late");
      talk.wait_for_end();
    });
    AsyncClient& client = to(server, plain());
    post_and_wait(loop_, [&] {
      AsyncRequest request;
      request.target = "/";
      auto ticket =
          client.call(request, seconds(5), [&calls](const Result<AsyncReply>&) { ++calls; });
    });
    std::this_thread::sleep_for(milliseconds(150));
  }
  EXPECT_EQ(calls, 0);
}

TEST_F(Client, ATicketMayGoWithinItsOwnCallback) {
  const ScriptedServer server(std::nullopt, [](Talk& talk) {
    talk.request();
    talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (talk.say("1\r\nx\r\n")) std::this_thread::sleep_for(milliseconds(1));
  });
  AsyncClient& client = to(server, plain());
  std::promise<int> done;
  auto future = done.get_future();
  auto ticket = std::make_shared<std::unique_ptr<http::Ticket>>();
  auto count = std::make_shared<int>(0);
  loop_.post([&, ticket, count] {
    AsyncRequest request;
    request.target = "/";
    *ticket = client.stream(request, seconds(5),
                            {[](const AsyncReply&) {},
                             [&done, ticket, count](std::string_view) {
                               if (++*count < 3) return;
                               ticket->reset();
                               done.set_value(*count);
                             },
                             [](const Result<void>&) { ADD_FAILURE() << "an end after the end"; }});
  });
  EXPECT_EQ(got(std::move(future)), 3);
}

}  // namespace
}  // namespace chipweave
