#include "common/codec/network/plan_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kTree = "SwitchName=s Switches=a\nSwitchName=a Nodes=n[1-2]\n";

PlanNetwork network_of(const std::string& text, std::optional<std::int64_t> free = {}) {
  auto network = plan_network(text, {}, free);
  EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.error().text());
  return network.ok() ? *std::move(network) : PlanNetwork{};
}

// As parse_plan_line() reads it.
PlanRequest request_of(const PlanNetwork& network) {
  PlanLine line =
      parse_plan_line("{\"network\":" + network.json + R"(,"gang":{"pods":1,"chips_per_pod":1}})");
  EXPECT_TRUE(line.request.ok()) << (line.request.ok() ? "" : line.request.error().text());
  return line.request.ok() ? *std::move(line.request) : PlanRequest{};
}

std::string plan_network_error(const std::string& text, const NetworkImportOptions& options = {}) {
  const auto network = plan_network(text, options, {});
  return network ? "(no error)" : network.error().text();
}

TEST(PlanNetwork, OtherFormatsGetTheFreeChipsThatAreGiven) {
  const PlanRequest request = request_of(network_of(kTree, 8));
  EXPECT_THAT(request.levels, ElementsAre("spine", "leaf"));
  ASSERT_EQ(request.nodes.size(), 2U);
  EXPECT_EQ(request.nodes[1].name, "n2");
  EXPECT_THAT(request.nodes[1].path, ElementsAre("s", "a"));
  EXPECT_EQ(request.nodes[1].free, 8);
}

TEST(PlanNetwork, FreeChipsMustBeKnownOfANode) {
  EXPECT_THAT(plan_network_error(kTree), HasSubstr("--free is required: the file does not"));
  EXPECT_THAT(plan_network_error(R"({"levels":["r"],"nodes":[{"name":"a","path":["x"]}]})"),
              HasSubstr("--free is required"));
  EXPECT_THAT(request_of(network_of(R"({"levels":["r"],"nodes":[]})")).nodes, IsEmpty());
}

TEST(PlanNetwork, OwnJsonKeepsWhatPlannersRead) {
  const std::string own = R"({"levels":["r"],"nodes":[)"
                          R"({"name":"a","path":["x"],"free":3,"max_pods":2,"healthy":false},)"
                          R"({"name":"b","path":["x"]},{"name":"c","machine":"m"}]})";
  for (const std::string& text : {own, "\xEF\xBB\xBF\n" + own}) {
    const PlanNetwork network = network_of(text, 8);
    EXPECT_THAT(network.warnings, IsEmpty());
    const PlanRequest request = request_of(network);
    ASSERT_EQ(request.nodes.size(), 3U);
    EXPECT_EQ(request.nodes[0].free, 3);
    EXPECT_EQ(request.nodes[0].max_pods, 2);
    EXPECT_FALSE(request.nodes[0].healthy);
    EXPECT_EQ(request.nodes[1].free, 8);
    EXPECT_EQ(request.nodes[2].free, 0);  // the machine determines it
  }
}

TEST(PlanNetwork, WarnsWhereFreeIsHalfKnownOrNotNeeded) {
  const std::string half = R"({"levels":["r"],"nodes":[{"name":"a","free":3},{"name":"b"}]})";
  EXPECT_THAT(network_of(half).warnings, ElementsAre(HasSubstr("the free chips of 1 of 2 nodes")));
  const std::string full = R"({"levels":["r"],"nodes":[{"name":"a","free":3}]})";
  EXPECT_THAT(network_of(full, 8).warnings, ElementsAre(HasSubstr("--free has no effect")));
}

TEST(PlanNetwork, AcceleratorLevelsStandInWhereThereAreNoOthers) {
  const std::string own = R"({"levels":[],"accelerator_levels":["pod"],"nodes":[)"
                          R"({"name":"a","path":[],"accelerator":["p1"]}]})";
  const PlanNetwork network = network_of(own, 8);
  EXPECT_THAT(network.warnings, ElementsAre(HasSubstr("the accelerators' interconnect, pod")));
  const PlanRequest request = request_of(network);
  EXPECT_THAT(request.levels, ElementsAre("pod"));
  EXPECT_THAT(request.nodes.at(0).path, ElementsAre("p1"));
  const auto table = import_levelled_network(own, {});
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->table.levels, ElementsAre("pod"));
  EXPECT_THAT(table->table.accelerator_levels, IsEmpty());
}

TEST(PlanNetwork, SaysWhatIsWrong) {
  EXPECT_THAT(plan_network_error(R"({"levels":[],"nodes":[{"name":"a","path":[]}]})"),
              HasSubstr("the network has no levels"));
  EXPECT_THAT(plan_network_error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(plan_network_error(R"({"levels":["r"],"levels":["s"],"nodes":[]})"),
              HasSubstr("levels"));
  EXPECT_THAT(plan_network_error(kTree, {"csw", {}}), HasSubstr("--format: unknown format"));
  EXPECT_THAT(plan_network_error(kTree, {"", {"x"}}),
              HasSubstr("--levels cannot be combined with"));
  EXPECT_THAT(plan_network_error(R"({"levels":["r"],"nodes":[]})", {"", {"x"}}),
              HasSubstr("--levels cannot be combined with"));
}

}  // namespace
}  // namespace chipweave::codec
