// An agent in a cluster from start to stop: inventory and lease together.
#include "node-agent/publish/kube/kube_reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/api_answers.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using domain::Health;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

const std::string kObject = "/apis/chipweave.dev/v1alpha1/nodeinventories/n1";
const std::string kLeasePath = "/apis/coordination.k8s.io/v1/namespaces/chipweave/leases/n1";

class KubeReporting : public testing::Test {
 protected:
  KubeReporting() {
    api_.objects["/api/v1/nodes/n1"] = FakeApi::Json::parse(kNode);
    reporter_ = std::make_unique<KubeReporter>(
        api_, clock_, KubeReporterOptions{"n1", "chipweave", "b1", "", 1},
        ReporterEvents{[this](bool yes) { connected_.push_back(yes); },
                       [this](ReportKind kind) { ++sent_[kind]; }});
    reporter_->want(state(), true);
  }
  void begin() {
    reporter_->recall();
    reporter_->start();
  }
  FakeApi::Json status() { return api_.objects[kObject]["status"]; }

  ManualClock clock_;
  FakeApi api_{clock_};
  std::vector<bool> connected_;
  std::map<ReportKind, int> sent_;
  std::unique_ptr<KubeReporter> reporter_;
};

TEST_F(KubeReporting, TheStateFirstThenTheLease) {
  begin();
  api_.advance(milliseconds(0));
  EXPECT_THAT(api_.log,
              ElementsAre("GET " + kObject, "GET /api/v1/nodes/n1",
                          "POST /apis/chipweave.dev/v1alpha1/nodeinventories",
                          "PUT " + kObject + "/status", "GET " + kLeasePath,
                          "POST /apis/coordination.k8s.io/v1/namespaces/chipweave/leases"));
  EXPECT_EQ(status()["bootId"], "b1");
  EXPECT_EQ(api_.objects[kObject]["metadata"]["ownerReferences"][0]["uid"], "node-uid");
  EXPECT_EQ(api_.objects[kLeasePath]["spec"]["holderIdentity"], "b1");
  EXPECT_THAT(connected_, ElementsAre(true));
  EXPECT_EQ(sent_[ReportKind::full], 1);
  EXPECT_EQ(sent_[ReportKind::heartbeat], 1);
}

TEST_F(KubeReporting, AQuietHourIsRenewalsAndChecks) {
  begin();
  api_.advance(milliseconds(0));
  api_.log.clear();
  api_.advance(std::chrono::hours(1));
  const auto renewals = std::count(api_.log.begin(), api_.log.end(), "PUT " + kLeasePath);
  const auto checks =
      std::count(api_.log.begin(), api_.log.end(), "GET " + kObject + "?resourceVersion=0");
  EXPECT_EQ(renewals, 360);
  EXPECT_GE(checks, 59);
  EXPECT_LE(checks, 121);
  EXPECT_EQ(api_.log.size(), static_cast<std::size_t>(renewals + checks));
  EXPECT_EQ(sent_[ReportKind::full], 1);
  EXPECT_EQ(api_.objects[kLeasePath]["spec"]["renewTime"], "2026-01-02T04:04:05.000000Z");
  EXPECT_THAT(connected_, ElementsAre(true));
}

TEST_F(KubeReporting, WhatSomebodyDeletesComesBack) {
  begin();
  api_.advance(seconds(5));
  api_.objects.erase(kObject);
  api_.objects.erase(kLeasePath);
  api_.advance(seconds(60));
  EXPECT_EQ(status()["sequence"], 1);
  EXPECT_EQ(api_.objects[kLeasePath]["spec"]["holderIdentity"], "b1");

  api_.objects.erase(kObject);
  reporter_->want(state(Health::unhealthy), true);
  api_.advance(milliseconds(0));
  EXPECT_EQ(status()["sequence"], 2) << "a change does not wait for the check";
}

TEST_F(KubeReporting, AnOutageIsShownAndForgottenWhenItEnds) {
  begin();
  api_.advance(seconds(1));
  api_.down = true;
  api_.advance(seconds(15));
  EXPECT_THAT(connected_, ElementsAre(true, false));
  reporter_->want(state(Health::network_unhealthy), true);
  api_.advance(seconds(100));
  api_.down = false;
  api_.advance(seconds(10));
  EXPECT_EQ(status()["sequence"], 2);
  EXPECT_EQ(status()["unhealthy"], 1);
  EXPECT_THAT(connected_, ElementsAre(true, false, true));
}

TEST_F(KubeReporting, ASlowLeaseHoldsUpNoChange) {
  begin();
  api_.advance(seconds(1));
  api_.unanswered = "leases";
  api_.advance(seconds(10));
  reporter_->want(state(Health::unhealthy), true);
  api_.advance(milliseconds(0));
  EXPECT_EQ(status()["unhealthy"], 1);
}

TEST_F(KubeReporting, AStopLeavesEverythingAsItIs) {
  for (const char* unanswered : {"", "nodes/n1", "status", "leases"}) {
    api_.unanswered = unanswered;
    reporter_ = std::make_unique<KubeReporter>(
        api_, clock_, KubeReporterOptions{"n1", "chipweave", "b2", "", 1}, ReporterEvents{});
    reporter_->want(state(), true);
    api_.objects.erase(kObject);
    begin();
    api_.advance(seconds(1));
    const auto objects = api_.objects;
    int done = 0;
    reporter_->stop([&] { ++done; });
    EXPECT_EQ(done, 0) << "never before stop() has returned";
    EXPECT_EQ(api_.in_flight(), 1U);
    reporter_->want(state(Health::unhealthy), true);
    api_.advance(seconds(120));
    EXPECT_EQ(done, 1);
    EXPECT_EQ(api_.in_flight(), 0U);
    EXPECT_EQ(api_.objects, objects);
  }
}

}  // namespace
}  // namespace chipweave::agent
