// ClaimBook — the claims of chipweave's classes, and these classes, as the API server shows them;
// and what such a claim asks for, or why that cannot be served. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/dra/claim_writes.hpp"
#include "scheduler-plugin/app/claim_planner.hpp"

namespace chipweave::sched {

// `chipweave`, or a name that begins with `chipweave-`.
bool is_our_class(std::string_view device_class);

// On a DeviceClass: the extended resource whose chips it gives; absent: any.
inline constexpr const char* kClassResource = "chipweave.dev/resource";

class ClaimBook {
 public:
  void take(const codec::KubeClaim& claim);
  void drop(const std::string& key) {
    claims_.erase(key);
    others_.erase(key);
  }
  void take(codec::KubeDeviceClass device_class);
  void drop_class(const std::string& name) { classes_.erase(name); }

  // Null: it is not known, or not of chipweave's classes. key: "namespace/name".
  const codec::KubeClaim* find(const std::string& key) const;
  // Whether it is known, and not of chipweave's classes.
  bool is_others(const std::string& key) const { return others_.contains(key); }
  const std::map<std::string, codec::KubeClaim>& claims() const { return claims_; }

  // Why chipweave does not allocate the claim, in words for its owner; empty: it does.
  std::string refusal(const codec::KubeClaim& claim) const;
  // The resource that its classes name; empty: any. Errors: conflict: they name several.
  Result<std::string> resource_of(const std::vector<const codec::KubeClaim*>& claims) const;
  // Precondition: it is not refused.
  static WantedClaim wanted(const codec::KubeClaim& claim);
  // chips: by request, see ClaimPlan. device: of a chip.
  codec::ClaimAllocation allocation(const codec::KubeClaim& claim, const std::string& node,
                                    const std::vector<std::vector<int>>& chips,
                                    const std::function<codec::ClaimedDevice(int)>& device) const;

 private:
  std::map<std::string, codec::KubeClaim> claims_;  // by "namespace/name"
  std::set<std::string> others_;                    // likewise
  std::map<std::string, codec::KubeDeviceClass> classes_;
};

// The node that the claim is allocated on; empty: not one alone.
std::string node_of(const codec::KubeClaim& claim);

}  // namespace chipweave::sched
