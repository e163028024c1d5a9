// RankTables — the rank tables of the cluster's jobs (hccl.json, of ModelArts jobstart_hccl.json)
// and of its inference deployments (MindIE's global table; those of prefill and decode instances),
// kept up to date: pods in, texts out.
//
// A table is complete exactly when every pod of its job has its devices and addresses, all agree,
// and our own linter finds no error. The table of a job whose pods are fewer again is empty
// ("status initializing"); that of a deployment stays until the next one is complete, so that
// no reader gets a part of it. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler-plugin/ranktables/job_members.hpp"
#include "scheduler-plugin/ranktables/tables/published_table.hpp"
#include "scheduler-plugin/ranktables/tables/route_tables.hpp"

namespace chipweave::sched {

class RankTables {
 public:
  static constexpr std::size_t kMaxJobs = 10'000;       // those that come later have no table
  static constexpr std::size_t kMaxPodsATurn = 20'000;  // and one job more: about 20 ms of work

  struct Options {
    domain::ranktable::ServerNames names = domain::ranktable::ServerNames::host_ip;
    std::size_t max_bytes = 1'000'000;  // of a text; an object of Kubernetes has at most 1 MiB
  };
  RankTables(const Scheduler& scheduler, Options options)
      : scheduler_(scheduler), options_(options) {}
  RankTables(const RankTables&) = delete;
  RankTables& operator=(const RankTables&) = delete;

  // Called when update() has something to do.
  void on_work(std::function<void()> call) { work_ = std::move(call); }
  // It must outlive this, and gets all tables that there are.
  void add(RankTableListener& listener);
  // Gives it all tables that there are.
  void tell(RankTableListener& listener) const;
  // Every pod as it is seen, and its key ("namespace/name") when it is gone.
  void pod_seen(const codec::KubePod& pod);
  void pod_gone(std::string_view key);
  // Brings the tables up to date whose pods or gangs have changed, once the cluster is known. Cost:
  // O(jobs), and for each of these O(pods log pods + devices).
  void update();
  // The same, and those whose nodes have changed; call it about every second. Cost: O(pods).
  void tick();
  // The job's table that another process, or this one in an earlier term, has written: what numbers
  // itself goes on from it. Tells the listeners what changes.
  void continue_from(const std::string& ns, const std::string& name, std::string_view text);
  // The same of the files beside it.
  void continue_from(const std::string& ns, const std::string& name, const RouteFiles& files);
  // The table of a MindIE deployment, by its jobID, in whatever namespace; null: there is none, or
  // several namespaces have one.
  const PublishedTable* deployment(std::string_view id) const;
  // The nodes of its pods that have one, and their addresses, by name; as deployment(). O(pods).
  std::map<std::string, std::string> nodes_of(std::string_view id) const;
  // Those of jobs, then those of deployments, each by namespace and name. O(n).
  std::vector<const PublishedTable*> all() const;
  // What the table of a job is made of; null: there is no such job.
  const JobMembers* members(const std::string& ns, const std::string& job) const;
  std::size_t jobs() const { return jobs_.size(); }
  // How many tables of jobs are complete / are not.
  std::pair<std::size_t, std::size_t> counts() const;

 private:
  using Id = std::pair<std::string, std::string>;  // namespace, name
  // What a table was made of, beside its pods.
  struct Source {
    std::string gang;
    std::uint64_t gang_changes = 0;
    std::uint64_t nodes = 0;    // sum of Node::sequence
    std::uint64_t network = 0;  // Network::version(), of jobs whose tables name switches
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Job {
    std::map<std::string, TablePod, std::less<>> pods;  // by key
    Source source;
    KeptRanks kept;
    std::optional<domain::ranktable::RankTable> previous;  // jobstart_hccl.json
    KeptPlan kept_plan;
    int size = 0;  // pods of the job, as it was known last
    JobMembers members;
    PublishedTable table;
    bool asks = false;
    bool route = false;  // for the tables of ModelArts
    DeploymentRole role = DeploymentRole::none;
    std::string deployment;  // that it is a server job of
  };
  struct Deployment {
    std::map<std::string, TablePod, std::less<>> pods;  // coordinators and controllers, by key
    std::set<std::string> jobs;                         // of servers
    PublishedTable table;
  };

  static std::vector<const TablePod*> pods_of(const Job& job);
  static Id job_id(const TablePod& pod) { return {pod.key.ns, pod.job}; }
  void put(const std::string& key, TablePod pod);
  void take_out(std::string_view key);
  void leave_deployment(const Id& id, const std::string& job);
  void changed(std::set<Id>& of, const Id& id);
  const Gang* gang_of(const Job& job) const;
  Source source_of(const Job& job) const;
  void read_labels(const Id& id, Job& job);
  static int size_of(const Id& id, const Job& job, const Gang* gang);
  void make(const Id& id, Job& job);
  PublishedTable table_of(const Id& id, Job& job, const Gang* gang) const;
  void fill_hccl(Job& job, PublishedTable& to) const;
  void fill_route(Job& job, PublishedTable& to) const;
  void publish(Job& job, PublishedTable now);
  void withdraw(const Id& id, Job& job);
  bool has_owner(const Job& job) const;
  void make(const Id& id, Deployment& deployment);
  void drop_ended();
  const std::pair<const Id, Deployment>* find_deployment(std::string_view id) const;

  const Scheduler& scheduler_;
  Options options_;
  std::function<void()> work_;
  std::vector<RankTableListener*> listeners_;
  std::map<std::string, Id, std::less<>> pods_;  // by key: their job or deployment
  std::map<Id, Job> jobs_;
  std::map<Id, Deployment> deployments_;
  std::set<Id> changed_jobs_;
  std::set<Id> changed_deployments_;
};

}  // namespace chipweave::sched
