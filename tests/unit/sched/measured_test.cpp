// What chips carry beside what was predicted for their pod: in explain and as metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/measured.hpp"
#include "scheduler-plugin/server/metrics.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using domain::ChipIndex;
using testing::HasSubstr;
using Json = nlohmann::json;

struct Measured : testing::Test {
  Measured() {
    w.add_node("n1", "hgx-v100-8");
    pod = w.submit("p", 2);
    EXPECT_TRUE(w.bind(pod, "n1").ok());
    chips = w.chips(pod);
  }
  void carry(double first, double second) {
    w.set_carried("n1", {{ChipIndex{chips[0]}, first}, {ChipIndex{chips[1]}, second}});
  }
  Json explain() { return Json::parse(w.scheduler.placements().explain(pod.key).value().json); }
  bool shows(const std::string& text) {
    return metrics.scrape(w.scheduler, {}).find(text) != std::string::npos;
  }

  World w;
  Metrics metrics{"test"};
  PodRequest pod;
  std::vector<int> chips;
};

TEST_F(Measured, TheBusiestChipIsShownOnceThePodHasRunLongEnough) {
  carry(12, 41);
  EXPECT_FALSE(explain().contains("measured_gbps")) << "it may be of the pod before";
  w.clock.advance(kSettled);
  carry(12, 41);
  EXPECT_EQ(explain()["measured_gbps"], 41);
  EXPECT_THAT(explain()["summary"].get<std::string>(),
              HasSubstr("; the busiest chip carries 41.0 GB/s"));
  EXPECT_TRUE(
      shows("chipweave_pod_measured_bytes_per_second{namespace=\"ns\","
            "pod=\"p\",node=\"n1\"} 4.1e+10\n"));
}

TEST_F(Measured, NotWhereAChipIsNotMeasuredOrTheAgentIsSilent) {
  w.clock.advance(kSettled);
  w.set_carried("n1", {{ChipIndex{chips[0]}, 41}});
  EXPECT_FALSE(explain().contains("measured_gbps"));
  carry(12, 41);
  EXPECT_TRUE(explain().contains("measured_gbps"));
  // A report that says nothing of it changes nothing; one that says that there is none does.
  w.set_faults("n1", {});
  EXPECT_TRUE(explain().contains("measured_gbps"));
  w.set_carried("n1", {});
  EXPECT_FALSE(explain().contains("measured_gbps"));
  EXPECT_FALSE(shows("chipweave_pod_measured_bytes_per_second{"));
}

TEST_F(Measured, ThePredictionIsThereForEachPodWithSeveralChips) {
  const auto single = w.submit("single", 1);
  ASSERT_TRUE(w.bind(single, "n1").ok());
  w.submit("waiting", 4);
  EXPECT_TRUE(
      shows("chipweave_pod_predicted_bytes_per_second{namespace=\"ns\",pod=\"p\","
            "node=\"n1\"} "));
  EXPECT_FALSE(shows("pod=\"single\""));
  EXPECT_FALSE(shows("pod=\"waiting\""));
}

// More pods than a scrape writes in one part.
TEST_F(Measured, EveryPodIsThereOnce) {
  World many;
  Metrics shown("test");
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(i);
    many.add_node("n" + name, "hgx-v100-8");
    ASSERT_TRUE(many.bind(many.submit("p" + name, 4), "n" + name).ok());
  }
  const std::string text = shown.scrape(many.scheduler, {});
  std::size_t found = 0;
  for (std::size_t at = 0;
       (at = text.find("\nchipweave_pod_predicted_bytes_per_second{", at)) != std::string::npos;
       ++at) {
    ++found;
  }
  EXPECT_EQ(found, 300U);
  EXPECT_EQ(text.find("# TYPE chipweave_pod_predicted_bytes_per_second gauge"),
            text.rfind("# TYPE chipweave_pod_predicted_bytes_per_second gauge"));
}

}  // namespace
}  // namespace chipweave::sched::test
