// ClaimPlanner — which node and which chips a pod gets that names ResourceClaims, and the chips
// that are kept for them until the claims themselves show them.
//
// All claims of a pod are planned together: on one node, with the Evaluator's scores. A plan is a
// reservation for each claim, which ends only with drop() or the term, or when the claim's devices
// become known (Reconciler): whatever happens to the write, no other pod gets the chips before its
// outcome is known. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/chip_division.hpp"
#include "scheduler-plugin/app/evaluator.hpp"
#include "scheduler-plugin/app/use_case.hpp"

namespace chipweave::sched {

// A claim that has no devices yet.
struct WantedClaim {
  std::string uid;
  PodKey key;
  std::vector<int> counts;              // of its requests
  std::vector<EqualAttribute> equal{};  // requests: positions in `counts`
};

struct WantedClaims {
  PodKey pod;
  std::string resource;  // empty: any
  solver::Room needs;
  std::vector<WantedClaim> claims;
};

// The devices of a node: attributes by the vendor index of the chip. Errors: why none of them may
// be given away.
using DevicesOf = std::function<Result<std::map<int, Attributes>>(const std::string& node)>;

struct ClaimPlan {
  NodeId node = kNoNode;
  // Vendor indices, by claim and request.
  std::vector<std::vector<std::vector<int>>> chips;
  double gbps = 0;
  double best_gbps = 0;
};

class ClaimPlanner : public UseCase {
 public:
  ClaimPlanner(Core& core, Evaluator& evaluator) : UseCase(core), evaluator_(evaluator) {}

  // The best plan on one of the nodes; changes nothing. Errors: conflict: none fits now, and why.
  Result<ClaimPlan> plan(const WantedClaims& wanted, std::span<const std::string_view> nodes,
                         const DevicesOf& devices);
  // Keeps the chips of the plan. Errors: conflict: they are not free.
  Result<void> hold(const WantedClaims& wanted, const ClaimPlan& plan);
  // Whether the chips that hold() has kept for the claim are still kept.
  bool holds(const std::string& claim_uid) const;
  void drop(const std::string& claim_uid);
  // For explain: why the pod waits, or where its claims are; empty: nothing is to be said any more.
  void note(const std::string& pod_uid, const std::string& text);

 private:
  std::optional<ClaimPlan> plan_on(const WantedClaims& wanted, NodeId node,
                                   const std::map<int, Attributes>& devices,
                                   DivisionWork& work) const;
  std::optional<ClaimPlan> plan_with(const WantedClaims& wanted, const PodRequest& request,
                                     std::span<const std::string_view> nodes,
                                     const DevicesOf& devices, std::string& why);

  Evaluator& evaluator_;
};

}  // namespace chipweave::sched
