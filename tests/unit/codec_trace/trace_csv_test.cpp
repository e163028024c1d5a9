#include "common/codec/trace/trace_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/trace/csv_table.hpp"

namespace chipweave::codec {
namespace {

using ::testing::HasSubstr;

std::string node_error(std::string_view text) {
  const auto nodes = read_node_trace(text);
  return nodes ? "" : nodes.error().text();
}

std::string pod_error(std::string_view text) {
  const auto pods = read_pod_trace(text);
  return pods ? "" : pods.error().text();
}

TEST(NodeTrace, ReadsTheColumnsOfOpenbAndOurs) {
  const auto openb = read_node_trace(
      "sn,cpu_milli,memory_mib,gpu,model\r\nn0,64000,262144,2,P100\r\n\r\nn1,96000,393216,8,"
      "G2\r\n");
  ASSERT_TRUE(openb.ok());
  ASSERT_EQ(openb->size(), 2U);
  EXPECT_EQ(openb->at(1).name, "n1");
  EXPECT_EQ(openb->at(1).model, "G2");
  EXPECT_EQ(openb->at(1).chips, 8);
  EXPECT_EQ(openb->at(0).cpu_milli, 64000);
  EXPECT_EQ(openb->at(0).memory_mib, 262144);
  const auto ours = read_node_trace("chips,name,memory_mib,cpu_milli\n4, a ,1,2\n");
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(ours->front().name, "a");
  EXPECT_EQ(ours->front().cpu_milli, 2);
  EXPECT_EQ(ours->front().model, "");
}

TEST(NodeTrace, ErrorsNameLineAndColumn) {
  const std::string head = "name,cpu_milli,memory_mib,chips\n";
  EXPECT_THAT(node_error(""), HasSubstr("expected a header line"));
  EXPECT_THAT(node_error("name,cpu_milli,memory_mib\n"), HasSubstr("no column chips or gpu"));
  EXPECT_THAT(node_error("name,name\n"), HasSubstr("column \"name\" twice"));
  EXPECT_THAT(node_error(head + "a,1,1\n"), HasSubstr("line 2: expected 4 fields"));
  EXPECT_THAT(node_error(head + "a,1,1,65\n"),
              HasSubstr("line 2: \"chips\": expected a whole number from 0 to 64, got \"65\""));
  EXPECT_THAT(node_error(head + "a,1,1,-1\n"), HasSubstr("line 2: \"chips\""));
  EXPECT_THAT(node_error(head + "a,1,1,2\na,1,1,2\n"), HasSubstr("line 3: \"name\": node"));
  EXPECT_THAT(node_error(head + ",1,1,2\n"), HasSubstr("line 2: \"name\": expected a name"));
  EXPECT_THAT(node_error(head + "\"a\",1,1,2\n"), HasSubstr("line 2: quoted fields"));
  EXPECT_THAT(node_error(head + std::string(300, 'x') + ",1,1,2\n"), HasSubstr("line 2"));
  EXPECT_THAT(node_error(head + "a,1,1,2," + std::string(CsvTable::kMaxLineBytes, 'x') + "\n"),
              HasSubstr("line 2: longer than"));
  EXPECT_THAT(node_error(head + std::string(CsvTable::kMaxColumns, ',') + "\n"),
              HasSubstr("line 2: more than"));
}

TEST(NodeTrace, HasALimit) {
  std::string text = "name,cpu_milli,memory_mib,chips\n";
  for (std::size_t i = 0; i <= limits::kMaxNodes; ++i) text += "n" + std::to_string(i) + ",1,1,1\n";
  EXPECT_THAT(node_error(text), HasSubstr("more than 20000 nodes"));
}

TEST(PodTrace, CountsPodsThatShareAChip) {
  const auto trace = read_pod_trace(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,2,1,460\np1,1,2,1,1000\np2,1,2,0,0\n"
      "p3,3,4,8,1000\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->pods.size(), 4U);
  EXPECT_EQ(trace->pods[0].chips, 1);
  EXPECT_EQ(trace->shared, 1U);
  EXPECT_FALSE(trace->timed);
  EXPECT_FALSE(trace->pods[0].needs_gbps.has_value());
}

TEST(PodTrace, ReadsNeedsAndTimesInOrderOfArrival) {
  const auto trace = read_pod_trace(
      "name,cpu_milli,memory_mib,chips,needs_gbps,arrival_s,duration_s\n"
      "late,1,1,2,37.5,110,5\nearly,1,1,1,,100.5,2.5\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->timed);
  EXPECT_EQ(trace->pods[0].name, "early");
  EXPECT_DOUBLE_EQ(trace->pods[0].arrival_s, 0);
  EXPECT_DOUBLE_EQ(trace->pods[0].duration_s, 2.5);
  EXPECT_DOUBLE_EQ(trace->pods[1].arrival_s, 9.5);
  EXPECT_DOUBLE_EQ(trace->pods[1].needs_gbps.value_or(0), 37.5);
  const auto openb = read_pod_trace(
      "name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\np,1,1,1,50,80\n");
  ASSERT_TRUE(openb.ok());
  EXPECT_DOUBLE_EQ(openb->pods[0].duration_s, 30);
}

TEST(PodTrace, ErrorsNameLineAndColumn) {
  const std::string head = "name,cpu_milli,memory_mib,chips,arrival_s,duration_s,needs_gbps\n";
  EXPECT_THAT(pod_error(head + "p,1,1,1,x,1,1\n"), HasSubstr("line 2: \"arrival_s\""));
  EXPECT_THAT(pod_error(head + "p,1,1,1,nan,1,1\n"), HasSubstr("line 2: \"arrival_s\""));
  EXPECT_THAT(pod_error(head + "p,1,1,1,1,inf,1\n"), HasSubstr("line 2: \"duration_s\""));
  EXPECT_THAT(pod_error(head + "p,1,1,1,1,1,-1\n"), HasSubstr("line 2: \"needs_gbps\""));
  EXPECT_THAT(pod_error("name,cpu_milli,memory_mib,chips,arrival_s\n"),
              HasSubstr("belong together"));
  EXPECT_THAT(pod_error("name,cpu_milli,memory_mib,chips,creation_time,deletion_time\n"
                        "p,1,1,1,9,8\n"),
              HasSubstr("after the arrival"));
  EXPECT_THAT(pod_error("name,cpu_milli,memory_mib,chips,gpu_milli\np,1,1,1,1001\n"),
              HasSubstr("line 2: \"gpu_milli\""));
}

}  // namespace
}  // namespace chipweave::codec
