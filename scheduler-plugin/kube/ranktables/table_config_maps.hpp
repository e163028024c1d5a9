// TableConfigMaps — rank tables as the ConfigMaps that users of MindCluster and ModelArts mount:
// rings-config-JOB (hccl.json, version) for jobs, global-ranktable-ID (global_ranktable.json,
// version) for MindIE deployments; for jobs on ModelArts ranktable-JOB (jobstart_hccl.json,
// version), and where they ask for switches torlist-JOB (ranktable_tor.json as base64 of gzip,
// route_plan.json, version). For deployments of prefill and decode instances pd-ranktable-NAME
// (global_ranktable.json and local_ranktable_POD.json, or vLLM-Ascend's ranktable.json, version).
//
// A ConfigMap that the user made beforehand is written in place and keeps its labels; one that is
// absent is made, with the job as its owner. One that another program writes is left alone. Only
// the leader writes; a text replaces exactly the version that was read. Owner: the loop thread;
// ends with its destructor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/codec/kube/objects/event.hpp"
#include "common/kube/config_map_keeper.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"

namespace chipweave::sched {

// On each, with a hash of what was written.
inline constexpr const char* kRankTableContentLabel = "chipweave.dev/ranktable-content";

class TableConfigMaps final : public RankTableListener {
 public:
  static constexpr std::size_t kMaxTables = 2'000;       // those that come later have none
  static constexpr std::chrono::minutes kCheckEvery{2};  // whether others changed it
  // A table of a job that is gone is empty after that.
  static constexpr std::chrono::seconds kForget{60};
  // Jobs that ended while another replica led, or none, and so long ago that the leader, if there
  // was one, has emptied their tables.
  static constexpr std::size_t kMaxEnded = 2'000;
  static constexpr std::chrono::minutes kEnded{10};

  struct Which {
    bool jobs = false;
    bool mindie = false;
    bool modelarts = false;
    bool pd = false;
    bool any() const { return jobs || mindie || modelarts || pd; }
  };
  struct Ways {
    // Whether what is wanted from now on may still be sent later (KubeCluster::fence).
    std::function<std::function<bool()>()> fence;
    // The owner object of the gang; nullopt: it is not known.
    std::function<std::optional<codec::EventObject>(const GangRef&)> owner;
    // What is there of a job in a ConfigMap that this process did not write in this term:
    // RankTables::continue_from().
    std::function<void(const std::string& ns, const std::string& job, const std::string& text)>
        found;
    std::function<void(const std::string& ns, const std::string& job, const RouteFiles& files)>
        found_beside;
    // A complete table was written / it has a problem, or cannot be written; once for each reason.
    std::function<void(const GangRef&, const std::string& what)> completed;
    std::function<void(const GangRef&, const std::string& why)> failed;
  };
  TableConfigMaps(kube::Transport& transport, const Clock& clock, Which which, Ways ways)
      : transport_(transport), clock_(clock), which_(which), ways_(std::move(ways)) {}

  void job_table(const PublishedTable& table) override;
  void job_table_gone(const std::string& ns, const std::string& job) override;
  void deployment_table(const PublishedTable& table) override;
  void deployment_table_gone(TableKind kind, const std::string& ns,
                             const std::string& name) override;

  // term: in which this replica leads, Authority::term(); nullopt: it does not. True: it has begun,
  // so that all tables have to be told again. Call it several times a second.
  bool tick(std::optional<std::uint64_t> term);

 private:
  // Events are about the main one of a table; another has what is beside it.
  struct Content {
    std::string name;
    std::string key;          // of the table
    std::string text;         // as it is stored under the key; empty: none yet
    codec::StringMap more{};  // other keys
    bool main = true;
  };
  struct Map {
    PublishedTable table;  // without texts
    Content content;
    std::string problem;  // that was reported last
    std::optional<Clock::Steady> gone;
    std::unique_ptr<kube::ConfigMapKeeper> keeper;  // null: none yet
  };
  using Maps = std::map<std::string, Map, std::less<>>;  // by namespace/name

  void put(Content content, const PublishedTable& table);
  // Cost: gzip of ranktable_tor.json, about 20 ms for 13,000 ranks.
  void put_switches(const PublishedTable& table);
  void forget(Content content, const std::string& ns);
  void want(Map& map, bool create);
  std::unique_ptr<kube::ConfigMapKeeper> keeper_of(const std::string& id, const std::string& ns,
                                                   const std::string& name);
  void written(const std::string& id, const codec::StringMap& data);
  void found(const std::string& id, const codec::StringMap& data);
  void report(Map& map, const std::string& problem);

  kube::Transport& transport_;
  const Clock& clock_;
  Which which_;
  Ways ways_;
  Maps maps_;  // empty while another replica leads
  struct Ended {
    std::string ns;
    Content content;  // what is to be there
    Clock::Steady since{};
  };
  std::map<std::string, Ended, std::less<>> ended_;  // by namespace/name; of a leader: none
  std::optional<std::uint64_t> term_;
  std::uint64_t made_ = 0;  // keepers
};

}  // namespace chipweave::sched
