#include "common/domain/availability.hpp"

#include <gtest/gtest.h>

namespace chipweave::domain {
namespace {

TEST(Availability, IsKubeSchedulersSentence) {
  EXPECT_EQ(availability_text(0, {}), "0/0 nodes are available");
  EXPECT_EQ(availability_text(2, {{1, "b"}, {1, "a"}, {5, insufficient("nvidia.com/gpu")}}),
            "2/9 nodes are available: 5 Insufficient nvidia.com/gpu, 1 a, 1 b");
  EXPECT_EQ(
      availability_text(0, {{1, std::string(kAgentSilent)}}, 3),
      "0/4 nodes are available: 1 NotReady (the agent is silent), 3 not offered by the scheduler "
      "(node selector, taints or other resources)");
}

}  // namespace
}  // namespace chipweave::domain
