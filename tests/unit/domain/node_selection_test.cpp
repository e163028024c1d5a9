// Nodes that a pod may run on, as kube-scheduler decides it.
#include "common/domain/node_selection.hpp"

#include <gtest/gtest.h>

namespace chipweave::domain {
namespace {

const NodeStanding kNode{{{"zone", "a"}, {"gen", "3"}}, {}, false};

bool may(const NodeWishes& pod, const NodeStanding& node = kNode) {
  return why_not_on(pod, "n1", node).empty();
}

NodeWishes requires_label(const std::string& key, const std::string& op,
                          std::vector<std::string> values = {}) {
  NodeWishes out;
  out.has_required = true;
  out.required = {{{{key, op, std::move(values)}}, {}}};
  return out;
}

TEST(NodeSelection, FollowsTheNodeSelector) {
  NodeWishes pod;
  EXPECT_TRUE(may(pod));
  pod.selector = {{"zone", "a"}};
  EXPECT_TRUE(may(pod));
  pod.selector = {{"zone", "b"}};
  EXPECT_FALSE(may(pod));
  pod.selector = {{"none", ""}};
  EXPECT_FALSE(may(pod));
}

TEST(NodeSelection, FollowsTheRequiredAffinity) {
  EXPECT_TRUE(may(requires_label("zone", "In", {"b", "a"})));
  EXPECT_FALSE(may(requires_label("zone", "In", {"b"})));
  EXPECT_TRUE(may(requires_label("zone", "NotIn", {"b"})));
  EXPECT_TRUE(may(requires_label("none", "NotIn", {"b"})));
  EXPECT_FALSE(may(requires_label("zone", "NotIn", {"a"})));
  EXPECT_TRUE(may(requires_label("zone", "Exists")));
  EXPECT_FALSE(may(requires_label("none", "Exists")));
  EXPECT_TRUE(may(requires_label("none", "DoesNotExist")));
  EXPECT_TRUE(may(requires_label("gen", "Gt", {"2"})));
  EXPECT_FALSE(may(requires_label("gen", "Gt", {"3"})));
  EXPECT_TRUE(may(requires_label("gen", "Lt", {"4"})));
  EXPECT_FALSE(may(requires_label("zone", "Lt", {"4"})));
  NodeWishes none;
  none.has_required = true;
  EXPECT_FALSE(may(none)) << "no term";
  none.required = {{}, {{}, {{"metadata.name", "In", {"n1"}}}}};
  EXPECT_TRUE(may(none)) << "one of two terms";
  none.required = {{}, {{}, {{"metadata.name", "In", {"n2"}}}}};
  EXPECT_FALSE(may(none));
}

TEST(NodeSelection, FollowsTaints) {
  NodeStanding node = kNode;
  node.taints = {{"k", "v", "PreferNoSchedule"}};
  NodeWishes pod;
  EXPECT_TRUE(may(pod, node));
  node.taints = {{"k", "v", "NoSchedule"}};
  EXPECT_FALSE(may(pod, node));
  pod.tolerations = {{"k", "", "v", "NoSchedule"}};
  EXPECT_TRUE(may(pod, node));
  pod.tolerations = {{"k", "Equal", "w", ""}};
  EXPECT_FALSE(may(pod, node));
  pod.tolerations = {{"k", "Exists", "", "NoExecute"}};
  EXPECT_FALSE(may(pod, node));
  pod.tolerations = {{"", "Exists", "", ""}};
  EXPECT_TRUE(may(pod, node));
}

TEST(NodeSelection, FollowsUnschedulable) {
  NodeStanding node = kNode;
  node.unschedulable = true;
  NodeWishes pod;
  EXPECT_FALSE(may(pod, node));
  pod.tolerations = {{"node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"}};
  EXPECT_TRUE(may(pod, node));
}

}  // namespace
}  // namespace chipweave::domain
