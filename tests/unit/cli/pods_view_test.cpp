#include "cli/views/pods_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/view_time.hpp"

namespace chipweave::cli {
namespace {

using testing::ElementsAre;

std::vector<codec::PodSummary> answered() {
  auto pods = codec::read_pod_summaries(
      R"({"items":[{"namespace":"team","name":"train-10","state":"pending","requested":8,)"
      R"("resource":"nvidia.com/gpu","reason":"0/2 nodes are available: 2 Insufficient nvidia.com/gpu",)"
      R"("created":"2026-11-22T09:14:02Z","gang":{"name":"train"},"job":"j"},)"
      R"({"namespace":"team","name":"train-2","state":"bound","node":"n1","chips":[0,1,2,3],"gbps":300,)"
      R"("best_gbps":300,"created":"2026-11-20T09:14:02Z"},)"
      R"({"namespace":"alpha","name":"x","state":"bound","node":"n2","chips":[5],"node_stale":true,)"
      R"("reason":"NotReady: the agent has not reported for 5m"}]})");
  EXPECT_TRUE(pods.ok()) << pods.error().text();
  return pods.value();
}

std::vector<std::string> names(const std::vector<codec::PodSummary>& pods) {
  std::vector<std::string> out;
  out.reserve(pods.size());
  for (const codec::PodSummary& pod : pods) out.push_back(pod.name);
  return out;
}

TEST(PodsView, AreSortedAndFiltered) {
  EXPECT_THAT(names(shown_pods(answered(), {})), ElementsAre("x", "train-2", "train-10"));
  EXPECT_THAT(names(shown_pods(answered(), {"team", false})), ElementsAre("train-2", "train-10"));
  EXPECT_THAT(names(shown_pods(answered(), {"", true})), ElementsAre("train-10"));
}

TEST(PodsView, HaveAgeAndReason) {
  EXPECT_EQ(render_pods(shown_pods(answered(), {"", false}), false, false, test::view_time()),
            "POD            STATE    NODE  CHIPS  GB/s  BEST GB/s  AGE    REASON\n"
            "alpha/x        bound    n2    5         -          -  -      NotReady: the agent has "
            "not reported for 5m\n"
            "team/train-2   bound    n1    0-3     300        300  2d     -\n"
            "team/train-10  pending  -     -         -          -  3m20s  0/2 nodes are available: "
            "2 Insufficient nvidia.com/gpu\n");
  const std::string wide =
      render_pods(shown_pods(answered(), {"team", true}), true, false, test::view_time());
  EXPECT_THAT(wide, testing::ContainsRegex("nvidia.com/gpu +8  j +train "));
}

TEST(PodsView, AWatchShowsWhatChanges) {
  auto before = shown_pods(answered(), {});
  auto now = before;
  now[0].reason = "NotReady: the agent has not reported for 6m";
  EXPECT_TRUE(changed_pods(before, now).empty()) << "only the time went on";
  now[2].reason = "its gang train has no plan";
  EXPECT_THAT(names(changed_pods(before, now)), ElementsAre("train-10"));
  now.erase(now.begin() + 1);
  const auto changed = changed_pods(before, now);
  ASSERT_THAT(names(changed), ElementsAre("train-2", "train-10"));
  EXPECT_EQ(changed[0].state, "gone");
  EXPECT_THAT(names(changed_pods({}, before)), ElementsAre("x", "train-2", "train-10"));
}

}  // namespace
}  // namespace chipweave::cli
