#include "node-agent/device_plugin/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::device_plugin {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kGpuName = "nvidia.com/gpu";
const std::string kAckName = "aliyun.com/gpu";

TEST(DevicePluginMetrics, CountAnswersAndShowTheStanding) {
  http::Loop loop;
  Metrics metrics(loop, {kGpuName, kAckName}, true);
  for (const std::string& resource : {kGpuName, kAckName}) {
    EXPECT_THAT(
        metrics.expose(),
        HasSubstr(
            R"(chipweave_device_plugin_answers_total{call="start",outcome="refused",resource=")" +
            resource + "\"} 0"));
  }
  EXPECT_THAT(metrics.expose(), HasSubstr("chipweave_device_plugin_gate_open 0"));
  metrics.gate(true);
  metrics.answered(kGpuName, "preferred", "adopted", std::chrono::milliseconds(4));
  PluginStanding standing;
  standing.registrations = 2;
  standing.healthy = 7;
  standing.unhealthy = 1;
  standing.vendor_here = false;
  standing.pods_stale = true;
  metrics.standing(kGpuName, standing);
  metrics.standing(kGpuName, standing);
  const std::string text = metrics.expose();
  for (
      const char* line :
      {R"(chipweave_device_plugin_answers_total{call="preferred",outcome="adopted",resource="nvidia.com/gpu"} 1)",
       R"(chipweave_device_plugin_answer_duration_seconds_bucket{call="preferred",resource="nvidia.com/gpu",le="0.002"} 0)",
       R"(chipweave_device_plugin_answer_duration_seconds_bucket{call="preferred",resource="nvidia.com/gpu",le="0.005"} 1)",
       "chipweave_device_plugin_gate_open 1",
       R"(chipweave_device_plugin_registrations_total{resource="nvidia.com/gpu"} 2)",
       R"(chipweave_device_plugin_registrations_total{resource="aliyun.com/gpu"} 0)",
       R"(chipweave_device_plugin_devices{health="healthy",resource="aliyun.com/gpu"} 0)",
       R"(chipweave_device_plugin_devices{health="healthy",resource="nvidia.com/gpu"} 7)",
       R"(chipweave_device_plugin_devices{health="unhealthy",resource="nvidia.com/gpu"} 1)",
       "chipweave_device_plugin_pods_stale 1", "chipweave_device_plugin_vendor_connected 0"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(DevicePluginMetrics, NoSeriesOfAVendorThatIsNotThere) {
  http::Loop loop;
  EXPECT_THAT(Metrics(loop, {kGpuName}, false).expose(), Not(HasSubstr("vendor")));
}

}  // namespace
}  // namespace chipweave::device_plugin
