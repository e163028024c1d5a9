#include "node-agent/probes/ascend/ascend_numa.hpp"

#include <gtest/gtest.h>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

TEST(NumaNodes, ListIsOfTheNodeThatHasAllOfIt) {
  const io::TempFolder folder;
  folder.put("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
  folder.put("sys/devices/system/node/node12/cpulist", "4-7,12\n");
  folder.put("sys/devices/system/node/online", "0,12\n");
  const NumaNodes nodes(SysfsTree(folder.path()));
  EXPECT_EQ(nodes.of("0-3"), 0);
  EXPECT_EQ(nodes.of("1,8-9"), 0);
  EXPECT_EQ(nodes.of("12"), 12);
  EXPECT_EQ(nodes.of("0-7"), -1);
  EXPECT_EQ(nodes.of("0,4"), -1);
  EXPECT_EQ(nodes.of("13"), -1);
  EXPECT_EQ(nodes.of(""), -1);
  EXPECT_EQ(nodes.of("NA"), -1);
  EXPECT_EQ(nodes.of("3-1"), -1);
  EXPECT_EQ(nodes.of("0-99999999999999999999"), -1);
  EXPECT_EQ(NumaNodes(SysfsTree(folder.at("nowhere"))).of("0-3"), -1);
}

}  // namespace
}  // namespace chipweave::agent
