#include "node-agent/sources/machine_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

TEST(MachineLock, IsOneOwnersUntilThatGoes) {
  const io::TempFolder machine;
  const io::TempFolder another;
  for (const auto* root : {&machine, &another}) root->put("sys/bus/pci/devices/x", "");
  std::optional<MachineLock> first(std::in_place);
  ASSERT_TRUE(first->take(machine.path()).ok());
  MachineLock second;
  const auto taken = second.take(machine.path());
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, Errc::conflict);
  EXPECT_THAT(taken.error().message, testing::HasSubstr("another chipweave-agent"));
  EXPECT_TRUE(second.take(another.path()).ok());
  first.reset();
  MachineLock third;
  EXPECT_TRUE(third.take(machine.path()).ok());
}

TEST(MachineLock, AMachineWithoutABusNeedsNone) {
  const io::TempFolder machine;
  MachineLock first;
  MachineLock second;
  EXPECT_TRUE(first.take(machine.path()).ok());
  EXPECT_TRUE(second.take(machine.path()).ok());
}

}  // namespace
}  // namespace chipweave::agent
