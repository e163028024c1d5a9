// chipweave where, what-if and submit --dry-run against a real scheduler: the answers are what the
// scheduler then does, and nothing changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return "no " + from;
  const std::size_t at = begin + from.size();
  return text.substr(at, text.find(to, at) - at);
}

// Runs the lines with a standalone scheduler, nodes n1 and n2 of eight H100 and v1 of eight V100.
Outcome with_cluster(const io::TempFolder& folder, const std::string& lines) {
  return run("cd " + folder.path() + R"sh( && {
%B/chipweave-scheduler --standalone --port-file ports --http 127.0.0.1:0 --grpc 127.0.0.1:0 2>log & S=$!
while kill -0 $S 2>/dev/null && [ ! -s ports ]; do sleep 0.02; done
export CHIPWEAVE_SCHEDULER=http://$(sed 's/.*"http":\([0-9]*\).*/127.0.0.1:\1/' ports)
G=$(sed 's/.*"grpc":\([0-9]*\).*/127.0.0.1:\1/' ports)
%B/chipweave-agent --node n1 --probe profile:hgx-h100-8 --scheduler $G 2>log1 & A=$!
%B/chipweave-agent --node n2 --probe profile:hgx-h100-8 --scheduler $G 2>log2 & B=$!
%B/chipweave-agent --node v1 --probe profile:hgx-v100-8 --scheduler $G 2>log3 & C=$!
while kill -0 $S && [ $(%B/chipweave nodes -o name | wc -l) != 3 ]; do sleep 0.05; done
)sh" + lines +
             "\nkill $A $B $C $S; wait; } 2>&1");
}

std::string pod(const std::string& name, int chips, const std::string& labels = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: d, labels: {" +
         labels + "}}\nspec: {containers: [{name: c, image: i, resources: {limits: " +
         "{nvidia.com/gpu: " + std::to_string(chips) + "}}}]}\n---\n";
}

TEST(WhatIfCommands, ADryRunShowsWhatTheSubmissionThenDoes) {
  const io::TempFolder folder;
  const std::string job = "training.kubeflow.org/job-name: j";
  const std::string gang = "chipweave.dev/gang: g, chipweave.dev/gang-size: '2'";
  folder.put("pods.yaml", pod("a", 3) + pod("j-0", 2, job) + pod("j-1", 2, job) +
                              pod("g-0", 4, gang) + pod("g-1", 4, gang) + pod("b", 4) +
                              pod("c", 3));
  const Outcome out = with_cluster(folder, R"(
echo == dry; %B/chipweave submit pods.yaml --dry-run 2>note; echo "== pods"; %B/chipweave pods -A
echo == real; %B/chipweave submit pods.yaml; echo == end; cat note)");
  const std::string dry = between(out.text, "== dry\n", "== pods");
  EXPECT_EQ(dry, between(out.text, "== real\n", "== end"));
  EXPECT_THAT(dry, HasSubstr("d/b"));
  EXPECT_EQ(dry.find("Pending"), std::string::npos) << dry;
  EXPECT_EQ(between(out.text, "== pods\n", "== real").find("d/"), std::string::npos)
      << "nothing was created\n"
      << out.text;
  EXPECT_THAT(out.text, HasSubstr("dry run: nothing is created or reserved"));
}

TEST(WhatIfCommands, WhereNamesTheNodeThatThePodThenGets) {
  const io::TempFolder folder;
  folder.put("first.yaml", pod("a", 4));
  folder.put("second.yaml", pod("b", 4));
  folder.put("large.yaml", pod("large", 8));
  const Outcome out = with_cluster(folder, R"(
%B/chipweave submit first.yaml >first
echo == where; %B/chipweave where --chips 4; echo == $?
%B/chipweave submit second.yaml -o json
echo == full; %B/chipweave where --chips 8 --node n1 --node v1 | tail -1
%B/chipweave submit large.yaml --node n2 >large
echo == none; %B/chipweave where --chips 8 --pods 2; echo == $?
echo == usage; %B/chipweave where --chips 1 --node x; echo == $?)");
  EXPECT_EQ(between(out.text, "== where\n", "== 0"),
            "NODE  CHIPS   GB/s  BEST GB/s  LEFT\n"
            "n1    4-7    370.8      370.8  -\n"
            "n2    0-3    370.8      370.8  4-7\n"
            "v1    0-3       80         80  4-7\n"
            "3/3 nodes are available\n");
  EXPECT_THAT(out.text, HasSubstr("\"node\":\"n1\",\"chips\":[4,5,6,7],\"gbps\":370.8"));
  EXPECT_THAT(out.text,
              HasSubstr("== full\n1/2 nodes are available: 1 Insufficient nvidia.com/gpu\n"));
  EXPECT_THAT(between(out.text, "== none\n", "== usage"),
              HasSubstr("1 of 2 pods fits; for the next:\n"
                        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu\n== 1\n"));
  EXPECT_THAT(out.text, HasSubstr("--node: unknown node \"x\""));
}

TEST(WhatIfCommands, PodsOfANodeThatFailsOrIsDrained) {
  const io::TempFolder folder;
  folder.put("pods.yaml", pod("a", 8) + pod("b", 4) + pod("c", 8));
  const Outcome out = with_cluster(folder, R"(
%B/chipweave submit pods.yaml >submitted
%B/chipweave pods -A -o json >before
echo == fail; %B/chipweave what-if --fail n1; echo == $?
echo == drain; %B/chipweave what-if --drain n2 -o json; echo == $?
echo == both; %B/chipweave what-if --fail n1 --drain n2; echo == $?
echo == neither; %B/chipweave what-if; echo == $?
echo == submitted; cat submitted; %B/chipweave pods -A -o json | cmp - before && echo unchanged)");
  EXPECT_THAT(between(out.text, "== submitted\n", "unchanged"), HasSubstr("d/a  n1"));
  EXPECT_EQ(between(out.text, "== fail\n", "== drain"),
            "n1 fails: 1 pod loses 8 chips; 0 fit elsewhere, 1 does not\n"
            "\n"
            "POD  FROM  CHIPS  TO  NEW CHIPS  GB/s\n"
            "d/a  n1    0-7    -   -          370.8\n"
            "Without a place:\n"
            "  d/a: 0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 failed\n"
            "Free chips: 4 now, 4 without the node, 4 with the pods in their new places\n"
            "== 1\n");
  EXPECT_THAT(between(out.text, "== drain\n", "== both"),
              HasSubstr(R"("event":"drain","nodes":["n2"])"));
  EXPECT_THAT(between(out.text, "== both\n", "== neither"), HasSubstr("== 2\n"));
  EXPECT_THAT(between(out.text, "== neither\n", "== submitted"), HasSubstr("== 2\n"));
  EXPECT_THAT(out.text, HasSubstr("unchanged\n"));
}

}  // namespace
}  // namespace chipweave
