// The chart's admission policy and the agent must agree on what an agent may write on its Node.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "node-agent/publish/compat/mindcluster_content.hpp"
#include "node-agent/publish/compat/node_labels.hpp"
#include "node-agent/publish/node/mark_plan.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/agent_compat/machines.hpp"

namespace chipweave::agent {
namespace {

using Texts = std::set<std::string>;

std::string policy() {
  const auto text = io::read_file(
      test::source_path("charts/chipweave/templates/agent-publish-policy.yaml"), 1U << 20U);
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

// Of one variable of the policy: the prefixes and the keys that it lets pass.
struct Allowed {
  Texts prefixes;
  Texts keys;

  bool holds(const std::string& key) const {
    for (const std::string& prefix : prefixes) {
      if (key.starts_with(prefix)) return true;
    }
    return keys.contains(key);
  }
};

Allowed allowed(const std::string& variable) {
  const std::string text = policy();
  const std::size_t begin = text.find("- name: " + variable + "\n");
  EXPECT_NE(begin, std::string::npos) << variable;
  const std::size_t end =
      std::min(text.find("\n  - name: ", begin + 1), text.find("\n  validations:", begin + 1));
  const std::string part = text.substr(begin, end - begin);
  Allowed out;
  const std::regex quoted(R"re((startsWith\()?"([^"]+)")re");
  for (std::sregex_iterator it(part.begin(), part.end(), quoted), last; it != last; ++it) {
    ((*it)[1].matched ? out.prefixes : out.keys).insert((*it)[2]);
  }
  return out;
}

TEST(Policy, LetsPassWhatAgentsMayOwnAndNoMore) {
  const Allowed labels = allowed("otherLabels");
  EXPECT_FALSE(labels.prefixes.empty());
  EXPECT_FALSE(labels.keys.empty());
  for (const std::string& prefix : labels.prefixes)
    EXPECT_TRUE(may_own_label(prefix + "x")) << prefix;
  for (const std::string& key : labels.keys) EXPECT_TRUE(may_own_label(key)) << key;
  Allowed annotations = allowed("otherAnnotations");
  EXPECT_TRUE(annotations.prefixes.empty());
  EXPECT_EQ(annotations.keys.erase(kAgentKeysAnnotation), 1U);
  EXPECT_EQ(annotations.keys.erase("chipweave.dev/clear-faults"), 1U);
  EXPECT_FALSE(annotations.keys.empty());
  for (const std::string& key : annotations.keys) EXPECT_TRUE(may_own_annotation(key)) << key;
}

TEST(Policy, LetsPassWhatAgentsWrite) {
  const Allowed labels = allowed("otherLabels");
  const Allowed annotations = allowed("otherAnnotations");
  int keys = 0;
  for (const char* machine :
       {"hgx-h100-8", "ascend-910b-8", "ascend-a5-8", "mi300x-8", "metax-c550-8"}) {
    NodeState state = profile(machine);
    state.facts = {{"driver", "550.54.15"}, {"sm", "9.0"},    {"fabric.clique", "a.1"},
                   {"mig.capable", "true"}, {"aicore", "20"}, {"ascend.rack", "6"}};
    NodeMarks marks = mindcluster_marks(state);
    marks.labels.merge(node_labels(state));
    marks.labels.merge(gfd_labels(state));
    marks.labels.merge(metax_labels(state));
    for (const auto& [key, value] : marks.labels) {
      EXPECT_TRUE(labels.holds(key) && may_own_label(key)) << key;
      ++keys;
    }
    for (const auto& [key, value] : marks.annotations) {
      EXPECT_TRUE(annotations.holds(key) && may_own_annotation(key)) << key;
      ++keys;
    }
  }
  EXPECT_GT(keys, 30);
}

}  // namespace
}  // namespace chipweave::agent
