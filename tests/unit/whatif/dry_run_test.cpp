// submit --dry-run: places without a change, against a scheduler that only answers GET.
#include "cli/whatif/dry_run.hpp"

#include <gmock/gmock.h>

#include "tests/unit/whatif/live_nodes.hpp"

namespace chipweave::cli {
namespace {

using nlohmann::json;
using test::kAll;
using test::live_node;
using test::live_pod;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string pod_yaml(const std::string& name, const std::string& resources,
                     const std::string& metadata = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: d" + metadata +
         "}\nspec: {containers: [{name: c, image: i, resources: {limits: {" + resources +
         "}}}]}\n---\n";
}

std::vector<SubmittedPod> run(test::ReadOnlyScheduler& fake, const std::string& yaml,
                              const SubmitOptions& options = {}) {
  const auto manifest = codec::expand_manifest(yaml);
  EXPECT_TRUE(manifest.ok()) << manifest.error().text();
  SchedulerClient client(fake.transport());
  auto rows = dry_run(client, manifest->pods, options);
  EXPECT_TRUE(rows.ok()) << rows.error().text();
  EXPECT_THAT(fake.calls, Each(StartsWith("GET ")));
  return rows ? *std::move(rows) : std::vector<SubmittedPod>();
}

TEST(DryRun, PodsTakeChipsFromEachOtherAndNothingIsPosted) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll), live_node("n2", {4, 5, 6, 7})};
  const auto rows =
      run(fake, pod_yaml("a", "nvidia.com/gpu: 4") + pod_yaml("b", "nvidia.com/gpu: 4") +
                    pod_yaml("c", "nvidia.com/gpu: 8"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].node, "n2");
  EXPECT_THAT(rows[0].chips, ElementsAre(4, 5, 6, 7));
  EXPECT_GT(rows[0].gbps, 0);
  EXPECT_GE(rows[0].best_gbps, rows[0].gbps);
  EXPECT_EQ(rows[1].node, "n1");
  EXPECT_FALSE(rows[2].placed());
  EXPECT_EQ(rows[2].reason, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu");
  EXPECT_EQ(rows[2].requested, 8);
}

TEST(DryRun, PodsThatExistKeepTheirPlace) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", {4, 5, 6, 7})};
  json waiting = live_pod("b", "", {});
  waiting["requested"] = 2;
  fake.pods = {live_pod("a", "n1", {0, 1, 2, 3}), waiting};
  const auto rows =
      run(fake, pod_yaml("a", "nvidia.com/gpu: 4") + pod_yaml("b", "nvidia.com/gpu: 2"));
  EXPECT_TRUE(rows[0].existed);
  EXPECT_THAT(rows[0].chips, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(rows[1].existed);
  EXPECT_TRUE(rows[1].placed()) << "a pending one is tried";
}

TEST(DryRun, PodsOfAGroupShareANode) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", {0, 1, 2}), live_node("n2", kAll)};
  const std::string labels = ", labels: {gpu-topology: g, gpu-topology-replica: '2'}";
  const auto rows = run(fake, pod_yaml("a", "nvidia.com/gpu: 2", labels) +
                                  pod_yaml("b", "nvidia.com/gpu: 2", labels) +
                                  pod_yaml("c", "nvidia.com/gpu: 2", labels));
  EXPECT_EQ(rows[0].node, "n2");
  EXPECT_EQ(rows[1].node, "n2");
  EXPECT_NE(rows[0].chips, rows[1].chips);
  EXPECT_EQ(rows[0].gbps, rows[1].gbps) << "of the group";
  EXPECT_EQ(rows[2].reason, "its group has all of its 2 pods");
  fake.nodes = {live_node("n1", {0, 1, 2})};
  EXPECT_EQ(run(fake, pod_yaml("a", "nvidia.com/gpu: 2", labels))[0].reason,
            "0/1 nodes are available: 1 no room for all 2 pods of the group on one node");
}

TEST(DryRun, AGangIsPlacedAsFarAsItNeedsOrNotAtAll) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll)};
  const auto gang = [](const std::string& more) {
    const std::string labels = ", labels: {chipweave.dev/gang: g" + more + "}";
    return pod_yaml("a", "nvidia.com/gpu: 4", labels) + pod_yaml("b", "nvidia.com/gpu: 4", labels) +
           pod_yaml("c", "nvidia.com/gpu: 4", labels);
  };
  const auto all =
      run(fake, gang(", chipweave.dev/gang-size: '3'") + pod_yaml("other", "nvidia.com/gpu: 8"));
  EXPECT_FALSE(all[0].placed());
  EXPECT_EQ(all[0].reason,
            "its gang needs 3 pods together, and 2 fit; for the next: 0/1 nodes are available: 1 "
            "Insufficient nvidia.com/gpu");
  EXPECT_TRUE(all[3].placed()) << "the chips of the gang are free again";
  const auto two = run(fake, gang(", chipweave.dev/gang-minimum: '2'"));
  EXPECT_TRUE(two[0].placed());
  EXPECT_TRUE(two[1].placed());
  EXPECT_EQ(two[2].reason, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu");
  EXPECT_EQ(run(fake, gang(", chipweave.dev/gang-size: '4'"))[0].reason,
            "its gang needs 4 pods, and 3 are known");
  fake.pods = {live_pod("a", "n1", {0, 1, 2, 3})};
  fake.nodes = {live_node("n1", {4, 5, 6, 7}), live_node("n2", {0, 1, 2, 3})};
  for (const SubmittedPod& row : run(fake, gang(", chipweave.dev/gang-size: '3'")))
    EXPECT_TRUE(row.placed()) << row.name << ": with the one that runs";
}

TEST(DryRun, AJobOfSeveralPodsUsesNoChipsWithoutNetwork) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll)};
  fake.nodes[0]["network_unhealthy"] = {0, 1, 2, 3, 4, 5};
  const std::string labels = ", labels: {training.kubeflow.org/job-name: j}";
  const std::string pair = pod_yaml("a", "nvidia.com/gpu: 2", labels);
  EXPECT_THAT(run(fake, pair + pod_yaml("b", "nvidia.com/gpu: 2", labels))[0].chips,
              ElementsAre(6, 7));
  json other = live_pod("z", "", {});
  other["requested"] = 2;
  other["job"] = "j";
  fake.pods = {other};
  EXPECT_THAT(run(fake, pair)[0].chips, ElementsAre(6, 7)) << "with a pod that exists";
  fake.pods.clear();
  fake.nodes[0]["free"] = {0, 1, 2, 3};
  EXPECT_TRUE(run(fake, pair)[0].placed()) << "alone";
  EXPECT_FALSE(run(fake, pair + pod_yaml("b", "nvidia.com/gpu: 2", labels))[0].placed());
}

TEST(DryRun, PodsWithoutChipsKeepAwayFromFreeChips) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll), live_node("n2", {0})};
  const auto rows = run(fake, pod_yaml("a", "cpu: 1"));
  EXPECT_EQ(rows[0].node, "n2");
  EXPECT_EQ(rows[0].requested, 0);
}

TEST(DryRun, WhatCannotBePlacedSaysWhy) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll)};
  EXPECT_EQ(run(fake, pod_yaml("a", "nvidia.com/gpu.shared: 1"))[0].reason,
            "no node reports nvidia.com/gpu.shared as whole chips");
  EXPECT_EQ(run(fake, pod_yaml("a", "nvidia.com/gpu: 1, amd.com/gpu: 1"))[0].reason,
            "asks for amd.com/gpu and nvidia.com/gpu; a pod can request only one kind of "
            "accelerator");
  EXPECT_THAT(run(fake, pod_yaml("a", "nvidia.com/gpu: 1",
                                 ", annotations: {chipweave.dev/objective: fast}"))[0]
                  .reason,
              HasSubstr("annotation chipweave.dev/objective is 'fast'"));
  EXPECT_EQ(run(fake, pod_yaml("a", "amd.com/gpu: 1"))[0].reason,
            "0/1 nodes are available: 1 without amd.com/gpu");
  fake.nodes.clear();
  EXPECT_THAT(run(fake, pod_yaml("a", "nvidia.com/gpu: 1"))[0].reason,
              HasSubstr("the scheduler has no nodes yet"));
}

TEST(DryRun, UnknownNodesAreAnError) {
  test::ReadOnlyScheduler fake;
  fake.nodes = {live_node("n1", kAll), live_node("n2", kAll)};
  SubmitOptions options;
  options.only_nodes = {"n2"};
  EXPECT_EQ(run(fake, pod_yaml("a", "nvidia.com/gpu: 1"), options)[0].node, "n2");
  SchedulerClient client(fake.transport());
  options.only_nodes = {"n7"};
  EXPECT_THAT(dry_run(client, {}, options).error().text(), HasSubstr("--node: unknown node"));
}

}  // namespace
}  // namespace chipweave::cli
