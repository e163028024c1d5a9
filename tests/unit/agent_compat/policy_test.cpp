// The chart's admission policy and the agent must agree on what an agent may write on its Node.
#include <gtest/gtest.h>

#include <set>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"
#include "common/io/files.hpp"
#include "node-agent/publish/compat/ack_content.hpp"
#include "node-agent/publish/compat/mindcluster_content.hpp"
#include "node-agent/publish/compat/node_labels.hpp"
#include "node-agent/publish/node/own_keys.hpp"
#include "tests/fakes/agent/profile_states.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::agent {
namespace {

using Texts = std::set<std::string>;

std::string policy() {
  const auto text = io::read_file(
      test::source_path("charts/chipweave/templates/agent-publish-policy.yaml"), 1U << 20U);
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

Texts quoted_in(const std::string& part) {
  Texts out;
  for (std::size_t at = part.find('"'); at != std::string::npos; at = part.find('"', at)) {
    const std::size_t end = part.find('"', at + 1);
    out.insert(part.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

// The quoted strings of `$name := list "…" …`, the template's variables.
Texts list_of(const std::string& name) {
  const std::string text = policy();
  const std::size_t begin = text.find("$" + name + " := list ");
  EXPECT_NE(begin, std::string::npos) << name;
  return quoted_in(text.substr(begin, text.find("}}", begin) - begin));
}

template <class List>
Texts texts(const List& list) {
  return {list.begin(), list.end()};
}

TEST(Policy, ListsTheKeysThatAgentsMayOwnAndNoMore) {
  EXPECT_EQ(list_of("labelPrefixes"), texts(kOwnLabelPrefixes));
  EXPECT_EQ(list_of("labels"), texts(kOwnLabels));
  Texts annotations = texts(kOwnAnnotations);
  annotations.insert(kAgentKeysAnnotation);
  EXPECT_EQ(list_of("annotations"), annotations);
  EXPECT_EQ(list_of("commands"), Texts{kClearAnnotation});
}

// scripts/clean-cluster removes keys that a Node lists as its agent's, and only these.
TEST(CleanCluster, RemovesTheKeysThatAgentsMayOwnAndNoMore) {
  const auto script = io::read_file(test::source_path("scripts/clean-cluster"), 1U << 20U);
  ASSERT_TRUE(script.ok());
  const auto list = [&script](const std::string& name) {
    const std::size_t begin = script->find("readonly " + name + "=(");
    EXPECT_NE(begin, std::string::npos) << name;
    return quoted_in(script->substr(begin, script->find(')', begin) - begin));
  };
  EXPECT_EQ(list("label_prefixes"), texts(kOwnLabelPrefixes));
  EXPECT_EQ(list("labels"), texts(kOwnLabels));
  EXPECT_EQ(list("annotations"), texts(kOwnAnnotations));
}

// Only the lists allow keys: no expression names further ones.
TEST(Policy, NamesKeysInItsListsOnly) {
  const std::string text = policy();
  const std::string expressions = text.substr(
      text.find("  variables:"), text.find("  validations:") - text.find("  variables:"));
  EXPECT_EQ(expressions.find('"'), std::string::npos) << expressions;
  std::size_t uses = 0;
  for (const char* use : {"$ownLabel", "toJson $annotations", "concat $annotations $commands"}) {
    for (std::size_t at = expressions.find(use); at != std::string::npos;
         at = expressions.find(use, at + 1)) {
      ++uses;
    }
  }
  EXPECT_EQ(uses, 4U) << "labels and annotations, each as added or changed and as removed";
}

// "NAMESPACE/PREFIX" + variables.node
TEST(Policy, AllowsTheConfigMapsThatAgentsWriteAndNoMore) {
  namespace mc = codec::mindcluster;
  const std::string text = policy();
  const std::size_t begin = text.find("variables.name in [");
  ASSERT_NE(begin, std::string::npos);
  const std::string names = text.substr(begin, text.find(']', begin) - begin);
  EXPECT_EQ(quoted_in(names), (Texts{concat(mc::kDeviceInfoNamespace, '/', mc::kDeviceInfoPrefix),
                                     concat(mc::kNodeInfoNamespace, '/', mc::kNodeInfoPrefix),
                                     concat(kAckNamespace, '/', kAckPrefix)}));
}

TEST(Policy, EveryKeyThatAgentsWriteMayBeOwned) {
  int keys = 0;
  for (const char* machine :
       {"hgx-h100-8", "ascend-910b-8", "ascend-a5-8", "mi300x-8", "metax-c550-8"}) {
    NodeState state = profile(machine);
    state.facts = {{"driver", "550.54.15"}, {"sm", "9.0"},    {"fabric.clique", "a.1"},
                   {"mig.capable", "true"}, {"aicore", "20"}, {"ascend.rack", "6"}};
    NodeMetadata metadata = mindcluster_metadata(state);
    metadata.labels.merge(node_labels(state));
    metadata.labels.merge(gfd_labels(state));
    metadata.labels.merge(metax_labels(state));
    for (const auto& [key, value] : metadata.labels) {
      EXPECT_TRUE(may_own_label(key)) << key;
      ++keys;
    }
    for (const auto& [key, value] : metadata.annotations) {
      EXPECT_TRUE(may_own_annotation(key)) << key;
      ++keys;
    }
  }
  EXPECT_GT(keys, 30);
}

}  // namespace
}  // namespace chipweave::agent
