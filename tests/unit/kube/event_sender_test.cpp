#include "common/kube/event_sender.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/manual_clock.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

using Json = nlohmann::json;

class EventSending : public testing::Test {
 protected:
  EventSending() { testing::internal::CaptureStderr(); }
  ~EventSending() override {
    if (!logged_) log();
  }
  // The log lines of the test; once.
  std::vector<std::string> log() {
    logged_ = true;
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<std::string> out;
    for (std::string line; std::getline(text, line);) out.push_back(line);
    return out;
  }

  static constexpr const char* kEvents = "/apis/events.k8s.io/v1/namespaces/ns/events";
  static inline const std::string kPost = std::string("POST ") + kEvents;
  static codec::KubeEvent event(const std::string& note) {
    return {{"Pod", "ns", "p", "u"}, "c", "i", true, "R", "A", note};
  }
  void send() {
    events_.send(
        {{"Pod", "ns", "p" + std::to_string(++sent_), "u"}, "c", "i", true, "R", "A", "n"});
  }
  // As API servers word it: each refusal names its event.
  std::string status(int code, const std::string& reason, const std::string& cause = "") const {
    Json out{{"kind", "Status"},
             {"code", code},
             {"reason", reason},
             {"message", "event " + std::to_string(sent_) + " is refused"}};
    if (!cause.empty()) out["details"]["causes"] = {{{"reason", cause}, {"message", "m"}}};
    return out.dump();
  }
  void refuse(int code, const std::string& reason, const std::string& cause = "") {
    send();
    server_.reply(code, status(code, reason, cause));
  }

  ScriptedTransport server_;
  ManualClock clock_;
  EventSender events_{server_, clock_, {4, 10, 50}};
  int sent_ = 0;
  bool logged_ = false;
};

TEST_F(EventSending, EachReasonForARefusalIsLoggedOnce) {
  for (int i = 0; i < 5; ++i) refuse(403, "Forbidden");
  for (int i = 0; i < 5; ++i) refuse(403, "Forbidden", "NamespaceTerminating");
  for (int i = 0; i < 5; ++i) refuse(422, "Invalid", "FieldValueInvalid");
  refuse(403, "Forbidden");
  const std::vector<std::string> lines = log();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("HTTP 403 Forbidden"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("event 1 is refused"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("NamespaceTerminating"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("HTTP 422 Invalid FieldValueInvalid"), std::string::npos) << lines[2];
  EXPECT_EQ(events_.stats().refused, 16U);
  EXPECT_EQ(events_.stats().sent, 0U);
  EXPECT_EQ(events_.stats().dropped, 0U);
}

TEST_F(EventSending, WhatCouldNotBeDeliveredIsSentAgainWithBackOff) {
  send();
  const std::string body = server_.body;
  auto longest = std::chrono::milliseconds(1000);
  const auto again = [&] {
    EXPECT_EQ(server_.target, "wait " + std::to_string(server_.waiting.count()));
    EXPECT_GE(server_.waiting, longest / 2);
    EXPECT_LE(server_.waiting, longest);
    longest = std::min<std::chrono::milliseconds>(2 * longest, std::chrono::seconds(60));
    clock_.advance(server_.waiting);
    server_.pass_time();
    EXPECT_EQ(server_.target, kPost);
    EXPECT_EQ(server_.body, body) << "the same name and time";
  };
  for (int i = 0; i < 10; ++i) {
    server_.fail(i % 2 == 0 ? Errc::unavailable : Errc::deadline, "no connection");
    again();
  }
  for (const int code : {401, 429, 500, 503}) {
    server_.reply(code, status(code, "Passing"));
    again();
  }
  server_.reply(201, "{}");
  EXPECT_EQ(events_.stats().sent, 1U);
  EXPECT_EQ(events_.stats().dropped, 0U);
  EXPECT_EQ(events_.stats().refused, 0U);
  send();
  server_.fail(Errc::unavailable, "no connection");
  EXPECT_LE(server_.waiting, std::chrono::seconds(1)) << "a success resets the back-off";
  EXPECT_NE(log().front().find("no connection"), std::string::npos);
}

TEST_F(EventSending, TheServerMaySayWhenItIsReady) {
  send();
  const auto done = server_.on_reply;
  done(Reply{429, "{}", std::chrono::seconds(17)});
  EXPECT_EQ(server_.waiting, std::chrono::seconds(17));
}

TEST_F(EventSending, ALostAnswerMakesNoSecondEvent) {
  send();
  server_.fail(Errc::deadline, "no answer");  // but the event was stored
  server_.pass_time();
  server_.target.clear();
  server_.reply(409, status(409, "AlreadyExists"));
  EXPECT_EQ(server_.target, "") << "nothing is left to do";
  EXPECT_EQ(events_.stats().sent, 1U);
  EXPECT_EQ(events_.stats().refused, 0U);
}

TEST_F(EventSending, ARepetitionIsTheSameEventWithACount) {
  events_.send(event("again"));
  const std::string name = Json::parse(server_.body)["metadata"]["name"];
  EXPECT_FALSE(Json::parse(server_.body).contains("series"));
  server_.reply(201, "{}");
  clock_.advance(std::chrono::minutes(5));
  events_.send(event("again"));
  EXPECT_EQ(server_.target, "PATCH " + std::string(kEvents) + "/" + name);
  EXPECT_EQ(
      Json::parse(server_.body),
      Json::parse(R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:09:05.000000Z"}})"));
  events_.send(event("again"));  // while that is in flight
  events_.send(event("again"));
  server_.reply(200, "{}");
  EXPECT_EQ(Json::parse(server_.body)["series"]["count"], 4);
  server_.reply(200, "{}");
  EXPECT_EQ(events_.stats().sent, 3U);
  events_.send(event("another note"));
  EXPECT_EQ(server_.target, kPost);
  server_.reply(201, "{}");
  clock_.advance(std::chrono::minutes(6) + std::chrono::seconds(1));
  events_.send(event("again"));
  EXPECT_EQ(server_.target, kPost) << "a new event after client-go's six minutes";
  EXPECT_NE(Json::parse(server_.body)["metadata"]["name"], name);
}

TEST_F(EventSending, WhatRepeatsWhileItWaitsIsOneEvent) {
  send();
  for (int i = 0; i < 3; ++i) events_.send(event("again"));
  server_.reply(201, "{}");
  const Json body = Json::parse(server_.body);
  EXPECT_EQ(body["note"], "again");
  EXPECT_EQ(body["series"]["count"], 3);
  server_.target.clear();
  server_.reply(201, "{}");
  EXPECT_EQ(server_.target, "");
  EXPECT_EQ(events_.stats().sent, 2U);
}

TEST_F(EventSending, AnEventThatTheServerHasForgottenIsMadeAgain) {
  events_.send(event("again"));
  const std::string name = Json::parse(server_.body)["metadata"]["name"];
  server_.reply(201, "{}");
  events_.send(event("again"));
  server_.reply(404, status(404, "NotFound"));
  EXPECT_EQ(server_.target, kPost);
  EXPECT_NE(Json::parse(server_.body)["metadata"]["name"], name);
  EXPECT_EQ(Json::parse(server_.body)["series"]["count"], 2);
  server_.reply(201, "{}");
  EXPECT_EQ(events_.stats().refused, 0U);
}

TEST_F(EventSending, NotesGiveWayToWarnings) {
  send();  // is in flight
  codec::KubeEvent note = event("a note");
  note.warning = false;
  events_.send(event("w0"));
  events_.send(note);
  for (int i = 1; i < 5; ++i) events_.send(event("w" + std::to_string(i)));
  EXPECT_EQ(events_.stats().dropped, 2U) << "the note, then the oldest";
  for (int i = 1; i < 5; ++i) {
    server_.reply(201, "{}");
    EXPECT_EQ(Json::parse(server_.body)["note"], "w" + std::to_string(i));
  }
}

// During an outage the queue is full, and what could not be sent comes back to it.
TEST_F(EventSending, AnOutageKeepsTheNewest) {
  for (int i = 0; i < 100; ++i) {
    send();
    if (server_.on_reply) server_.fail(Errc::unavailable, "no connection");
  }
  EXPECT_EQ(events_.stats().dropped, 96U);
  server_.pass_time();
  for (int i = 97; i <= 100; ++i) {
    EXPECT_EQ(Json::parse(server_.body)["regarding"]["name"], "p" + std::to_string(i));
    server_.reply(201, "{}");
  }
  EXPECT_EQ(events_.stats().sent, 4U);
}

TEST_F(EventSending, AServerThatMakesUpReasonsFillsNoLog) {
  for (int i = 0; i < 200; ++i) {
    clock_.advance(std::chrono::seconds(1));
    refuse(400, "Reason" + std::to_string(i));
  }
  EXPECT_EQ(log().size(), 64U);
  EXPECT_EQ(events_.stats().refused, 200U);
}

TEST_F(EventSending, WhatFindsNoRoomIsDropped) {
  log();
  for (int i = 0; i < 7; ++i) send();  // one is in flight, four wait
  EXPECT_EQ(events_.stats().dropped, 2U);
}

}  // namespace
}  // namespace chipweave::kube
