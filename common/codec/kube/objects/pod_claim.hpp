// PodClaim — the ResourceClaim that stands for the chips of a pod which requests an extended
// resource ("nvidia.com/gpu: 5"), as chipweave makes it when it binds the pod, and its allocation.
//
// Kubernetes 1.36 (DRAExtendedResource, beta): the kubelet follows the claim that the pod's status
// names. The claim has one request for each chip, so that any container can be given any of them;
// an init container uses chips of the others, as without claims. Source:
// k8s.io/api/resource/v1, and core/v1 PodExtendedResourceClaimStatus.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::codec {

// On claims that were made for a pod because of its extended resources.
inline constexpr const char* kExtendedResourceClaim =
    "resource.kubernetes.io/extended-resource-claim";

inline constexpr const char* kPodClaimPrefix = "chipweave-";

struct PodClaim {
  std::string ns;
  std::string pod;
  std::string pod_uid;
  std::string resource;      // "nvidia.com/gpu"
  std::string device_class;  // its devices are given away by chipweave only
  std::string node;
  std::vector<ClaimedDevice> devices;  // one for each chip of the pod
  // Positions in `devices` of what each container gets, by its name; containers without chips are
  // not in it.
  std::map<std::string, std::vector<std::size_t>> containers;

  // The same for every attempt: a claim that a killed scheduler left behind is found again.
  std::string name() const { return kPodClaimPrefix + pod_uid; }
};

// The claim without its allocation, owned by the pod.
std::string write_pod_claim(const PodClaim& claim);
// The body of a PUT on its status: allocated on the node, and reserved for the pod. time: RFC 3339.
std::string write_pod_claim_allocation(const PodClaim& claim, const ObjectVersion& of,
                                       const std::string& time);
// The body of a PUT on its status that ends the allocation.
std::string write_pod_claim_release(const std::string& ns, const std::string& name,
                                    const ObjectVersion& of);
// A merge patch of the pod's status: which claim, and which requests are whose.
std::string write_pod_claim_status(const PodClaim& claim);

// What a pod's status says about it.
struct PodClaimStatus {
  std::string claim;                                           // its name; empty: the pod has none
  std::string resource;                                        // of its containers' chips
  std::map<std::string, std::vector<std::size_t>> containers;  // as PodClaim's
};
// Of a Pod document. Errors: invalid_argument, with the key; a request that is not one of
// write_pod_claim's, or more than one resource.
Result<PodClaimStatus> read_pod_claim_status(std::string& body);

// A stored claim, to be compared with the one that is wanted.
struct StoredClaim {
  ObjectVersion version;
  std::string owner_uid;               // of the pod that owns it; empty: none
  bool ending = false;                 // being deleted
  std::vector<ClaimedDevice> devices;  // in the order of the requests' names
  std::vector<std::string> pods;       // uids of the pods that it is reserved for
};
// Errors: invalid_argument, with the key.
Result<StoredClaim> read_stored_claim(std::string& body);

// Whether it is the allocation of that claim, for its pod.
bool is_allocated_as(const StoredClaim& stored, const PodClaim& wanted);

}  // namespace chipweave::codec
