#include "node-agent/probes/ascend/hccn/hccn_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

using testing::ElementsAre;
using Kind = HccnSchedule::Kind;
using Time = HccnSchedule::Time;

constexpr Time kStart{std::chrono::hours(1000)};
constexpr const char* kUp = "link status: UP\n";
constexpr const char* kDown = "link status: DOWN\n";
constexpr const char* kLldp =
    "Port ID TLV\n\tIfname: 400GE1/1/20:2\nSystem Name TLV\n\tleaf-7\nManagement Address "
    "TLV\n\tIPv4: "
    "192.0.2.1\n";

HccnTarget target(int chip) { return {chip, chip, false, true, true, true}; }

// The arguments of every call that is due at `now`; each is answered with `output`.
std::vector<std::string> asked(HccnSchedule& schedule, Time now,
                               const Result<std::string>& output) {
  std::vector<std::string> out;
  while (const auto question = schedule.next(now)) {
    std::string arguments;
    for (const std::string& word : question->arguments)
      arguments += (arguments.empty() ? "" : " ") + word;
    out.push_back(arguments);
    schedule.take(*question, output, now);
    if (out.size() > 100) break;
  }
  return out;
}

TEST(HccnSchedule, LinksGoFirstAndSwitchesLast) {
  HccnSchedule schedule;
  EXPECT_FALSE(schedule.next(kStart));
  EXPECT_FALSE(schedule.due());
  schedule.set_targets({target(0), target(4)});
  EXPECT_THAT(asked(schedule, kStart, std::string(kUp)),
              ElementsAre("-i 0 -link -g", "-i 4 -link -g", "-i 0 -ip -g", "-i 4 -ip -g",
                          "-i 0 -lldp -g", "-i 4 -lldp -g"));
}

TEST(HccnSchedule, EachKindHasItsPeriod) {
  HccnSchedule schedule;
  schedule.set_targets({target(0)});
  asked(schedule, kStart, std::string(kUp));
  EXPECT_EQ(schedule.due(), kStart + std::chrono::seconds(5));
  EXPECT_FALSE(schedule.next(kStart + std::chrono::milliseconds(4999)));
  EXPECT_THAT(asked(schedule, kStart + std::chrono::seconds(5), std::string(kUp)),
              ElementsAre("-i 0 -link -g"));
  EXPECT_THAT(asked(schedule, kStart + std::chrono::seconds(599), std::string(kUp)),
              ElementsAre("-i 0 -link -g", "-i 0 -ip -g"));
  EXPECT_THAT(asked(schedule, kStart + std::chrono::seconds(600), std::string(kUp)),
              ElementsAre("-i 0 -lldp -g"));
}

TEST(HccnSchedule, OnlyWhatIsNeededIsRead) {
  HccnSchedule schedule;
  schedule.set_targets({{3, 3, false, false, false, true}, {1, 9, true, true, true, true}});
  EXPECT_THAT(asked(schedule, kStart, std::string(kUp)),
              ElementsAre("-g -dev_info -i 9", "-i 3 -lldp -g"));
}

TEST(HccnSchedule, AnswersGrowTheVersionWhenTheyDiffer) {
  HccnSchedule schedule;
  schedule.set_targets({{0, 0, false, true, false, true}});
  const HccnSchedule::Question link{0, Kind::link, {}};
  schedule.take(link, std::string(kUp), kStart);
  EXPECT_EQ(schedule.version(), 1U);
  EXPECT_EQ(schedule.answers().at(0).link_up, true);
  schedule.take(link, std::string(kUp), kStart);
  EXPECT_EQ(schedule.version(), 1U);
  schedule.take(link, std::string(kDown), kStart);
  EXPECT_EQ(schedule.version(), 2U);
  EXPECT_EQ(schedule.answers().at(0).link_up, false);
  // Busy: the known state stays. Garbage: the state becomes unknown.
  schedule.take(link, std::string("hccn_tool is busy, please try again.\n"), kStart);
  EXPECT_EQ(schedule.answers().at(0).link_up, false);
  schedule.take(link, std::string("Segmentation fault\n"), kStart);
  EXPECT_EQ(schedule.answers().at(0).link_up, std::nullopt);
  schedule.take({0, Kind::neighbour, {}}, std::string(kLldp), kStart);
  EXPECT_EQ(schedule.answers().at(0).neighbour->port, "400GE1/1/20:2");
  EXPECT_EQ(schedule.answers().at(0).neighbour->system_name, "leaf-7");
  EXPECT_EQ(schedule.version(), 4U);
}

TEST(HccnSchedule, PortsOfA5AreDistinguished) {
  HccnSchedule schedule;
  schedule.set_targets({{2, 2, true, true, false, false}});
  schedule.take({2, Kind::link, {}},
                std::string("| UDie ID | Port ID | Speed Ability(Gbps) | Port Type | Link Status "
                            "| Media Type |\n| 0 | 4 | 400 | UB | UP | Electrical |\n"
                            "| 0 | 5 | 400 | UB | DOWN | Electrical |\n"),
                kStart);
  EXPECT_THAT(schedule.answers().at(2).ports_down, ElementsAre(5));
}

TEST(HccnSchedule, ACallThatHungIsNotMadeForTheOthers) {
  HccnSchedule schedule;
  schedule.set_targets({target(0), target(1)});
  const Error hung = make_error(Errc::deadline, "hccn_tool did not end within 10000 ms");
  EXPECT_THAT(asked(schedule, kStart, hung),
              ElementsAre("-i 0 -link -g", "-i 0 -ip -g", "-i 0 -lldp -g"));
  EXPECT_FALSE(schedule.next(kStart + std::chrono::seconds(599)));
  EXPECT_EQ(schedule.due(), kStart + std::chrono::seconds(600));
  EXPECT_TRUE(schedule.answers().empty());
  EXPECT_EQ(asked(schedule, kStart + std::chrono::seconds(600), std::string(kUp)).size(), 6U);
}

TEST(HccnSchedule, WhatStaysIsKeptAndWhatGoesIsForgotten) {
  HccnSchedule schedule;
  schedule.set_targets({target(0), target(1)});
  asked(schedule, kStart, std::string(kDown));
  schedule.set_targets({target(1), target(2)});
  EXPECT_FALSE(schedule.answers().contains(0));
  EXPECT_EQ(schedule.answers().at(1).link_up, false);
  EXPECT_THAT(asked(schedule, kStart, std::string(kUp)),
              ElementsAre("-i 2 -link -g", "-i 2 -ip -g", "-i 2 -lldp -g"));
  // An answer that arrives after its device was removed.
  schedule.take({0, Kind::link, {}}, std::string(kDown), kStart);
  EXPECT_FALSE(schedule.answers().contains(0));
}

}  // namespace
}  // namespace chipweave::agent
