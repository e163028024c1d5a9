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

TEST(NodeSelection, KnowsTheNodesThatAPodNames) {
  NodeWishes pod;
  EXPECT_EQ(named_nodes(pod), std::nullopt);
  pod.has_required = true;
  EXPECT_EQ(named_nodes(pod), std::vector<std::string>{}) << "no term: no node";
  pod.required = {{{}, {{"metadata.name", "In", {"n1"}}}}, {}};
  EXPECT_EQ(named_nodes(pod), std::vector<std::string>{"n1"});
  pod.required.push_back({{{"zone", "Exists", {}}}, {{"metadata.name", "In", {"n2", "n3"}}}});
  EXPECT_EQ(named_nodes(pod), (std::vector<std::string>{"n1", "n2", "n3"}));
  pod.required.push_back({{{"zone", "Exists", {}}}, {{"metadata.name", "NotIn", {"n2"}}}});
  EXPECT_EQ(named_nodes(pod), std::nullopt) << "any node of the zone";
}

TEST(NodeSelection, KnowsHowMuchAPodSays) {
  NodeWishes pod = requires_label("zone", "In", {"a", "b"});
  pod.required.front().fields.push_back({"metadata.name", "NotIn", {"n1"}});
  pod.selector = {{"k", "v"}};
  pod.tolerations.resize(2);
  EXPECT_EQ(size_of(pod).parts, 5U);
  EXPECT_EQ(size_of(pod).values, 3U);
}

TEST(NodeSelection, CanLeaveAPinOut) {
  NodeWishes pod = requires_label("zone", "Exists", {});
  const NodeWishes before = pod;
  pod.required.front().fields.push_back({"metadata.name", "In", {"n1"}});
  EXPECT_EQ(without_pin(pod), before);
  NodeWishes bare;
  bare.has_required = true;
  bare.required = {{{}, {{"metadata.name", "In", {"n1"}}}}};
  EXPECT_EQ(without_pin(bare), NodeWishes());
  bare.required.front().fields.front().values.emplace_back("n2");
  EXPECT_EQ(without_pin(bare), bare) << "two nodes are no pin";
}

}  // namespace
}  // namespace chipweave::domain
