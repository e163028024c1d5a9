// SimulatedApi — an API server behind an unreliable network, as a Transport: pods, NodeInventories,
// Leases and Nodes with versions and watches, bindings that arrive late or whose answers get lost.
//
// Nothing happens by itself: a request waits until take(), a watch until feed(), and time passes
// only in pass(). A test can therefore interleave them in any order and compare with the server's
// own state.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/transport.hpp"
#include "tests/unit/sched_kube/simulated_claims.hpp"
#include "tests/unit/sched_kube/simulated_config_maps.hpp"
#include "tests/unit/sched_kube/simulated_objects.hpp"

namespace chipweave::sched::test {

class SimulatedApi {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr const char* kPods = "/api/v1/pods";
  static constexpr const char* kInventories = "/apis/chipweave.dev/v1alpha1/nodeinventories";
  static constexpr const char* kNodes = "/api/v1/nodes";
  static constexpr const char* kClaims = "/apis/resource.k8s.io/v1/resourceclaims";
  static constexpr const char* kSlices = "/apis/resource.k8s.io/v1/resourceslices";

  static constexpr const char* kClasses = "/apis/resource.k8s.io/v1/deviceclasses";

  SimulatedApi();
  ~SimulatedApi();
  SimulatedApi(const SimulatedApi&) = delete;
  SimulatedApi& operator=(const SimulatedApi&) = delete;

  // --- the server's state
  std::map<std::string, ServerPod> pods;
  std::vector<std::string> events;   // reasons of the events that were posted
  std::vector<std::string> notes;    // and their messages
  std::vector<std::string> touched;  // nodes that were patched
  // By path: the media types that the last list or watch accepts.
  std::map<std::string, std::string> accepts;
  bool streaming_lists = true;
  bool controllers = true;  // whether kube-controller-manager frees claims of pods that are gone
  bool claims_api = true;   // whether it serves ResourceClaims and ResourceSlices
  // How long a binding may be in transit before it is lost.
  Milliseconds binding_timeout{60'000};
  SimulatedLeases leases;
  SimulatedClaims pod_claims;  // made by clients
  SimulatedConfigMaps config_maps;
  std::map<std::string, std::map<std::string, std::string>> labelled;  // labels patched onto pods

  void create(ServerPod pod);
  void remove(const std::string& key);
  // As remove() with a grace period.
  void begin_end(const std::string& key);
  // Its containers run.
  void set_started(const std::string& key);
  // As another scheduler or a user would: without admission.
  void set_node(const std::string& key, const std::string& node,
                const std::map<std::string, std::string>& annotations = {});
  void annotate(const std::string& key, const std::string& name, const std::string& value);
  void remove_gate(const std::string& key, const std::string& gate);
  // As kube-scheduler does after an attempt in vain: with the node of its victims, or none, and a
  // message.
  void reject(const std::string& key, const std::string& message,
              const std::string& nominated = {});
  // status: JSON; empty: the object is deleted.
  void set_inventory(const std::string& node, const std::string& status);
  // Node objects, which the scheduler does not need to place pods.
  // cores: CPU for pods, with 1 TiB of memory; 0: not given.
  // taint: its key; the node keeps it.
  void create_tainted_node(const std::string& name, const std::string& taint);
  void create_node(const std::string& name, int cores = 0,
                   const std::map<std::string, std::string>& labels = {},
                   const std::map<std::string, std::string>& annotations = {});
  void delete_node(const std::string& name);
  // devices: driver and pool; none: the claim is deleted. pod: as claim_json().
  void set_claim(const std::string& name,
                 const std::vector<std::pair<std::string, std::string>>& devices,
                 const std::string& pod = "");
  // The devices of a node, by id; none: the slice is deleted. managed: no other allocator gives
  // them away.
  void set_slice(const std::string& node, const std::vector<std::string>& ids,
                 bool managed = false);
  // Whether the server has the collection at that path, of objects without a field here; it begins
  // without objects.
  void serve(const std::string& path);
  // rest: the members of an object besides metadata, as JSON: "spec":{…}; empty: it is deleted.
  void set_document(const std::string& path, const std::string& name, const std::string& rest);
  // A DeviceClass with this selector.
  void set_class(const std::string& name, const std::string& selector = "false");
  // Claims as others make and change them.
  void create_claim(const SimulatedClaims::Wanted& wanted) {
    pod_claims.create(wanted, version_, told());
  }
  void end_allocation(const std::string& claim) {
    pod_claims.end_allocation(claim, version_, told());
  }
  // As SimulatedConfigMaps::set().
  void set_config_map(const std::string& name, const nlohmann::json& object) {
    config_maps.set(name, object, version_, told_of_config_maps());
  }
  void remove_claim(const std::string& claim) { pod_claims.remove(claim, version_, told()); }
  void reserve(const std::string& claim, const std::string& pod_uid) {
    pod_claims.reserve(claim, pod_uid, version_, told());
  }
  // The next request for a claim is answered with this status code.
  void refuse_next_claim(int code) { claim_refusal_ = code; }
  // Grows with each change of any object.
  std::uint64_t version() const { return version_; }
  // Watches that start before this point are answered 410 Expired.
  void forget_history();

  // --- the network
  // One process's connection. After a restart a process connects again; requests of the old
  // connection are dropped with it.
  std::unique_ptr<kube::Transport> connect(std::shared_ptr<SimulatedProcess> by);
  // Its requests need no take(): they are answered after one millisecond.
  std::unique_ptr<kube::Transport> connect_at_once(std::shared_ptr<SimulatedProcess> by);

  std::size_t waiting() const;
  // The body of the n-th waiting request.
  const std::string& body_of(std::size_t n) const;
  // The next binding is answered with this status code and message (inside a JSON string).
  void refuse_next_binding(int code, std::string message = "refused");
  // Annotations are answered with this status code until it is 0 again.
  void refuse_annotations(int code);
  std::size_t refused_annotations() const;
  // The first waiting request that matches.
  std::optional<std::size_t> find(const std::function<bool(const kube::Call&)>& such) const;
  // How many waiting requests match.
  std::size_t count(const std::function<bool(const kube::Call&)>& such) const;
  enum class Fate { answered, lost_before, lost_after };
  // The n-th waiting request reaches the server; its answer stays on the way until take().
  void read(std::size_t n);
  // The n-th waiting request reaches the server (or not), and its answer its caller (or not).
  void take(std::size_t n, Fate fate);
  // The n-th request times out at its caller but may still arrive.
  void detach(std::size_t n);
  // The n-th detached request arrives. None arrives later than binding_timeout.
  void deliver_detached(std::size_t n);
  std::size_t detached() const;
  void drop_detached();

  std::size_t watches() const;
  // Of the collection at that path.
  bool watches(std::size_t n, std::string_view path) const;
  // Up to `most` events reach the n-th watch; false if there was none.
  bool feed(std::size_t n, std::size_t most);
  void cut(std::size_t n);
  void pass(Milliseconds time);
  // Everything that can happen without time passing does.
  void settle();

 private:
  struct Network;
  class Wire;
  kube::Reply answer(const kube::Call& call);

  kube::Reply answer_claim(const kube::Call& call, const std::string& path);
  SimulatedClaims::Changed told();
  SimulatedConfigMaps::Changed told_of_config_maps();

  int claim_refusal_ = 0;
  std::unique_ptr<Network> network_;
  std::uint64_t version_ = 1;
  std::map<std::string, std::string> taints_;  // by node, as a member of its spec
  std::uint64_t uids_ = 0;
};

}  // namespace chipweave::sched::test
