// Faults of the nodes of a MindIE deployment, for those who follow them.
#include "scheduler-plugin/server/clusterd/fault_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::clusterd {
namespace {

using test::TableWorld;
using test::TestPod;
using testing::ElementsAre;
using testing::IsEmpty;

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* node : {"n0", "n1"}) w_.add_node(node, "ascend-910b-8");
    for (int i = 0; i < 2; ++i) {
      TestPod pod = w_.member("server", i, 2);
      pod.labels = {{"app", "mindie-ms-server"}, {"jobID", "chat"}};
      w_.see(pod);
    }
  }
  // "n1 UnHealthy: 3 80E01801 SeparateNPU"
  std::vector<std::string> told() const {
    const fault::FaultMsgSignal signal = feed_.signal("chat");
    EXPECT_EQ(signal.jobid(), "chat");
    EXPECT_EQ(signal.signaltype(), signal.nodefaultinfo().empty() ? "normal" : "fault");
    std::vector<std::string> out;
    for (const auto& node : signal.nodefaultinfo()) {
      EXPECT_EQ(node.nodeip(), test::host_ip(node.nodename()));
      std::string text = node.nodename() + " " + node.faultlevel() + ":";
      for (const auto& device : node.faultdevice()) {
        text += " " + device.deviceid();
        for (const auto& code : device.faultcodes()) text += " " + code;
        text += " " + device.faultlevel();
      }
      out.push_back(text);
    }
    return out;
  }
  static domain::Fault fault_of(int chip, domain::Effect effect) {
    domain::Fault out;
    out.code = "dcmi.80e01801";
    out.effect = effect;
    out.chip = domain::ChipIndex{chip};
    return out;
  }

  TableWorld w_;
  CallerLimits limits_;
  FaultFeed feed_{w_.tables, w_.scheduler, w_.clock, limits_};
};

TEST_F(Faults, AreThoseOfItsNodesAlone) {
  EXPECT_THAT(told(), IsEmpty());
  w_.add_node("n2", "ascend-910b-8");
  w_.set_faults("n2", {fault_of(1, domain::Effect::unusable)});
  EXPECT_THAT(told(), IsEmpty());
  w_.set_faults("n1", {fault_of(3, domain::Effect::unusable)});
  w_.set_health("n1", 3, domain::Health::unhealthy);
  EXPECT_THAT(told(), ElementsAre("n1 UnHealthy: 3 80E01801 SeparateNPU"));
  const std::string before = feed_.signal("chat").uuid();
  EXPECT_EQ(feed_.signal("chat").uuid(), before);
  w_.set_faults("n1", {});
  w_.set_health("n1", 3, domain::Health::healthy);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_NE(feed_.signal("chat").uuid(), before);
}

TEST_F(Faults, ANodeThatIsLostIsUnhealthy) {
  w_.set_ready("n0", false);
  EXPECT_THAT(told(), ElementsAre("n0 UnHealthy: -1 UnHealthy"));
}

TEST_F(Faults, OfAJobThatIsNotThereAreNone) {
  EXPECT_EQ(feed_.signal("other").signaltype(), "normal");
  EXPECT_EQ(feed_.signal("").signaltype(), "normal");
}

// Pushed when they change, and only then.
TEST_F(Faults, ArePushedWhenTheyChange) {
  struct Client final : Subscriptions::Subscriber {
    void send(const Subscriptions::Message& message) override {
      fault::FaultMsgSignal signal;
      signal.ParseFromString(*message);
      got.push_back(signal.signaltype());
    }
    void end(bool failed) override { got.push_back(failed ? "failed" : "ended"); }
    std::vector<std::string> got;
  };
  const auto client = std::make_shared<Client>();
  Subscriptions& with = feed_.subscriptions();
  EXPECT_EQ(with.register_for("chat").error().code, Errc::unavailable) << "it does not lead yet";
  feed_.tick(true);
  EXPECT_EQ(with.subscribe("chat", "h", client).error().code, Errc::not_found);
  ASSERT_TRUE(with.register_for("chat").ok());
  ASSERT_TRUE(with.subscribe("chat", "h", client).ok());
  feed_.tick(true);
  EXPECT_THAT(client->got, ElementsAre("normal"));
  w_.set_ready("n0", false);
  feed_.tick(true);
  feed_.tick(true);
  EXPECT_THAT(client->got, ElementsAre("normal", "fault"));
  w_.set_ready("n0", true);
  feed_.tick(true);
  EXPECT_THAT(client->got, ElementsAre("normal", "fault", "normal"));
  feed_.tick(false);
  EXPECT_THAT(client->got, ElementsAre("normal", "fault", "normal", "failed"));
  EXPECT_EQ(with.subscribers(), 0U);
}

TEST(Subscriptions, ForgetRegistrationsWithoutASubscription) {
  ManualClock clock;
  CallerLimits limits;
  Subscriptions with(clock, limits, [](const std::string&) { return std::string(); });
  with.tick(true);
  ASSERT_TRUE(with.register_for("chat").ok());
  clock.advance(Subscriptions::kRegistered);
  with.tick(true);
  EXPECT_EQ(with.subscribe("chat", "h", nullptr).error().code, Errc::not_found);
  for (std::size_t i = 0; i < Subscriptions::kMaxRegistered; ++i)
    ASSERT_TRUE(with.register_for("job-" + std::to_string(i)).ok());
  EXPECT_EQ(with.register_for("more").error().code, Errc::limit_exceeded);
  EXPECT_TRUE(with.register_for("job-0").ok());
}

}  // namespace
}  // namespace chipweave::sched::clusterd
