// The list of accelerator resources is ResourceTable; the copies that other languages need must
// agree with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/domain/vendor.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/leader_label.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"
#include "scheduler-plugin/kube/requeue_trigger.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

std::string repository_file(const std::string& path) {
  return chipweave::test::file_content(chipweave::test::source_path(path)).value_or("");
}

// The part between two markers; empty if they are missing.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

// Names such as nvidia.com/gpu, in the order of the text.
std::vector<std::string> resource_names_in(const std::string& text) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '/';
  };
  std::vector<std::string> names;
  std::string word;
  for (const char c : text + " ") {
    if (is_part(c)) {
      word += c;
    } else if (!word.empty()) {
      if (word.find('/') != std::string::npos) names.push_back(word);
      word.clear();
    }
  }
  return names;
}

TEST(ResourceLists, ChartNotesAgreeWithTheProgram) {
  const std::string notes = repository_file("charts/chipweave/templates/NOTES.txt");
  EXPECT_THAT(resource_names_in(between(notes, "$resources = list ", "}}")),
              ::testing::ElementsAreArray(ResourceTable{}.accelerators));
}

TEST(ResourceLists, TheAuditorAgreesWithTheProgram) {
  const std::string audit = repository_file("tests/e2e/audit.py");
  EXPECT_THAT(resource_names_in(between(audit, "ACCELERATORS = [", "]")),
              ::testing::ElementsAreArray(ResourceTable{}.accelerators));
}

TEST(ResourceLists, ThePageOfKubeSchedulerAgreesWithTheProgram) {
  const std::string page = repository_file("docs/tasks/configure-kube-scheduler.md");
  EXPECT_THAT(resource_names_in(between(page, "managedResources:\n", "```")),
              ::testing::ElementsAreArray(ResourceTable{}.accelerators));
}

TEST(ResourceLists, ThePageOfTheAgentsSettingsAgreesWithTheProgram) {
  const std::string page = repository_file("docs/reference/configuration.md");
  const std::vector<std::string> listed =
      resource_names_in(between(page, "| vendor | extended resources by default |", "\n\n"));
  std::set<std::string> usual;
  for (const auto& profile : profiles::all()) {
    const auto machine = codec::import_topology_json(profile.json, {});
    ASSERT_TRUE(machine) << profile.name;
    for (const std::string& resource : domain::usual_resources(machine->topology))
      usual.insert(resource);
  }
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), usual);
}

TEST(ResourceLists, EveryBuiltInMachineOffersAKnownResource) {
  const ResourceTable table;
  const std::set<std::string> known(table.accelerators.begin(), table.accelerators.end());
  World w;
  for (const auto& profile : profiles::all()) {
    const std::string name(profile.name);
    w.add_node(name, name);
    const auto& offered = w.scheduler.nodes().node(w.scheduler.nodes().find(name)).resources;
    EXPECT_FALSE(offered.empty()) << name;
    for (const std::string& resource : offered)
      EXPECT_TRUE(known.contains(resource)) << name << ": " << resource;
  }
}

Node node_with_address() {
  domain::TopologyBuilder b;
  b.vendor = "ascend";
  domain::Chip chip;
  chip.device_ips = {"192.0.2.1"};
  b.add_chip(chip);
  Node node;
  node.topology = std::move(b).build().value();
  return node;
}

TEST(AnnotationLists, ThePageListsTheResourcesWhoseNameIsAnAnnotation) {
  const Node node = node_with_address();
  const std::string page = repository_file("docs/reference/annotations-and-labels.md");
  std::set<std::string> written;
  for (const std::string& resource : ResourceTable{}.accelerators) {
    Decision decision;
    decision.resource = resource;
    decision.chips = ChipSet::first(1);
    for (const auto& [key, value] : annotations_of(decision, node)) {
      if (key == resource) written.insert(key);
    }
  }
  const std::vector<std::string> listed =
      resource_names_in(between(page, "| the resource's name: ", " | "));
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), written);
}

// The scheduler's rights to patch pods, nodes and users' ConfigMaps are limited to these keys.
TEST(AnnotationLists, ThePolicyOfTheChartAllowsTheKeysThatTheSchedulerWrites) {
  const std::string policy = repository_file("charts/chipweave/templates/scheduler-policy.yaml");
  std::set<std::string> allowed;
  const std::string begin = "k == \"";
  for (std::size_t at = policy.find(begin); at != std::string::npos; at = policy.find(begin, at)) {
    at += begin.size();
    allowed.insert(policy.substr(at, policy.find('"', at) - at));
  }
  EXPECT_EQ(allowed,
            (std::set<std::string>{kLeaderLabel, kRequeueAnnotation, kRankTableContentLabel}));
}

TEST(AnnotationLists, ThePageListsEveryAnnotationOfABinding) {
  const Node node = node_with_address();
  const std::string page = between(repository_file("docs/reference/annotations-and-labels.md"),
                                   "written when a pod is bound", "\n## ");
  for (const std::string& resource : ResourceTable{}.accelerators) {
    Decision decision;
    decision.resource = resource;
    decision.chips = ChipSet::first(1);
    for (const auto& [key, value] : annotations_of(decision, node))
      EXPECT_NE(page.find('`' + key + '`'), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace chipweave::sched::test
