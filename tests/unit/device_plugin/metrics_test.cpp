#include "node-agent/device_plugin/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::device_plugin {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DevicePluginMetrics, CountAnswersAndShowTheStanding) {
  http::Loop loop;
  Metrics metrics(loop, true);
  EXPECT_THAT(
      metrics.expose(),
      HasSubstr(R"(chipweave_device_plugin_answers_total{call="start",outcome="refused"} 0)"));
  EXPECT_THAT(metrics.expose(), HasSubstr("chipweave_device_plugin_gate_open 0"));
  metrics.gate(true);
  metrics.answered("preferred", "adopted", std::chrono::milliseconds(4));
  PluginStanding standing;
  standing.registrations = 2;
  standing.healthy = 7;
  standing.unhealthy = 1;
  standing.vendor_here = false;
  standing.pods_stale = true;
  metrics.standing(standing);
  metrics.standing(standing);
  const std::string text = metrics.expose();
  for (const char* line :
       {R"(chipweave_device_plugin_answers_total{call="preferred",outcome="adopted"} 1)",
        R"(chipweave_device_plugin_answer_duration_seconds_bucket{call="preferred",le="0.002"} 0)",
        R"(chipweave_device_plugin_answer_duration_seconds_bucket{call="preferred",le="0.005"} 1)",
        "chipweave_device_plugin_gate_open 1", "chipweave_device_plugin_registrations_total 2",
        R"(chipweave_device_plugin_devices{health="healthy"} 7)",
        R"(chipweave_device_plugin_devices{health="unhealthy"} 1)",
        "chipweave_device_plugin_pods_stale 1", "chipweave_device_plugin_vendor_connected 0"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(DevicePluginMetrics, NoSeriesOfAVendorThatIsNotThere) {
  http::Loop loop;
  EXPECT_THAT(Metrics(loop, false).expose(), Not(HasSubstr("vendor")));
}

}  // namespace
}  // namespace chipweave::device_plugin
