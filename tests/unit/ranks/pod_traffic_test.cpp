// Communicators as traffic between pods: their groups, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/limits.hpp"
#include "common/solver/ranks/communicators.hpp"

namespace chipweave::solver {
namespace {

using domain::Communicator;
using domain::Communicators;
using domain::ParallelSizes;
using ::testing::HasSubstr;

TEST(PodTraffic, HasMegatronsGroups) {
  Communicators communicators;
  communicators.ranks_per_pod = 2;
  communicators.sizes = {2, 3, 6, 0, 5, {}};
  const auto traffic = pod_traffic(communicators, 60);  // 120 ranks, so that data is 4
  ASSERT_TRUE(traffic) << traffic.error().text();
  std::vector<std::string> found;
  for (const Communicator& it : traffic->communicators)
    found.push_back(it.name + " " + std::to_string(it.size) + "/" + std::to_string(it.stride) +
                    " x" + std::to_string(it.weight));
  EXPECT_THAT(found,
              testing::ElementsAre("tensor 2/1 x64", "context 3/2 x16", "expert 6/2 x16",
                                   "expert_data 2/12 x4", "data 4/6 x4", "pipeline 5/24 x1"));
  EXPECT_THAT(traffic->axes, testing::ElementsAre(3U, 2U, 2U, 5U));
}

TEST(PodTraffic, CountsAGroupOfTwoInBothDirections) {
  Communicators communicators;
  communicators.list = {{"pair", 2, 1, 7}};
  const auto traffic = pod_traffic(communicators, 2);
  ASSERT_TRUE(traffic) << traffic.error().text();
  ASSERT_EQ(traffic->edges.size(), 1U);
  EXPECT_EQ(traffic->edges[0].weight, 14);
}

std::string problem(const Communicators& communicators, std::size_t pods) {
  const auto traffic = pod_traffic(communicators, pods);
  return traffic ? "" : traffic.error().text();
}

std::string problem_of_sizes(const ParallelSizes& sizes, std::size_t pods = 4) {
  Communicators communicators;
  communicators.ranks_per_pod = 2;
  communicators.sizes = sizes;
  return problem(communicators, pods);
}

TEST(PodTraffic, NamesTheSizeThatIsWrong) {
  EXPECT_EQ(problem_of_sizes({2, 1, 1, 4, 1, {}}), "");
  EXPECT_THAT(problem_of_sizes({0, 1, 1, 0, 1, {}}), HasSubstr("tensor: must be 1 to"));
  EXPECT_THAT(problem_of_sizes({2, -1, 1, 0, 1, {}}), HasSubstr("context: must be 1 to"));
  EXPECT_THAT(problem_of_sizes({1, 1, 1, -1, 1, {}}), HasSubstr("data: must be 0 to"));
  EXPECT_THAT(problem_of_sizes({1, 1, 0, 0, 1, {}}), HasSubstr("expert: must be 1 to"));
  EXPECT_THAT(problem_of_sizes({3, 1, 1, 0, 1, {}}), HasSubstr("tensor: must divide 8 "));
  EXPECT_THAT(problem_of_sizes({2, 8, 1, 0, 1, {}}), HasSubstr("context: must divide 4 "));
  EXPECT_THAT(problem_of_sizes({2, 2, 1, 0, 1'000'000, {}}), HasSubstr("pipeline: must divide 2 "));
  EXPECT_THAT(problem_of_sizes({INT64_MAX, INT64_MAX, 1, 0, 2, {}}), HasSubstr("tensor: "));
  EXPECT_THAT(problem_of_sizes({2, 1, 1, 2, 1, {}}), HasSubstr("data: must be 4 "));
  EXPECT_THAT(problem_of_sizes({2, 1, 3, 0, 1, {}}),
              HasSubstr("expert: must divide context x data, "));
  ParallelSizes sizes;
  sizes.weights.context = -1;
  EXPECT_THAT(problem_of_sizes(sizes), HasSubstr("weights.context: must be 0 to"));
}

TEST(PodTraffic, NamesTheGroupThatIsWrong) {
  Communicators communicators;
  communicators.list = {{"a", 4, 1, 1}, {"b", 2, 3, 1}};
  EXPECT_THAT(problem(communicators, 4), HasSubstr("groups[1].size: size x stride must divide "));
  communicators.list[1] = {"b", 2, 0, 1};
  EXPECT_THAT(problem(communicators, 4), HasSubstr("groups[1].stride: must be 1 to"));
  communicators.list[1] = {"b", INT64_MAX, 2, 1};
  EXPECT_THAT(problem(communicators, 4), HasSubstr("groups[1].size: must be 1 to"));
  communicators.list[1] = {"b", 2, 1, limits::kMaxCommunicatorWeight + 1};
  EXPECT_THAT(problem(communicators, 4), HasSubstr("groups[1].weight: must be 0 to"));
  communicators.list.assign(limits::kMaxCommunicators + 1, {"a", 1, 1, 1});
  EXPECT_THAT(problem(communicators, 4), HasSubstr("groups: at most 16"));
}

TEST(PodTraffic, LimitsPairsBeforeListingThem) {
  Communicators communicators;
  communicators.list = {{"moe", 4000, 1, 1, domain::Pattern::all_to_all}};
  EXPECT_THAT(problem(communicators, 4000), HasSubstr("moe: 1 groups of 4000 ranks with pattern "
                                                      "all_to_all have more than 5000000 pairs"));
  communicators.list[0].pattern = domain::Pattern::tree;
  EXPECT_EQ(problem(communicators, 4000), "");
}

TEST(PodTraffic, NeedsPodsAndNotTooManyRanks) {
  EXPECT_THAT(problem({}, 0), HasSubstr("ranks_per_pod: there are no pods"));
  Communicators communicators;
  communicators.ranks_per_pod = 0;
  EXPECT_THAT(problem(communicators, 1), HasSubstr("ranks_per_pod: must be 1 to"));
  communicators.ranks_per_pod = limits::kMaxRanks;
  EXPECT_EQ(problem(communicators, 1), "");
  EXPECT_THAT(problem(communicators, 2), HasSubstr("ranks_per_pod: at most 1000000 ranks"));
}

}  // namespace
}  // namespace chipweave::solver
