// KubeCluster — the pods of a Kubernetes cluster that wait or hold chips, kept up to date by list
// and watch, and bindings with annotations.
//
// Finished pods (Succeeded, Failed) are dropped, and of bound pods without chips only the CPU and
// memory that they request is kept, unless they belong to a gang; labels are reduced to the job
// identity. Once seen bound, a pod stays bound: older versions that the watch delivers
// later are ignored. A bound pod whose request would be refused has the chips that it uses
// (CountedRequest::used), and one that was refused while it waited is delivered as gone, then as
// added. Owner: the loop thread; ends with its destructor.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/base/sharded_map.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/kube/dra/claim_allocator.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/leadership.hpp"

namespace chipweave::sched {

class KubeCluster final : public Cluster {
 public:
  struct Events {
    std::function<void()> synced;                           // after each complete list
    std::function<void(const kube::WatchFailure&)> failed;  // the watch failed and will be retried
  };
  // resources must outlive the cluster.
  KubeCluster(kube::Transport& transport, const ResourceTable& resources, Events events,
              std::function<double()> jitter);

  void set_listener(ClusterListener* listener) { listener_ = listener; }
  // No binding is sent after the term that requested it. Null (the default): there is only this
  // replica.
  void set_leadership(const Leadership* leadership) { leadership_ = leadership; }
  // Makes the claims of bind orders. Null (the default): such orders are refused.
  void set_claims(ClaimAllocator* claims) { claims_ = claims; }
  // Called with every pod, waiting or bound, as it is seen, and by its key when it is gone or has
  // ended. Set them before start().
  void set_watchers(std::function<void(const codec::KubePod&)> seen,
                    std::function<void(const std::string&)> gone) {
    seen_ = std::move(seen);
    gone_too_ = std::move(gone);
  }
  // What refresh_node() does first.
  using BeforeRefresh = std::function<void(const std::string& node, Done)>;
  void set_before_refresh(BeforeRefresh first) { before_refresh_ = std::move(first); }
  // Whether what is requested now may still be sent later. Empty: it always may.
  std::function<bool()> fence() const;
  void start() { pods_watch_.start(); }
  // Whether all pods were listed once.
  bool synced() const { return pods_watch_.synced(); }

  const ClusterPod* find(const PodKey& key) const override;
  void bind(const BindOrder& order, Done done) override;
  void hand_over(const BindOrder& order, Done done) override;
  void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                Done done) override;
  void ungate(const UngateOrder& order, Done done) override;
  void nominate(const Binding& place, Done done) override;
  void refresh(const PodKey& key, Done done) override;
  void refresh_node(const std::string& node, Done done) override;
  Result<void> end(const PodKey& key) override;
  std::size_t each_after(std::uint64_t arrival, std::size_t most,
                         const std::function<void(const ClusterPod&)>& visit) const override;
  std::size_t size() const override { return pods_.size(); }
  // Deletions that answers of calls in flight may not show yet.
  std::size_t recent_deletions() const { return gone_.size(); }

 private:
  void take(codec::KubePod&& seen);
  void drop(const std::string& key);
  void drop_entry(const std::string& key);
  struct Entry {
    ClusterPod pod;
    bool placement_known = false;  // bound, with a known placement
    std::size_t rejection = 0;     // hash of KubePod::rejection
    bool counted = false;          // bound, and its CPU and memory were reported
  };
  // What a bound pod without chips takes from its node.
  struct BareUse {
    std::string node;
    NodeUse use;
  };
  ClusterPod take_out(const std::string& key, Entry& entry);
  ClusterPod made_of(const codec::KubePod& seen) const;
  void count_use(Entry& entry);
  void count_bare(const std::string& key, const codec::KubePod& seen);
  void end_bare(const std::string& key);
  void take_mark(Entry& entry, const codec::KubePod& seen);
  void take_nodes(ClusterPod& pod, const codec::KubePod& seen);
  void take_status(Entry& entry, const codec::KubePod& seen);
  void take_gates(ClusterPod& pod, const codec::KubePod& seen);
  void bound(const Binding& binding, const Result<void>& result, const Done& done);
  void refreshed(const PodKey& key, std::uint64_t call, Result<kube::Reply> reply,
                 const Done& done);
  void list_node(const std::string& node, int tries_left, Done done);
  void listed(const std::string& node, std::uint64_t call, int tries_left,
              Result<kube::Reply> reply, const Done& done);
  void bind_now(const Binding& binding, const Annotations& annotations, Done done);
  // A binding that is preceded by a claim.
  struct ClaimedBinding {
    codec::PodClaim claim;
    std::function<bool()> fence;  // of the term that requested it
    Done done;
  };
  void allocate(const BindOrder& order, Done done, std::function<void(const ClaimedBinding&)> then);
  void claimed_pod_bound(const ClaimedBinding& what, const Result<void>& result);
  void end_claim(const ClaimedBinding& what, const Result<void>& why);
  // Makes a call; `took` receives its number and answer.
  void ask(kube::Call call, std::function<void(std::uint64_t, Result<kube::Reply>)> took);
  // Whether the pod may have been deleted after the call was made: its answer may be older.
  bool gone_since(std::uint64_t call, const std::string& key) const;
  void keep(std::unique_ptr<kube::Ticket> ticket) { tickets_[++calls_] = std::move(ticket); }
  Done ending(Done done);
  std::unique_ptr<kube::Ticket> end_call(std::uint64_t number);
  void forget_deletions();

  kube::Transport& transport_;
  const ResourceTable& resources_;
  ClusterListener* listener_ = nullptr;
  const Leadership* leadership_ = nullptr;
  ClaimAllocator* claims_ = nullptr;
  std::function<void(const codec::KubePod&)> seen_;
  std::function<void(const std::string&)> gone_too_;
  BeforeRefresh before_refresh_;
  ShardedMap<Entry> pods_;    // by "namespace/name"
  ShardedMap<BareUse> bare_;  // likewise, of bound pods without chips
  std::uint64_t arrivals_ = 0;
  std::shared_ptr<const domain::NodeWishes>
      wishes_;  // of the last pod; pods of a gang share theirs
  std::map<std::uint64_t, const ClusterPod*> by_arrival_;
  kube::Reflector<codec::KubePod> pods_watch_;
  codec::WatchReader<codec::KubePod> reader_;
  std::map<std::uint64_t, std::unique_ptr<kube::Ticket>> tickets_;
  std::uint64_t calls_ = 0;
  // Pods deleted while calls are in flight, with the number of the last call made before: answers
  // up to that call may predate the deletion.
  std::map<std::string, std::uint64_t> gone_;
  std::deque<std::pair<std::uint64_t, std::string>> deletions_;  // the same, in that order
  // Calls up to this one were made before the last complete list. It lacked the pods that are not
  // in pods_; they may have been deleted before the watch could deliver them.
  std::uint64_t calls_before_list_ = 0;
};

}  // namespace chipweave::sched
