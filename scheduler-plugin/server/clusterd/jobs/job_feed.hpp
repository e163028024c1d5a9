// JobFeed — the cluster's jobs that have a rank table, for those who follow them: messages of
// job.Job. docs/reference/rank-tables-of-jobs.md has the meaning of their fields. Loop thread only,
// but for log() and readers().
//
// Signals are kept only while a client follows them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "mindcluster/job.pb.h"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/clusterd/jobs/job_log.hpp"
#include "scheduler-plugin/server/clusterd/jobs/job_readers.hpp"
#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

namespace chipweave::sched::clusterd {

// The uid of a gang's owner object; "": it is not known.
using OwnerUid = std::function<std::string(const GangRef&)>;

class JobFeed final : public RankTableListener {
 public:
  JobFeed(const RankTables& tables, const Scheduler& scheduler, const Clock& clock,
          CallerLimits& limits, OwnerUid owner);

  const JobLog& log() const { return log_; }
  JobReaders& readers() { return readers_; }
  const Subscriptions& subscriptions() const { return subscriptions_; }

  // The id that the client subscribes with. Errors: limit_exceeded, unavailable.
  Result<std::string> register_client();
  // From then on the log has all jobs. Errors: not_found (no such id), limit_exceeded, unavailable.
  Result<void> subscribe(const std::string& client, const std::string& host,
                         std::shared_ptr<Subscriptions::Subscriber> subscriber);
  // It has gone.
  void remove(const Subscriptions::Subscriber* subscriber);
  // Finds jobs that have ended; call it about every second.
  void tick(bool leads);

  void job_table(const PublishedTable& table) override;
  void job_table_gone(const std::string& ns, const std::string& name) override;
  void deployment_table(const PublishedTable& /*table*/) override {}
  void deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                             const std::string& /*name*/) override {}

 private:
  struct Job {
    std::int64_t since = 0;  // when it was seen first, in seconds
    // What the log has of it; empty: nothing.
    std::string id;
    std::string status;
    std::size_t text = 0;  // hash
  };
  using Jobs = std::map<std::pair<std::string, std::string>, Job>;  // by namespace and name
  std::string id_of(const PublishedTable& table, const Job& job) const;
  std::string status_of(const PublishedTable& table, const Job& job) const;
  bool has_ended(const PublishedTable& table) const;
  std::int64_t now() const;
  void follow();
  void unfollow();
  void put(const PublishedTable& table, Job& job);
  void put_deletion(const Jobs::key_type& name, const Job& job);

  const RankTables& tables_;
  const Scheduler& scheduler_;
  const Clock& clock_;
  OwnerUid owner_;
  Subscriptions subscriptions_;
  JobLog log_;
  JobReaders readers_;
  bool followed_ = false;
  Jobs jobs_;
};

}  // namespace chipweave::sched::clusterd
