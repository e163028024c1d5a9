// The fast planner of uniform pods against the slow one that tries all placements, on fabrics too
// large for the oracle: the same pods placed, the same domains, the same tightness. They share only
// the fabric.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/solver/gang/mixed/exact_sets.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;

struct AgreementCase {
  Fabric fabric;
  Gang gang;
};

AgreementCase random_agreement_case(std::mt19937& random) {
  const auto upto = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  const int levels = 1 + upto(2);
  AgreementCase c{Fabric(static_cast<std::size_t>(levels)), {}};
  const int nodes = 10 + upto(25);
  const bool hosts = upto(1) == 0;
  const int many = upto(1) == 0 ? 19 : 5;
  for (int i = 0; i < nodes; ++i) {
    std::vector<std::string> path(static_cast<std::size_t>(levels));
    for (int level = 0; level < levels; ++level)
      path[static_cast<std::size_t>(level)] =
          hosts && level + 1 == levels ? "n" + std::to_string(i) : "d" + std::to_string(upto(3));
    const auto id = c.fabric.add("n" + std::to_string(i), path);
    c.fabric.set_free(*id, upto(8));
    if (upto(9) == 0) c.fabric.set_max_pods(*id, upto(4));
    c.fabric.set_healthy(*id, upto(14) != 0);
    if (upto(many) == 0) c.gang.existing[*id].pods = 1 + upto(2);
  }
  c.gang.pods = 5 + upto(35);
  c.gang.chips_per_pod = 1 + upto(2);
  if (upto(3) == 0) c.gang.required_level = upto(levels - 1);
  int size = 1 + upto(2);
  for (int level = levels - 1; level >= std::max(0, c.gang.required_level) && upto(1) == 0;
       --level) {
    c.gang.slices.insert(c.gang.slices.begin(), domain::Slice{level, size});
    size *= 2;
  }
  return c;
}

// Used domains per level, then nodes; then the free chips in them.
std::vector<std::int64_t> value(const AgreementCase& c, const std::set<FabricNodeId>& nodes) {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> tight;
  for (int level = 0; level < static_cast<int>(c.fabric.levels()); ++level) {
    std::set<DomainId> used;
    for (const FabricNodeId node : nodes) used.insert(c.fabric.domain_of(node, level));
    for (const auto& [node, here] : c.gang.existing) used.erase(c.fabric.domain_of(node, level));
    std::int64_t free = 0;
    for (FabricNodeId id = 0; id < c.fabric.node_numbers(); ++id)
      if (used.contains(c.fabric.domain_of(id, level)) && c.fabric.node(id).healthy)
        free += c.fabric.node(id).free;
    counts.push_back(static_cast<std::int64_t>(used.size()));
    tight.push_back(free);
  }
  std::int64_t fresh = 0;
  std::int64_t free = 0;
  for (const FabricNodeId node : nodes) {
    if (c.gang.existing.contains(node)) continue;
    ++fresh;
    free += c.fabric.node(node).free;
  }
  counts.push_back(fresh);
  tight.push_back(free);
  counts.insert(counts.end(), tight.begin(), tight.end());
  return counts;
}

std::string agreement_text_of(const AgreementCase& c) {
  std::string text = std::to_string(c.gang.pods) + " pods of " +
                     std::to_string(c.gang.chips_per_pod) + ", required " +
                     std::to_string(c.gang.required_level);
  for (const domain::Slice& s : c.gang.slices)
    text += ", slice " + std::to_string(s.level) + ":" + std::to_string(s.size);
  for (FabricNodeId id = 0; id < c.fabric.node_numbers(); ++id) {
    const FabricNode& node = c.fabric.node(id);
    text += "\n" + node.name + " " + path_text(c.fabric, node.domain) + " free " +
            std::to_string(node.free) + (node.healthy ? "" : " unhealthy") +
            (node.max_pods == kUnlimitedPods ? "" : " max " + std::to_string(node.max_pods));
    if (const auto at = c.gang.existing.find(id); at != c.gang.existing.end())
      text += " has " + std::to_string(at->second.pods);
  }
  return text;
}

TEST(PlannerAgreement, AsGoodAsLookingAtAllWays) {
  std::mt19937 random(20'260'202);
  int fit = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    const AgreementCase c = random_agreement_case(random);
    SCOPED_TRACE(agreement_text_of(c));
    const std::vector<std::string> levels(c.fabric.levels(), "level");
    const domain::Plan plan = plan_gang(c.fabric, levels, c.gang);
    const auto exact = place_sets_exactly(c.fabric, c.gang, group_pods(c.gang), std::nullopt);
    ASSERT_TRUE(exact);
    std::set<FabricNodeId> fast;
    for (const domain::PlannedPod& pod : plan.pods) fast.insert(pod.node);
    std::set<FabricNodeId> slow;
    std::size_t pods = 0;
    for (const KindShare& share : exact->shares) {
      slow.insert(share.node);
      pods += static_cast<std::size_t>(share.pods);
    }
    int running = 0;
    for (const auto& [node, here] : c.gang.existing) running += here.pods;
    const bool whole = std::all_of(
        c.gang.slices.begin(), c.gang.slices.end(),
        [&](const domain::Slice& slice) { return (c.gang.pods + running) % slice.size == 0; });
    if (!whole) continue;
    EXPECT_EQ(plan.fits, exact->fits) << plan.reason << " / " << exact->reason;
    EXPECT_EQ(plan.pods.size(), pods);
    EXPECT_EQ(value(c, fast), value(c, slow));
    fit += plan.fits ? 1 : 0;
  }
  EXPECT_GT(fit, 500);
}

// Shortcuts above the limits cost tightness, never an additional domain.
TEST(PlannerAgreement, AsFewDomainsWithoutKeepingAllWays) {
  std::mt19937 random(20'260'303);
  int fit = 0;
  for (int i = 0; i < 1500; ++i) {
    const AgreementCase c = random_agreement_case(random);
    SCOPED_TRACE(agreement_text_of(c));
    UniformRequest request;
    request.kind = {c.gang.pods, c.gang.chips_per_pod, std::vector<int>(c.fabric.levels(), 1)};
    for (const domain::Slice& slice : c.gang.slices)
      request.kind.slices[static_cast<std::size_t>(slice.level)] = slice.size;
    request.candidates = {kRootDomain};
    NodeUsages usages;
    for (const auto& [node, here] : c.gang.existing) usages[node].running = here.pods;
    const auto counts = [&](FoldLimits limits) {
      request.limits = limits;
      const UniformPlacement placed = place_uniform(c.fabric, usages, request);
      std::set<FabricNodeId> nodes;
      int pods = 0;
      for (const auto& [node, share] : placed.shares) {
        nodes.insert(node);
        pods += share;
      }
      EXPECT_EQ(pods, placed.placed);
      std::vector<std::int64_t> out = value(c, nodes);
      out.resize(c.fabric.levels() + 1);
      out.push_back(pods);
      return out;
    };
    const std::vector<std::int64_t> best = counts({});
    EXPECT_EQ(counts({FoldLimits{}.cells, 0}), best) << "traced";
    EXPECT_EQ(counts({0, 0}), best) << "chosen";
    fit += best.back() > 0 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(fit, 1000);
}

}  // namespace
}  // namespace chipweave::solver
