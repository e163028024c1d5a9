// WaitingClaims — allocates the ResourceClaims of chipweave's classes that waiting pods name,
// before kube-scheduler looks at the pods (docs/tasks/enforce-with-dra.md).
//
// A class of chipweave is called `chipweave` or `chipweave-…`; no device matches its selector, so
// that kube-scheduler leaves a pod waiting until its claims are allocated here, and then binds it
// to the node of the allocation. If it cannot, it ends the allocation, and another node is planned.
// What is to be done follows from pods and claims as they are: after a kill or a change of the
// leader the next one goes on. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/dra/claim_certainty.hpp"
#include "scheduler-plugin/kube/dra/claim_watch.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/kube/waiting/claim_book.hpp"
#include "scheduler-plugin/kube/waiting/forgotten_claims.hpp"

namespace chipweave::sched {

class WaitingClaims {
 public:
  struct Options {
    // Devices without the taint are allocated, too: a policy of the cluster bars all other classes.
    bool untainted = false;
  };
  struct Events {
    // A pod waits, or its claims were allocated. Called again when the text changes.
    std::function<void(const PodKey&, const std::string& uid, const std::string& why)> waits;
    std::function<void(const PodKey&, const std::string& uid, const std::string& what)> allocated;
    std::function<void(const kube::WatchFailure&)> failed;
  };
  struct Stats {
    std::uint64_t allocated = 0;  // claims
    std::uint64_t reserved = 0;   // allocated claims for a further pod
    std::uint64_t refused_nodes = 0;
    std::uint64_t released = 0;  // allocations that were ended
    std::size_t waiting = 0;     // pods with such claims that are not all allocated
  };
  // All must outlive it. fence: KubeCluster::fence().
  WaitingClaims(kube::Transport& transport, Scheduler& scheduler, ClaimWatch& watch,
                ClaimCertainty& certainty, std::function<std::function<bool()>()> fence,
                Options options, Events events, const std::function<double()>& jitter);

  void start() { classes_watch_.start(); }
  void pod_seen(const codec::KubePod& pod);
  void pod_gone(const std::string& key);
  void claim_seen(const codec::KubeClaim& claim);
  void claim_gone(const std::string& key);
  // Claims that chipweave has begun to allocate.
  std::vector<codec::KubeClaim> begun() const;
  // Call it several times a second.
  void tick();
  Stats stats() const;

 private:
  struct RefusedNode {
    Backoff waits{{std::chrono::seconds(10), std::chrono::seconds(300), 0}};
    Clock::Steady until{};
  };
  struct Pod {
    PodKey key;
    std::string uid;
    int priority = 0;
    std::uint64_t arrival = 0;
    std::shared_ptr<const codec::ClaimsOfPod> claims;
    domain::NodeWishes nodes;  // where it may run
    solver::Room needs;
    bool gated = false;  // kube-scheduler may not look at it yet
    Clock::Steady next{};
    Clock::Steady not_before{};  // after the API server has refused a write
    bool open = true;            // not all allocated
    std::map<std::string, RefusedNode> refused;
    std::map<std::string, std::string> allocated_on;  // claims by uid, as last seen
    std::string note;
  };
  struct Ours {
    std::vector<const codec::KubeClaim*> claims;
    std::string problem;  // why they are not allocated
    std::string missing;  // a claim of the pod that is not known yet
  };
  Ours ours_of(const Pod& pod) const;
  bool all_allocated(const Pod& pod) const;
  void look(Pod& pod);
  void note_refusals(Pod& pod, const std::vector<const codec::KubeClaim*>& claims);
  void plan(Pod& pod, const std::vector<const codec::KubeClaim*>& open,
            const std::vector<const codec::KubeClaim*>& allocated);
  std::string node_of_all(const std::vector<const codec::KubeClaim*>& allocated) const;
  void plan_failed(Pod& pod, const std::vector<const codec::KubeClaim*>& allocated,
                   const std::string& why);
  void hold(Pod& pod, const std::vector<const codec::KubeClaim*>& open, const WantedClaims& wanted,
            const ClaimPlan& plan, const std::string& resource);
  std::vector<std::string_view> candidates(const Pod& pod, const std::string& only,
                                           std::string& why) const;
  void allocate(const Pod& pod, const codec::KubeClaim& claim, codec::ClaimAllocation allocation);
  void reserve(const Pod& pod, const codec::KubeClaim& claim);
  // Ends the allocations that no other pod uses; false: one is used by others.
  bool release(Pod& pod, const std::vector<const codec::KubeClaim*>& claims);
  void write(const codec::KubeClaim& claim, kube::ClaimWrite write, const std::string& pod_uid);
  void say(Pod& pod, std::string why);
  void begin_term();
  void look_soon(const std::string& uid);
  void forget_users(const Pod& pod);

  kube::Transport& transport_;
  Scheduler& scheduler_;
  const Clock& clock_;
  ClaimWatch& watch_;
  std::function<std::function<bool()>()> fence_;
  Options options_;
  Events events_;
  ClaimBook book_;
  ClaimCertainty& certainty_;
  ForgottenClaims forgotten_;
  kube::Reflector<codec::KubeDeviceClass> classes_watch_;
  std::map<std::string, Pod> pods_;                              // by uid
  std::map<std::string, std::string> uids_;                      // by "namespace/name"
  std::map<std::string, std::set<std::string>> users_;           // uids of pods_, by claim
  std::map<std::string, std::unique_ptr<kube::Ticket>> writes_;  // by the claim's uid
  std::uint64_t arrivals_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t gains_ = 0;
  std::uint64_t freed_ = 0;
  Clock::Steady again_{};  // after the list of claims failed
  Stats stats_;
};

}  // namespace chipweave::sched
