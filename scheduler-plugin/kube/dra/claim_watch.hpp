// ClaimWatch — chips that are allocated through DRA ResourceClaims and must not be given to pods.
//
// A claim names devices in a driver's pool, which is named after its node; which chips these are is
// in the driver's ResourceSlices. A claim counts like a pod of another scheduler
// (Reconciler::pod_added): with its chips once they are known, until then with their number. One
// that kube-scheduler or chipweave made for a pod which requests an extended resource does not
// count beside that pod: it tells which chips the pod has. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/kube/device_catalog.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// A claim that chipweave made for a pod.
struct ClaimOfPod {
  std::string ns;
  std::string name;
  std::string pod_uid;
  std::string pod;  // its name; empty: the claim is not reserved for it
};

// "driver/pool/device".
std::string text_of(const codec::ClaimedDevice& device);

class ClaimWatch {
 public:
  struct Events {
    std::function<void()> known;                            // each time known() may have changed
    std::function<void(const kube::WatchFailure&)> failed;  // the watch retries after it
    std::function<void(const codec::KubeClaim&)> seen{};    // each claim, new or changed
    std::function<void(const std::string&)> gone{};         // "namespace/name"
  };
  // nodes must outlive it.
  ClaimWatch(kube::Transport& transport, ClusterListener& listener, const NodeTable& nodes,
             Events events, const std::function<double()>& jitter);

  void start();
  // Whether all claims and slices were listed once, as far as the API server serves them. Where it
  // forbids the list of slices, only the number of chips is known.
  bool known() const {
    return (no_claims_ || claims_watch_.synced()) &&
           (no_slices_ || slices_forbidden_ || slices_watch_.synced());
  }
  // Whether all slices were listed once.
  bool slices_known() const { return slices_watch_.synced(); }
  // Whether the API server serves claims and slices, as far as is known.
  bool served() const { return !no_claims_ && !no_slices_; }
  // Takes what was received outside the watch, if it is newer than the last reported one.
  void note(codec::KubeClaim claim) { claims_watch_.note(std::move(claim)); }
  void note(codec::KubeSlice slice) { slices_watch_.note(std::move(slice)); }
  // Looks again for the chips of claims whose devices or nodes were not known. Call it several
  // times a second. O(claims whose chips are not known).
  void check();
  // Claims whose devices are not known to be chips of their node.
  std::size_t unknown() const { return unknown_.size(); }
  const kube::DeviceCatalog& devices() const { return catalog_; }
  // Whether a claim of chipweave's has devices and is reserved for that pod alone.
  bool has_claim_of(const std::string& ns, const std::string& pod_uid) const;
  // A claim that has one of the devices, apart from the one for that pod; empty: none.
  std::string holder_of(const std::vector<codec::ClaimedDevice>& devices,
                        const std::string& pod_uid) const;

  // Whether a claim that was made for a pod is used by it. Those that are used are not asked about
  // again. Returns a leftover.
  enum class Use { unknown, used, leftover };
  std::optional<ClaimOfPod> next_unsettled(const std::function<Use(const ClaimOfPod&)>& use);
  // It is not asked about again unless it changes.
  void settled(const ClaimOfPod& claim) { unsettled_.erase(claim.ns + "/" + claim.name); }

 private:
  // The devices of a claim on one node, of one driver.
  struct Held {
    ClusterPod pod;  // stands for it; of a claim for a pod: that pod's uid
    bool of_pod = false;
    std::vector<codec::ClaimedDevice> devices;
    std::optional<std::vector<int>> chips;
  };
  void take(const codec::KubeClaim& claim);
  void drop(const std::string& key);
  void failed(bool& no_api, const kube::WatchFailure& failure);
  std::string_view resource_of(const codec::ClaimedDevice& device) const;
  std::vector<Held> held_by(const codec::KubeClaim& claim) const;
  std::optional<std::vector<int>> chips_now(const Held& held) const;
  void announce(const Held& held, bool fresh);

  ClusterListener& listener_;
  const NodeTable& nodes_;
  Events events_;
  bool no_claims_ = false;  // the API server does not serve them
  bool no_slices_ = false;
  bool slices_forbidden_ = false;
  std::map<std::string, std::vector<Held>> held_;  // by claim
  // Claims, by the devices that they have (text_of).
  std::map<std::string, std::set<std::string>> holders_;
  std::map<std::string, ClaimOfPod> unsettled_;  // chipweave's own, by claim
  std::set<std::string> unknown_;                // claims with devices whose chips are not known
  kube::DeviceCatalog catalog_;
  kube::Reflector<codec::KubeClaim> claims_watch_;
  kube::Reflector<codec::KubeSlice> slices_watch_;
};

}  // namespace chipweave::sched
