#include "scheduler-plugin/server/clusterd/jobs/job_feed.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "common/base/stable_hash.hpp"

namespace chipweave::sched::clusterd {
namespace {

constexpr const char* kPending = "pending";
constexpr const char* kRunning = "running";
constexpr const char* kComplete = "complete";
constexpr const char* kFailed = "failed";

// Of version 4.
std::string random_uuid() {
  static thread_local std::random_device entropy;
  const auto number = [] { return (std::uint64_t{entropy()} << 32U) | entropy(); };
  std::string out = hexadecimal(number()) + hexadecimal(number());
  out[12] = '4';
  out[16] = "89ab"[entropy() % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) out.insert(at, "-");
  return out;
}

job::JobSummarySignal signal_of(const std::string& id, const std::string& ns,
                                const std::string& name, const char* change) {
  job::JobSummarySignal out;
  out.set_uuid(random_uuid());
  out.set_jobid(id);
  out.set_jobname(name);
  out.set_namespace_(ns);
  out.set_cmindex("0");
  out.set_total("1");
  out.set_operator_(change);
  return out;
}

}  // namespace

JobFeed::JobFeed(const RankTables& tables, const Scheduler& scheduler, const Clock& clock,
                 CallerLimits& limits, OwnerUid owner)
    : tables_(tables),
      scheduler_(scheduler),
      clock_(clock),
      owner_(std::move(owner)),
      subscriptions_(clock, limits, [](const std::string& /*client*/) { return std::string(); }) {}

Result<std::string> JobFeed::register_client() {
  std::string out = random_uuid();
  if (auto registered = subscriptions_.register_for(out); !registered)
    return std::move(registered).error();
  return out;
}

Result<void> JobFeed::subscribe(const std::string& client, const std::string& host,
                                std::shared_ptr<Subscriptions::Subscriber> subscriber) {
  auto subscribed = subscriptions_.subscribe(client, host, std::move(subscriber));
  if (subscribed) follow();
  return subscribed;
}

void JobFeed::remove(const Subscriptions::Subscriber* subscriber) {
  subscriptions_.remove(subscriber);
  if (subscriptions_.subscribers() == 0) unfollow();
}

void JobFeed::tick(bool leads) {
  subscriptions_.tick(leads);
  if (subscriptions_.subscribers() == 0) unfollow();
  if (!followed_) return;
  for (const PublishedTable* table : tables_.all()) {
    if (!is_of_job(table->kind)) continue;
    Job& job = jobs_[{table->ns, table->name}];
    if (id_of(*table, job) != job.id || status_of(*table, job) != job.status) put(*table, job);
  }
}

void JobFeed::follow() {
  if (std::exchange(followed_, true)) return;
  tables_.tell(*this);
}

void JobFeed::unfollow() {
  if (!std::exchange(followed_, false)) return;
  log_.clear();
  for (auto& [name, job] : jobs_) job = Job{job.since, {}, {}, 0};
}

void JobFeed::job_table(const PublishedTable& table) {
  const auto [at, fresh] = jobs_.try_emplace({table.ns, table.name});
  Job& job = at->second;
  if (fresh) job.since = now();
  if (!followed_) return;
  const std::size_t text = std::hash<std::string>()(table.text);
  const bool same =
      text == job.text && id_of(table, job) == job.id && status_of(table, job) == job.status;
  if (same) return;
  job.text = text;
  put(table, job);
}

void JobFeed::job_table_gone(const std::string& ns, const std::string& name) {
  const auto at = jobs_.find({ns, name});
  if (at == jobs_.end()) return;
  if (!at->second.id.empty()) put_deletion(at->first, at->second);
  jobs_.erase(at);
}

void JobFeed::put(const PublishedTable& table, Job& job) {
  const std::string id = id_of(table, job);
  if (!job.id.empty() && job.id != id) {
    put_deletion({table.ns, table.name}, job);
    job.since = now();
    job.status.clear();
  }
  job.status = status_of(table, job);
  job.id = id;
  job::JobSummarySignal signal = signal_of(id, table.ns, table.name, "add");
  signal.set_framework(table.framework.empty() ? table.about.framework : table.framework);
  signal.set_jobstatus(job.status);
  signal.set_time(std::to_string(job.since));
  signal.set_hccljson(table.text);
  if (job.status == kComplete) signal.set_deletetime(std::to_string(now()));
  const JobMembers* members = tables_.members(table.ns, table.name);
  if (table.complete && members != nullptr && !members->members.empty())
    signal.set_masteraddr(members->members.front()->host_ip);
  log_.put(id, signal.SerializeAsString(), false);
  readers_.wake();
}

void JobFeed::put_deletion(const Jobs::key_type& name, const Job& job) {
  job::JobSummarySignal signal = signal_of(job.id, name.first, name.second, "delete");
  signal.set_jobstatus(job.status == kComplete ? kComplete : kFailed);
  signal.set_time(std::to_string(job.since));
  signal.set_deletetime(std::to_string(now()));
  log_.put(job.id, signal.SerializeAsString(), true);
  readers_.wake();
}

// The owner may be seen after the pods. Another first pod does not make it another job.
std::string JobFeed::id_of(const PublishedTable& table, const Job& job) const {
  std::string owner = owner_ ? owner_(table.about) : std::string();
  if (!owner.empty()) return owner;
  return job.id.empty() ? table.about.uid : job.id;
}

std::string JobFeed::status_of(const PublishedTable& table, const Job& job) const {
  if (table.complete) return has_ended(table) ? kComplete : kRunning;
  // its pods are being removed, unless the first of others has come
  const ClusterPod* pod = scheduler_.cluster().find(table.about.pod);
  const bool others = pod != nullptr && pod->request.uid == table.about.uid;
  return job.status == kComplete && !others ? kComplete : kPending;
}

// Pods that failed are in no table, so these have succeeded.
bool JobFeed::has_ended(const PublishedTable& table) const {
  const JobMembers* of = tables_.members(table.ns, table.name);
  if (of == nullptr || of->members.empty()) return false;
  return std::all_of(of->members.begin(), of->members.end(), [&](const auto& member) {
    const ClusterPod* pod = scheduler_.cluster().find({table.ns, member->pod});
    return pod == nullptr || pod->request.uid != member->uid;
  });
}

std::int64_t JobFeed::now() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
}

}  // namespace chipweave::sched::clusterd
