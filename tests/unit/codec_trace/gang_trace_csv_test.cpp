#include "common/codec/trace/gang_trace_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kLevels = {"block", "rack"};

std::string error_of(std::string_view text) {
  const auto trace = read_gang_trace(text, kLevels);
  return trace ? "" : trace.error().text();
}

TEST(GangTrace, ReadsJobsInOrderOfArrival) {
  const auto trace = read_gang_trace(
      "name,pods,chips,priority,required_level,preferred_level,arrival_s,duration_s,owner\n"
      "late,64,8,-5,block,rack,110.5,3600,me\n"
      "early, 2 ,1,0,,,100,2.5,you\n",
      kLevels);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_TRUE(trace->timed);
  ASSERT_EQ(trace->gangs.size(), 2U);
  const domain::TraceGang& early = trace->gangs[0];
  EXPECT_EQ(early.name, "early");
  EXPECT_EQ(early.pods, 2);
  EXPECT_EQ(early.required_level, domain::kNoLevel);
  EXPECT_DOUBLE_EQ(early.arrival_s, 0);
  EXPECT_DOUBLE_EQ(early.duration_s, 2.5);
  const domain::TraceGang& late = trace->gangs[1];
  EXPECT_EQ(late.priority, -5);
  EXPECT_EQ(late.required_level, 0);
  EXPECT_EQ(late.preferred_level, 1);
  EXPECT_DOUBLE_EQ(late.arrival_s, 10.5);
  EXPECT_EQ(late.all_chips(), 512);
}

TEST(GangTrace, PodsOfATraceAreGangsOfOne) {
  const auto trace = read_gang_trace(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
      "p0,1,2,4,1000,50,80\np1,1,2,0,0,60,61\n",
      {});
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->gangs.size(), 1U);
  EXPECT_EQ(trace->without_chips, 1U);
  EXPECT_EQ(trace->gangs[0].pods, 1);
  EXPECT_EQ(trace->gangs[0].chips, 4);
  EXPECT_DOUBLE_EQ(trace->gangs[0].duration_s, 30);
  EXPECT_FALSE(read_gang_trace("name,chips\na,1\n", {}).value().timed);
}

TEST(GangTrace, ErrorsNameLineAndColumn) {
  EXPECT_THAT(error_of(""), HasSubstr("expected a header line"));
  EXPECT_THAT(error_of("name,pods\n"), HasSubstr("no column chips or num_gpu"));
  EXPECT_THAT(error_of("chips,pods\n"), HasSubstr("no column name"));
  EXPECT_THAT(error_of("name,chips,arrival_s\n"), HasSubstr("belong together"));
  const std::string head = "name,pods,chips,priority,required_level,arrival_s,duration_s\n";
  EXPECT_THAT(error_of(head + "a,0,8,0,,0,1\n"), HasSubstr("line 2: \"pods\": expected at least"));
  EXPECT_THAT(error_of(head + "a,-1,8,0,,0,1\n"), HasSubstr("line 2: \"pods\""));
  EXPECT_THAT(error_of(head + "a,100001,8,0,,0,1\n"),
              HasSubstr("\"pods\": expected a whole number from 0 to 100000"));
  EXPECT_THAT(error_of(head + "a,1,1000001,0,,0,1\n"), HasSubstr("line 2: \"chips\""));
  EXPECT_THAT(error_of(head + "a,1,8,high,,0,1\n"),
              HasSubstr("line 2: \"priority\": expected a whole number, got \"high\""));
  EXPECT_THAT(error_of(head + "a,1,8,99999999999,,0,1\n"), HasSubstr("\"priority\""));
  EXPECT_THAT(error_of(head + "a,1,8,0,rak,0,1\n"),
              HasSubstr("line 2: \"required_level\": unknown level \"rak\" (did you mean "
                        "\"rack\"?); known: block, rack"));
  EXPECT_THAT(error_of(head + "a,1,8,0,,nan,1\n"), HasSubstr("line 2: \"arrival_s\""));
  EXPECT_THAT(error_of(head + "a,1,8,0,,0,-1\n"), HasSubstr("line 2: \"duration_s\""));
  EXPECT_THAT(error_of(head + ",1,8,0,,0,1\n"), HasSubstr("line 2: \"name\""));
  EXPECT_THAT(error_of(head + "a,1,8\n"), HasSubstr("line 2: expected 7 fields"));
}

TEST(GangTrace, HasALimit) {
  std::string text = "name,chips\n";
  for (std::size_t i = 0; i <= limits::kMaxPods; ++i) text += "j,1\n";
  EXPECT_THAT(error_of(text), HasSubstr("more than 200000 jobs"));
}

}  // namespace
}  // namespace chipweave::codec
