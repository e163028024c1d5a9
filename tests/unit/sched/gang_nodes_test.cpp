// Plans keep to the nodes that the pods may have: node selectors, required node affinity, taints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/nodes/slot_nodes.hpp"
#include "tests/unit/sched/gated_world.hpp"

namespace chipweave::sched::test {
namespace {

using domain::NodeStanding;
using domain::NodeWishes;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

NodeWishes selects(const std::string& key, const std::string& value) {
  NodeWishes out;
  out.selector[key] = value;
  return out;
}

NodeWishes tolerates(const std::string& taint) {
  NodeWishes out;
  out.tolerations.push_back({taint, "Exists", "", ""});
  return out;
}

NodeWishes pinned_to(const std::string& node) {
  NodeWishes out;
  out.has_required = true;
  out.required.push_back({{}, {{"metadata.name", "In", {node}}}});
  return out;
}

struct NodesWorld : Gated {
  explicit NodesWorld(int count) {
    nodes(count);
    for (const std::string& node : names) scheduler.node_takes(node, standings[node]);
  }

  void label(const std::string& node, const std::string& key, const std::string& value) {
    standings[node].labels[key] = value;
    scheduler.node_takes(node, standings[node]);
  }
  void taint(const std::string& node, const std::string& key) {
    standings[node].taints.push_back({key, "", "NoSchedule"});
    scheduler.node_takes(node, standings[node]);
  }
  void cordon(const std::string& node, bool cordoned = true) {
    standings[node].unschedulable = cordoned;
    scheduler.node_takes(node, standings[node]);
  }

  // Pods of eight chips, one for each of these wishes.
  std::vector<PodRequest> gang(const std::string& name, const std::vector<NodeWishes>& wishes,
                               const std::vector<std::string>& roles = {}) {
    std::vector<PodRequest> out;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      ClusterPod pod;
      pod.request = request(name + "-" + std::to_string(i), 8);
      GangMark mark;
      mark.framework = "chipweave";
      mark.name = name;
      mark.size = static_cast<int>(wishes.size());
      if (!roles.empty()) mark.role = roles[i];
      pod.request.mark = std::make_shared<const GangMark>(std::move(mark));
      pod.gated = true;
      pod.nodes = std::make_shared<const NodeWishes>(wishes[i]);
      auto added = cluster.add(pod, "{}");
      if (!added) throw std::runtime_error(added.error().text());
      out.push_back((*added)->request);
    }
    return out;
  }
  // Where the pod's place is; "": it has none.
  std::string place(const PodRequest& one) const {
    const Holding* held = scheduler.ledger().find(one.uid);
    return held == nullptr ? "" : scheduler.nodes().node(held->node).name;
  }
  std::vector<std::string> places(const std::vector<PodRequest>& pods) const {
    std::vector<std::string> out;
    out.reserve(pods.size());
    for (const PodRequest& one : pods) out.push_back(place(one));
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string why(const std::string& gang) const {
    for (const auto& [id, one] : scheduler.gangs().all()) {
      if (one.name == gang) return scheduler.gang_view().status(one).why;
    }
    return "no such gang";
  }

  std::map<std::string, NodeStanding> standings;
};

TEST(GangNodes, KeepToTheNodeSelector) {
  NodesWorld w(6);
  for (const char* node : {"n1", "n4"}) w.label(node, "pool", "train");
  for (const char* node : {"n0", "n2"}) w.label(node, "pool", "other");
  const auto pods = w.gang("g", {selects("pool", "train"), selects("pool", "train")});
  w.check();
  EXPECT_THAT(w.places(pods), ElementsAre("n1", "n4"));
}

TEST(GangNodes, KeepOffTaintsThatThePodsDoNotTolerate) {
  NodesWorld w(4);
  for (const char* node : {"n0", "n1"}) w.taint(node, "dedicated");
  const auto others = w.gang("others", {NodeWishes{}, NodeWishes{}});
  w.check();
  EXPECT_THAT(w.places(others), ElementsAre("n2", "n3"));
  const auto theirs = w.gang("theirs", {tolerates("dedicated"), tolerates("dedicated")});
  w.check();
  EXPECT_THAT(w.places(theirs), ElementsAre("n0", "n1"));
}

TEST(GangNodes, ThatDoNotFitSayWhyAndHoldNobodyUp) {
  NodesWorld w(4);
  w.label("n0", "pool", "train");
  for (const char* node : {"n1", "n2", "n3"}) w.label(node, "pool", "other");
  w.gang("first", {selects("pool", "train"), selects("pool", "train")});
  w.check();
  EXPECT_THAT(w.why("first"), HasSubstr("its pods may not run on 3 of 4 nodes"));
  w.clock.advance(std::chrono::minutes(10));
  w.keep_reporting(4);
  const auto second = w.gang("second", {selects("pool", "other"), selects("pool", "other")});
  w.check();
  EXPECT_THAT(w.places(second), Each(AnyOf("n1", "n2", "n3")));
  // one more node for the first
  w.label("n1", "pool", "train");
  w.label("n2", "pool", "train");
  w.label("n3", "pool", "train");
  w.clock.advance(std::chrono::seconds(10));
  w.keep_reporting(4);
  w.check();
  EXPECT_EQ(w.why("first"), "0 of 2 pods are bound");
}

TEST(GangNodes, ThatAreCordonedBeforeTheGateOpensAreLeft) {
  NodesWorld w(3);
  const auto pods = w.gang("g", {NodeWishes{}, NodeWishes{}});
  w.check();
  ASSERT_THAT(w.places(pods), ElementsAre("n0", "n1"));
  w.cordon("n1");
  w.store.answer();
  w.check();
  EXPECT_THAT(w.places(pods), ElementsAre("n0", "n2"));
}

TEST(GangNodes, OfRolesThatDifferAreEachRolesOwn) {
  NodesWorld w(5);
  w.label("n3", "pool", "head");
  for (const char* node : {"n0", "n2"}) w.label(node, "pool", "worker");
  const auto pods =
      w.gang("g", {selects("pool", "head"), selects("pool", "worker"), selects("pool", "worker")},
             {"head", "worker", "worker"});
  w.check();
  EXPECT_EQ(w.place(pods[0]), "n3");
  EXPECT_THAT(w.places({pods[1], pods[2]}), ElementsAre("n0", "n2"));
}

// What a scheduler offers for a worker says nothing about nodes of the head's.
TEST(GangNodes, AnOfferForOneRoleMovesNoPodOfAnother) {
  NodesWorld w(5);
  w.label("n4", "pool", "head");
  for (const char* node : {"n0", "n1", "n2", "n3"}) w.label(node, "pool", "worker");
  const auto pods =
      w.gang("g", {selects("pool", "head"), selects("pool", "worker"), selects("pool", "worker")},
             {"head", "worker", "worker"});
  w.check();
  w.store.answer();
  w.check();
  const std::string before = w.place(pods[1]);
  const std::string beside = w.place(pods[2]);
  ASSERT_EQ(w.place(pods[0]), "n4");
  std::vector<std::string_view> offered;
  for (const std::string& node : w.names) {
    if (node != before && node != "n4") offered.emplace_back(node);
  }
  w.scheduler.extender().filter(pods[1], offered);
  EXPECT_EQ(w.place(pods[0]), "n4");
  EXPECT_EQ(w.place(pods[2]), beside);
  EXPECT_THAT(w.place(pods[1]), AnyOf("n0", "n1", "n2", "n3"));
  EXPECT_NE(w.place(pods[1]), before);
}

TEST(GangNodes, ThatAPodNamesAreItsOwn) {
  NodesWorld w(4);
  const auto pods = w.gang("g", {pinned_to("n3"), pinned_to("n1")});
  w.check();
  EXPECT_EQ(w.place(pods[0]), "n3");
  EXPECT_EQ(w.place(pods[1]), "n1");
}

TEST(GangNodes, OfManyDifferentWishesTheFirstCount) {
  const int count = static_cast<int>(SlotNodes::kMaxDifferent) + 4;
  NodesWorld w(count);
  std::vector<NodeWishes> wishes;
  for (int i = 0; i < count; ++i) {
    w.label("n" + std::to_string(i), "of", std::to_string(i));
    wishes.push_back(selects("of", std::to_string(i)));
  }
  const auto pods = w.gang("g", wishes);
  w.check();
  int right = 0;
  for (int i = 0; i < count; ++i)
    right += w.place(pods[static_cast<std::size_t>(i)]) == "n" + std::to_string(i) ? 1 : 0;
  EXPECT_GE(right, static_cast<int>(SlotNodes::kMaxDifferent));
  w.expect_sound();
}

// Kuhn's algorithm: whether each pod can have a node of its own.
bool can_be_matched(const std::vector<std::vector<bool>>& may) {
  const std::size_t nodes = may.front().size();
  std::vector<int> pod_of(nodes, -1);
  std::vector<bool> seen;
  const std::function<bool(std::size_t)> place = [&](std::size_t pod) {
    for (std::size_t node = 0; node < nodes; ++node) {
      if (!may[pod][node] || seen[node]) continue;
      seen[node] = true;
      if (pod_of[node] >= 0 && !place(static_cast<std::size_t>(pod_of[node]))) continue;
      pod_of[node] = static_cast<int>(pod);
      return true;
    }
    return false;
  };
  for (std::size_t pod = 0; pod < may.size(); ++pod) {
    seen.assign(nodes, false);
    if (!place(pod)) return false;
  }
  return true;
}

TEST(GangNodes, AreRightForRandomWishes) {
  std::mt19937 random(25);
  const auto roll = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  int fit = 0;
  int unfit = 0;
  for (int round = 0; round < 60; ++round) {
    NodesWorld w(5);
    for (int n = 0; n < 5; ++n) {
      const std::string node = "n" + std::to_string(n);
      w.label(node, "a", std::to_string(roll(2)));
      w.label(node, "b", std::to_string(roll(2)));
      if (roll(4) == 0) w.taint(node, "t");
      if (roll(6) == 0) w.cordon(node);
    }
    std::vector<NodeWishes> wishes;
    std::vector<std::string> roles;
    const int size = 2 + roll(3);
    for (int i = 0; i < size; ++i) {
      NodeWishes one = roll(2) == 0 ? selects("a", std::to_string(roll(2)))
                                    : selects("b", std::to_string(roll(2)));
      if (roll(3) == 0) one = {};
      if (roll(2) == 0) one.tolerations.push_back({"t", "Exists", "", ""});
      wishes.push_back(one);
      roles.push_back("r" + std::to_string(i));
    }
    std::vector<std::vector<bool>> may;
    for (const NodeWishes& one : wishes) {
      std::vector<bool>& row = may.emplace_back();
      for (int n = 0; n < 5; ++n) {
        const std::string node = "n" + std::to_string(n);
        row.push_back(domain::why_not_on(one, node, w.standings[node]).empty());
      }
    }
    const auto pods = w.gang("g", wishes, roll(2) == 0 ? roles : std::vector<std::string>{});
    w.check();
    const bool possible = can_be_matched(may);
    (possible ? fit : unfit) += 1;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const std::string node = w.place(pods[i]);
      ASSERT_EQ(!node.empty(), possible) << "round " << round << ": " << w.why("g");
      if (possible) {
        EXPECT_EQ(domain::why_not_on(wishes[i], node, w.standings[node]), "");
      }
    }
    w.expect_sound();
  }
  EXPECT_GT(fit, 10);
  EXPECT_GT(unfit, 10);
}

}  // namespace
}  // namespace chipweave::sched::test
