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
  // The log lines since the last call.
  static std::vector<std::string> log() {
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<std::string> out;
    for (std::string line; std::getline(text, line);) out.push_back(line);
    return out;
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

TEST_F(EventSending, WhatIsTakenIsCountedAndASilentServerIsNoRefusal) {
  send();
  server_.reply(201, "{}");
  for (int i = 0; i < 3; ++i) {
    send();
    server_.fail(Errc::unavailable, "no connection");
  }
  EXPECT_EQ(events_.stats().sent, 1U);
  EXPECT_EQ(events_.stats().dropped, 3U);
  EXPECT_EQ(events_.stats().refused, 0U);
  const std::vector<std::string> lines = log();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("no connection"), std::string::npos) << lines[0];
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
