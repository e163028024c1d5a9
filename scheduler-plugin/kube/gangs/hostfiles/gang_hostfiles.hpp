// GangHostfiles — hostfile and rankfile of planned gangs whose pods ask for them
// (chipweave.dev/hostfile: NAME), for MPI: in a ConfigMap of that name in the pods' namespace, a
// line a pod in the order of the ranks.
//
// It is written once every rank of the plan has its pod, and again when that changes, while this
// replica leads. As long as a pod is missing, what is stored stays, so a reader never sees a part
// of a gang. Its owner is the gang's owner object, else the pod of rank 0: it goes with that, and
// is not deleted here. A ConfigMap that is not this gang's is left alone. Nothing waits for it;
// after a restart what is stored is compared with what is wanted. Owner: the loop thread; ends with
// its destructor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/codec/kube/objects/event.hpp"
#include "common/codec/network/hostfile.hpp"
#include "common/kube/config_map_keeper.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/gangs/hostfiles/pod_hosts.hpp"

namespace chipweave::sched {

// On each, with hostfile_mark() of its gang.
inline constexpr const char* kHostfileLabel = "chipweave.dev/hostfile";
// gang: GangTable's id
std::string hostfile_mark(std::string_view gang);

class GangHostfiles {
 public:
  static constexpr std::size_t kMaxGangs = 2'000;        // those that ask later have none
  static constexpr std::size_t kMaxBytes = 900'000;      // both files; an object has at most 1 MiB
  static constexpr std::size_t kSlotsATick = 4'000;      // and one gang more: about 3 ms of work
  static constexpr std::chrono::minutes kCheckEvery{5};  // whether others changed it

  struct Ways {
    // Whether what is wanted from now on may still be sent later (KubeCluster::fence).
    std::function<std::function<bool()>()> fence;
    // The owner object of the gang; nullopt: it is not known.
    std::function<std::optional<codec::EventObject>(const GangRef&)> owner;
    // Why a gang has no file, or not the one that it should have; once for each reason.
    std::function<void(const GangRef&, const std::string& why)> failed;
  };
  GangHostfiles(kube::Transport& transport, const Clock& clock, const Scheduler& scheduler,
                Ways ways, std::size_t max_bytes = kMaxBytes)
      : transport_(transport),
        clock_(clock),
        scheduler_(scheduler),
        ways_(std::move(ways)),
        max_bytes_(max_bytes) {}

  // Every pod as it is seen, and its key when it is gone.
  void pod_seen(const codec::KubePod& pod) { pods_.seen(pod); }
  void pod_gone(const std::string& key) { pods_.gone(key); }
  // Call it several times a second. leads: this replica leads and has synced. Cost: O(gangs that
  // ask), and O(pods) for those whose plan or pods changed.
  void tick(bool leads);

 private:
  // What a file was made of.
  struct Source {
    std::string plan;
    std::uint64_t version = 0;  // GangPlan::version
    std::uint64_t changes = 0;  // Gang::changes
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct File {
    bool pods_changed = true;
    Source source;
    std::string name;                               // of the ConfigMap
    std::string problem;                            // that was reported last
    std::unique_ptr<kube::ConfigMapKeeper> keeper;  // null: none yet
  };
  struct Content {
    std::string name;  // of the ConfigMap
    std::vector<codec::Host> hosts;
    codec::ObjectOwner first;  // the pod of rank 0
  };

  void take_changed_pods();
  void update(const Gang& gang, const GangPlan& plan, File& file);
  // nullopt: a pod is missing. Errors: invalid_argument, naming the pod.
  Result<std::optional<Content>> content_of(const Gang& gang, const GangPlan& plan) const;
  void keep(const Gang& gang, File& file, const Content& content);
  std::unique_ptr<kube::ConfigMapKeeper> keeper_of(const Gang& gang, const std::string& name);
  void report(const std::string& gang, const std::string& problem);

  kube::Transport& transport_;
  const Clock& clock_;
  const Scheduler& scheduler_;
  Ways ways_;
  std::size_t max_bytes_;
  PodHosts pods_;
  std::map<std::string, File, std::less<>> files_;  // by gang; empty while another replica leads
  std::optional<std::uint64_t> term_;               // Authority::term(); nullopt: none
  std::uint64_t made_ = 0;                          // keepers
};

}  // namespace chipweave::sched
