// Internal to SimulatedApi: ResourceClaims that clients make, with the API server's rules about
// them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/kube/transport.hpp"

namespace chipweave::sched::test {

class SimulatedClaims {
 public:
  // A change, to be told to watches: "ADDED", "MODIFIED" or "DELETED", and the object.
  using Changed = std::function<void(const std::string&, const std::string&)>;

  // A request for one claim, or a POST.
  static bool mine(const kube::Call& call, const std::string& path);
  kube::Reply answer(const kube::Call& call, const std::string& path, std::uint64_t& version,
                     const Changed& changed);
  // As a person, or kube-controller-manager from a template: requests of this class with so many
  // devices each. owner: uid of the pod that it is generated for; empty: none.
  struct Wanted {
    std::string name;
    std::string device_class = "chipweave-gpu";
    std::vector<int> counts;
    std::string match;  // attribute that all devices have in common; empty: none
    std::string owner;
  };
  void create(const Wanted& wanted, std::uint64_t& version, const Changed& changed);
  // As kube-scheduler, when it cannot use the node of the allocation.
  void end_allocation(const std::string& name, std::uint64_t& version, const Changed& changed);
  // As kube-controller-manager, when it takes the claim's pod for gone.
  void remove(const std::string& name, std::uint64_t& version, const Changed& changed);
  // As kube-scheduler, when it binds a further pod.
  void reserve(const std::string& name, const std::string& pod_uid, std::uint64_t& version,
               const Changed& changed);
  // Null: there is no such claim.
  const nlohmann::json* find(const std::string& name) const;
  // Devices, as "pool/device", of all claims.
  std::vector<std::string> allocated() const;
  // Those of them that several claims have.
  std::vector<std::string> allocated_twice() const;
  // What the controllers do after a pod is gone: its claims are deleted, and those of others that
  // were reserved for it alone are free.
  void collect(const std::function<bool(const std::string&)>& pod_exists, std::uint64_t& version,
               const Changed& changed);
  std::vector<std::string> objects() const;
  // The devices of the claim, by its name; none: there is no such claim, or it is not allocated.
  std::vector<std::string> devices(const std::string& name) const;
  // Uids of the pods that have a claim.
  std::vector<std::string> owners() const;

 private:
  using Json = nlohmann::json;
  kube::Reply patch(const kube::Call& call, const std::string& path, std::uint64_t& version,
                    const Changed& changed);
  void change(Json& claim, std::uint64_t& version, const Changed& changed);
  kube::Reply put_status(Json body, std::uint64_t& version, const Changed& changed);

  std::map<std::string, Json> all_;  // by name: there is one namespace
  std::uint64_t uids_ = 0;
};

}  // namespace chipweave::sched::test
