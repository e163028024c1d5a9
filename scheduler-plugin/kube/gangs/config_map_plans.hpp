// ConfigMapPlans — keeps the plans of gangs in ConfigMaps of one namespace, one each, and watches
// these.
//
// At most one request per gang is in flight, and each replaces exactly the version that was seen:
// of two replicas that take each other for the leader only one succeeds. Nothing is sent after the
// leadership term that asked for it. A plan whose ConfigMap cannot be used is reported and never
// deleted, but replaced by the gang's next plan.
//
// Without the right to list ConfigMaps, or to write one, the gangs go on without stored plans: it
// is reported once, put() succeeds at once, and what was last asked for is written when the right
// comes. Owner: the loop thread; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class ConfigMapPlans final : public PlanStore {
 public:
  using Fence = std::function<bool()>;
  struct Events {
    std::function<void()> known;                            // known() has become true
    std::function<void(const kube::WatchFailure&)> failed;  // the watch retries after it
    // A ConfigMap, or all of them, and why it is not used.
    std::function<void(const std::string& object, const Error& why)> unusable;
  };
  // fence: whether what is wanted from now on may still be sent later (KubeCluster::fence).
  ConfigMapPlans(kube::Transport& transport, std::string ns, std::function<Fence()> fence,
                 Events events, std::function<double()> jitter);

  void start() { watch_.start(); }
  // Whether all were listed once, or may not be listed.
  bool known() const { return watch_.synced() || forbidden_; }

  // Beyond PlanStore: unavailable also when the leadership ended, when the plan was removed, and
  // after kPatience; in the last case it is still tried.
  void put(const StoredPlan& plan, Done done) override;
  void remove(const std::string& gang) override;
  void each(const std::function<void(const StoredPlan&)>& visit) const override;

  // Removes the plans of gangs that have not existed for kUnusedFor. Call it often, while leading.
  void sweep(const std::function<bool(const std::string& gang)>& exists, Clock::Steady now);

  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::seconds kUnusedFor{60};

 private:
  using Ms = std::chrono::milliseconds;
  using Dones = std::vector<Done>;
  struct Stored {
    codec::ObjectVersion version;
    std::string gang;                // ""; of none
    std::optional<StoredPlan> plan;  // nullopt: it cannot be used
  };
  // What is wanted of one gang's ConfigMap, and the way there.
  struct Job {
    explicit Job(Backoff pauses) : backoff(std::move(pauses)) {}
    std::optional<std::string> text;  // nullopt: there is to be none
    std::uint64_t wish = 0;           // rises when something else is wanted
    std::uint64_t sent = 0;           // the wish of the request in flight
    Fence fence;
    std::vector<std::pair<std::uint64_t, Done>> dones;  // by wish
    std::chrono::steady_clock::time_point since;        // of the first of them
    int nth = 1;                                        // of plan_object_name(), for a new one
    std::string name;                                   // of the ConfigMap of the last request
    bool busy = false;                                  // a request or a pause
    bool unclear = false;  // what is stored is to be read before the next write
    bool refused = false;  // the API server does not allow it
    int conflicts = 0;     // since the last success
    Backoff backoff;
    std::unique_ptr<kube::Ticket> ticket;
  };
  using Then = void (ConfigMapPlans::*)(const std::string& gang, Job& job, Result<kube::Reply>);

  void take(codec::KubeConfigMap&& object);
  void forget(const std::string& name);
  void note(codec::KubeConfigMap object);
  void list_failed(const kube::WatchFailure& failure);
  void listed();
  const Stored* stored_of(const std::string& gang) const;

  Job& job_of(const std::string& gang);
  void step(const std::string& gang);
  void create(const std::string& gang, Job& job);
  void created(const std::string& gang, Job& job, Result<kube::Reply> reply);
  void replace(const std::string& gang, Job& job, const Stored& stored);
  void replaced(const std::string& gang, Job& job, Result<kube::Reply> reply);
  void read(const std::string& gang, Job& job);
  void was_read(const std::string& gang, Job& job, Result<kube::Reply> reply);
  void erase(const std::string& gang, Job& job, const Stored& stored);
  void erased(const std::string& gang, Job& job, Result<kube::Reply> reply);

  void send(const std::string& gang, Job& job, kube::Call call, Then then);
  void pause(const std::string& gang, Job& job, Ms delay);
  // False for a status of 2xx or `expected`. Otherwise the job goes on later, or has ended.
  bool failed(const std::string& gang, Job& job, const Result<kube::Reply>& reply,
              std::initializer_list<int> expected);
  void retry(const std::string& gang, Job& job, Ms at_least);
  void refused(const std::string& gang, Job& job, const std::string& problem);
  void conflict(const std::string& gang, Job& job);
  // The last request did, or can never do, what its wish was.
  void end(const std::string& gang, Job& job, const Result<void>& result);
  void call_off(const std::string& gang, Job& job);
  static Dones take_dones(Job& job, std::uint64_t up_to);
  static void answer(const Dones& dones, const Result<void>& result);

  kube::Transport& transport_;
  std::string ns_;
  std::string path_;
  std::function<Fence()> fence_;
  Events events_;
  std::function<double()> jitter_;
  kube::Reflector<codec::KubeConfigMap> watch_;
  codec::WatchReader<codec::KubeConfigMap> reader_;
  bool forbidden_ = false;                       // to list
  bool refusal_told_ = false;                    // that a write was refused, since the last success
  std::map<std::string, Stored> objects_;        // by name
  std::map<std::string, std::string> by_gang_;   // to the name
  std::map<std::string, Job> jobs_;              // by gang
  std::map<std::string, Clock::Steady> unused_;  // gangs that do not exist, and since when
  std::optional<Clock::Steady> swept_;           // the last time
};

}  // namespace chipweave::sched
