// Which job a pod is of, and what a rank table says about itself.
#include "common/codec/mindcluster/pod/job_table.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec::mindcluster {
namespace {

TEST(JobOfPod, IsTheNameThatUsersKnow) {
  EXPECT_EQ(job_of_pod("pod-0", {}, {}), "pod-0");
  EXPECT_EQ(job_of_pod("pod-0", {{"job-name", ""}}, {}), "pod-0");
  EXPECT_EQ(job_of_pod("pod-0", {}, {{"chipweave.dev/gang", "g"}}), "g");
  EXPECT_EQ(job_of_pod("pod-0", {{"job-name", "part"}, {"chipweave.dev/gang", "g"}}, {}), "part");
  EXPECT_EQ(job_of_pod("pod-0", {{"job-name", "part"}}, {{"volcano.sh/job-name", "whole"}}),
            "whole");
}

TEST(MarkOf, IsTheLabelBeforeTheAnnotation) {
  EXPECT_EQ(mark_of({{"k", "label"}}, {{"k", "annotation"}}, "k"), "label");
  EXPECT_EQ(mark_of({{"k", ""}}, {{"k", "annotation"}}, "k"), "annotation");
  EXPECT_EQ(mark_of({}, {}, "k"), "");
}

TEST(StatusOfTable, IsThatOfAJsonObject) {
  const auto status = [](std::string_view table) {
    const auto out = status_of_table(table);
    return out ? *out : "error";
  };
  EXPECT_EQ(status(kInitialTable), kInitialStatus);
  EXPECT_EQ(status(R"({"status":"completed","server_list":[]})"), kCompletedStatus);
  EXPECT_EQ(status("{}"), "");
  for (const char* wrong : {"", "[]", "null", "{", R"({"status":7})", "{} {}"})
    EXPECT_EQ(status(wrong), "error") << wrong;
  EXPECT_EQ(status(R"({"pad":")" + std::string(3U << 20U, 'x') + "\"}"), "error");
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
