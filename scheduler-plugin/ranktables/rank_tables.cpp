#include "scheduler-plugin/ranktables/rank_tables.hpp"

#include <algorithm>

#include "common/base/natural_order.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/assembly/job_table.hpp"
#include "scheduler-plugin/ranktables/tables/deployment_tables.hpp"

namespace chipweave::sched {
namespace {

// It serves a deployment and runs no model.
bool is_head(const TablePod& pod) {
  return pod.role == DeploymentRole::coordinator || pod.role == DeploymentRole::controller ||
         pod.role == DeploymentRole::scheduler;
}

bool is_pd_id(const std::string& id) { return id.starts_with(kPdPrefix); }

// Of those of MindIE their label.
std::string id_of_deployment(const TablePod& pod) {
  return (is_pd(pod.role) ? kPdPrefix : "") + pod.deployment;
}

GangRef about(const TablePod& pod) { return {pod.key.ns, "", pod.job, pod.key, pod.uid}; }

}  // namespace

void RankTables::add(RankTableListener& listener) {
  listeners_.push_back(&listener);
  tell(listener);
}

void RankTables::tell(RankTableListener& listener) const {
  for (const PublishedTable* table : all())
    is_of_job(table->kind) ? listener.job_table(*table) : listener.deployment_table(*table);
}

std::vector<const PublishedTable*> RankTables::all() const {
  std::vector<const PublishedTable*> out;
  for (const auto& [id, job] : jobs_) {
    if (!job.table.text.empty()) out.push_back(&job.table);
  }
  for (const auto& [id, deployment] : deployments_) {
    if (!deployment.table.name.empty()) out.push_back(&deployment.table);
  }
  return out;
}

void RankTables::pod_seen(const codec::KubePod& pod) {
  const std::string key = pod.ns + "/" + pod.name;
  if (auto read = read_table_pod(pod)) return put(key, *std::move(read));
  take_out(key);
  // Another process may have written the table of a job whose last pods end.
  const auto job = job_of_ended_pod(pod);
  if (!job || jobs_.contains({pod.ns, *job})) return;
  for (RankTableListener* listener : listeners_) listener->job_table_gone(pod.ns, *job);
}

void RankTables::pod_gone(std::string_view key) { take_out(key); }

void RankTables::changed(std::set<Id>& of, const Id& id) {
  const bool idle = changed_jobs_.empty() && changed_deployments_.empty();
  of.insert(id);
  if (idle && work_) work_();
}

void RankTables::put(const std::string& key, TablePod pod) {
  const bool apart = is_head(pod);
  const Id id = apart ? Id{pod.key.ns, id_of_deployment(pod)} : job_id(pod);
  const auto known = pods_.find(key);
  if (known != pods_.end() && known->second != id) take_out(key);
  if (apart) {
    const auto there = deployments_.find(id);
    if (there == deployments_.end() && deployments_.size() >= kMaxJobs) return;
    TablePod& kept = deployments_[id].pods[key];
    if (kept == pod) return;
    kept = std::move(pod);
    pods_.insert_or_assign(key, id);
    return changed(changed_deployments_, id);
  }
  if (!jobs_.contains(id) && jobs_.size() >= kMaxJobs) return;
  TablePod& kept = jobs_[id].pods[key];
  if (kept == pod) return;
  kept = std::move(pod);
  pods_.insert_or_assign(key, id);
  changed(changed_jobs_, id);
}

void RankTables::take_out(std::string_view key) {
  const auto known = pods_.find(key);
  if (known == pods_.end()) return;
  const Id id = known->second;
  pods_.erase(known);
  if (const auto job = jobs_.find(id); job != jobs_.end()) {
    if (const auto pod = job->second.pods.find(key); pod != job->second.pods.end()) {
      job->second.pods.erase(pod);
      changed(changed_jobs_, id);
    }
  }
  if (const auto at = deployments_.find(id); at != deployments_.end()) {
    if (const auto pod = at->second.pods.find(key); pod != at->second.pods.end()) {
      at->second.pods.erase(pod);
      changed(changed_deployments_, id);
    }
  }
}

const Gang* RankTables::gang_of(const Job& job) const {
  for (const auto& [key, pod] : job.pods) {
    if (const Gang* gang = scheduler_.gangs().of(pod.uid)) return gang;
  }
  return nullptr;
}

bool RankTables::has_owner(const Job& job) const {
  return !job.source.gang.empty() && scheduler_.gangs().has_owner(job.source.gang);
}

RankTables::Source RankTables::source_of(const Job& job) const {
  Source out = job.source;
  if (const Gang* gang = gang_of(job)) {
    out.gang = gang->id;
    out.gang_changes = gang->changes;
  }
  out.network = job.route ? scheduler_.network().version() : 0;
  out.nodes = 0;
  for (const auto& [key, pod] : job.pods) {
    const NodeId node = pod.node.empty() ? kNoNode : scheduler_.nodes().find(pod.node);
    if (node != kNoNode) out.nodes += scheduler_.nodes().node(node).sequence + 1;
  }
  return out;
}

void RankTables::tick() {
  for (const auto& [id, job] : jobs_) {
    if (source_of(job) != job.source) changed(changed_jobs_, id);
  }
  update();
}

void RankTables::update() {
  // part of the pods would make part of a table
  if (!scheduler_.authority().waiting_for().empty()) return;
  drop_ended();
  std::size_t pods = 0;
  while (!changed_jobs_.empty() && pods < kMaxPodsATurn) {
    const Id id = *changed_jobs_.begin();
    changed_jobs_.erase(changed_jobs_.begin());
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) continue;
    pods += job->second.pods.size();
    make(id, job->second);
  }
  while (!changed_deployments_.empty() && pods < kMaxPodsATurn) {
    const Id id = *changed_deployments_.begin();
    changed_deployments_.erase(changed_deployments_.begin());
    const auto at = deployments_.find(id);
    if (at == deployments_.end()) continue;
    make(id, at->second);
  }
  const bool more = !changed_jobs_.empty() || !changed_deployments_.empty();
  if (more && work_) work_();
}

// A job whose pods are gone for now, and whose owner object is there, goes on.
void RankTables::drop_ended() {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto& [id, job] = *at;
    if (!job.pods.empty() || (has_owner(job) && !is_pd(job.role))) {
      ++at;
      continue;
    }
    if (!job.deployment.empty()) leave_deployment({id.first, job.deployment}, id.second);
    withdraw(id, at->second);
    changed_jobs_.erase(id);
    at = jobs_.erase(at);
  }
  std::erase_if(deployments_, [&](const auto& one) {
    const auto& [id, deployment] = one;
    if (!deployment.pods.empty() || !deployment.jobs.empty()) return false;
    if (deployment.table.name.empty()) return true;
    for (RankTableListener* listener : listeners_)
      listener->deployment_table_gone(deployment.table.kind, id.first, deployment.table.name);
    changed_deployments_.erase(id);
    return true;
  });
}

void RankTables::leave_deployment(const Id& id, const std::string& job) {
  const auto at = deployments_.find(id);
  if (at == deployments_.end()) return;
  at->second.jobs.erase(job);
  changed_deployments_.insert(id);
}

// What its pods say about it; while it has none, what they said last.
void RankTables::read_labels(const Id& id, Job& job) {
  if (job.pods.empty()) return;
  const TablePod& first = job.pods.begin()->second;
  job.asks = first.asks;
  job.route = std::any_of(job.pods.begin(), job.pods.end(),
                          [](const auto& one) { return one.second.route.has_value(); });
  job.role = first.role;
  const bool instance = first.role != DeploymentRole::none && !is_head(first);
  const std::string of = instance ? id_of_deployment(first) : std::string();
  if (of == job.deployment) return;
  if (!job.deployment.empty()) leave_deployment({id.first, job.deployment}, id.second);
  job.deployment = of;
}

// 0: not known. The owner object of a job that is being removed may go before its pods.
int RankTables::size_of(const Id& id, const Job& job, const Gang* gang) {
  if (is_pd(job.role)) return 1;
  int size = gang == nullptr ? 0 : gang->size();
  if (size == 0 && gang != nullptr) size = gang->quorum();
  if (size > 0) return size;
  const bool bare =
      gang == nullptr && job.pods.size() == 1 && job.pods.begin()->second.key.name == id.second;
  if (bare) return 1;
  return job.size == 0 && job.pods.empty() ? 1 : job.size;
}

std::vector<const TablePod*> RankTables::pods_of(const Job& job) {
  std::vector<const TablePod*> out;
  out.reserve(job.pods.size());
  for (const auto& [key, pod] : job.pods) out.push_back(&pod);
  return out;
}

void RankTables::continue_from(const std::string& ns, const std::string& name,
                               std::string_view text) {
  const auto at = jobs_.find({ns, name});
  if (at == jobs_.end()) return;
  Job& job = at->second;
  if (job.route) {
    auto table = codec::read_job_table(text);
    if (!table || table->servers().empty()) return;
    job.previous = *std::move(table);
  } else {
    const auto table = codec::ranktable::parse_table(std::string(text));
    if (!table) return;
    KeptRanks ranks = ranks_in(*table, pods_of(job), options_.names, scheduler_);
    if (ranks.empty()) return;
    job.kept = std::move(ranks);
  }
  make(at->first, job);
}

void RankTables::continue_from(const std::string& ns, const std::string& name,
                               const RouteFiles& files) {
  const auto at = jobs_.find({ns, name});
  if (at == jobs_.end() || !at->second.route) return;
  KeptPlan kept = kept_plan(pods_of(at->second), files.tors, files.plan);
  if (kept.empty()) return;
  at->second.kept_plan = std::move(kept);
  make(at->first, at->second);
}

void RankTables::make(const Id& id, Job& job) {
  job.source = source_of(job);
  read_labels(id, job);
  const Gang* gang = gang_of(job);
  job.size = size_of(id, job, gang);
  const std::vector<const TablePod*> pods = pods_of(job);
  // of a pod and its replacement, the first is about to go
  const bool stays =
      job.table.complete && job.size > 0 && pods.size() > static_cast<std::size_t>(job.size);
  if (job.route) {
    job.members = {};
  } else if (!stays) {
    job.members = members_of(pods, job.size, options_.names, scheduler_, job.kept);
  }
  if (!job.deployment.empty()) {
    deployments_[{id.first, job.deployment}].jobs.insert(id.second);
    changed_deployments_.insert({id.first, job.deployment});
  }
  if (!job.asks) return withdraw(id, job);
  const bool chips =
      std::any_of(pods.begin(), pods.end(), [](const auto* pod) { return pod->chips > 0; });
  const bool has_none = pods.empty() ? job.table.text.empty() : !chips;
  if (!has_none && !stays) publish(job, table_of(id, job, gang));
}

PublishedTable RankTables::table_of(const Id& id, Job& job, const Gang* gang) const {
  PublishedTable now;
  now.ns = id.first;
  now.name = id.second;
  now.text = kInitializing;
  now.about = job.table.about;
  now.consumer = job.table.consumer;
  now.framework = job.table.framework;
  if (!job.pods.empty()) {
    const TablePod& first = job.pods.begin()->second;
    now.consumer = first.consumer;
    now.framework = first.framework;
    now.about = gang != nullptr ? ref_of(*gang) : about(first);
  }
  if (job.route) {
    fill_route(job, now);
  } else {
    fill_hccl(job, now);
  }
  return now;
}

void RankTables::fill_hccl(Job& job, PublishedTable& to) const {
  to.problem = job.members.problem;
  if (to.problem.empty() && job.members.missing.empty() && !job.members.members.empty()) {
    auto made = domain::ranktable::make_job_table(job.members.members, job.members.form);
    if (!made) {
      to.problem = made.error().text();
    } else if (!made->missing.empty()) {
      job.members.missing = std::move(made->missing);
    } else {
      to.set(made->table, options_.max_bytes);
    }
  }
  to.name_missing(job.members.missing);
}

void RankTables::fill_route(Job& job, PublishedTable& to) const {
  RouteTables made = route_tables_of(pods_of(job), job.size, scheduler_,
                                     job.previous ? &*job.previous : nullptr, job.kept_plan);
  to.kind = TableKind::modelarts;
  to.problem = std::move(made.problem);
  to.name_missing(std::move(made.missing));
  if (to.problem.empty() && to.missing.empty()) {
    to.set(made.ranks, options_.max_bytes);
  } else {
    to.text = codec::ranktable::write_table(made.ranks, 0);
  }
  const bool had_switches = job.pods.empty() && job.table.route;
  if (made.switches || had_switches) {
    to.route.emplace(RouteFiles{kInitializing, ""});
    if (to.complete) to.route->tors = codec::ranktable::write_table(made.tors, 0);
    if (to.complete && !made.plan.empty()) to.route->plan = codec::write_route_plan(made.plan);
  }
  if (!to.complete) return;
  job.previous = std::move(made.ranks);
  job.kept_plan = std::move(made.kept);
}

void RankTables::withdraw(const Id& id, Job& job) {
  if (job.table.text.empty()) return;
  job.table = PublishedTable{};
  for (RankTableListener* listener : listeners_) listener->job_table_gone(id.first, id.second);
}

void RankTables::publish(Job& job, PublishedTable now) {
  if (!differ(job.table, now)) return;
  job.table = std::move(now);
  for (RankTableListener* listener : listeners_) listener->job_table(job.table);
}

void RankTables::make(const Id& id, Deployment& deployment) {
  const bool pd = is_pd_id(id.second);
  PublishedTable now;
  now.ns = id.first;
  now.name = pd ? id.second.substr(std::string_view(kPdPrefix).size()) : id.second;
  now.kind = pd ? TableKind::pd : TableKind::mindie;
  now.text = deployment.table.text;
  now.pd = deployment.table.pd;
  now.about = deployment.table.about;
  const auto is_about = [&](const TablePod& pod, const Gang* gang) {
    now.consumer = pod.consumer;
    now.about = gang != nullptr ? ref_of(*gang) : about(pod);
  };
  DeploymentParts parts{deployment.pods, {}};
  std::vector<std::string> names(deployment.jobs.begin(), deployment.jobs.end());
  std::sort(names.begin(), names.end(), natural_less);
  for (const std::string& name : names) {
    const Job& job = jobs_.at({id.first, name});
    const TablePod* pod = job.pods.empty() ? nullptr : &job.pods.begin()->second;
    parts.jobs.push_back({name, job.role, job.members, pod});
    if (pod != nullptr) is_about(*pod, gang_of(job));
  }
  if (!deployment.pods.empty()) {
    const TablePod& pod = deployment.pods.begin()->second;
    is_about(pod, scheduler_.gangs().of(pod.uid));
  }
  if (pd) {
    fill_pd_table(parts, scheduler_, options_.max_bytes, now);
  } else {
    fill_mindie_table(parts, scheduler_, options_.max_bytes, now);
  }
  if (!differ(deployment.table, now)) return;
  deployment.table = std::move(now);
  for (RankTableListener* listener : listeners_) listener->deployment_table(deployment.table);
}

const std::pair<const RankTables::Id, RankTables::Deployment>* RankTables::find_deployment(
    std::string_view id) const {
  const std::pair<const Id, Deployment>* out = nullptr;
  for (const auto& one : deployments_) {
    if (one.first.second != id || is_pd_id(one.first.second)) continue;
    if (out != nullptr) return nullptr;
    out = &one;
  }
  return out;
}

const PublishedTable* RankTables::deployment(std::string_view id) const {
  const auto* found = find_deployment(id);
  return found == nullptr ? nullptr : &found->second.table;
}

std::map<std::string, std::string> RankTables::nodes_of(std::string_view id) const {
  std::map<std::string, std::string> out;
  const auto* found = find_deployment(id);
  if (found == nullptr) return out;
  const auto add = [&](const auto& pods) {
    for (const auto& [key, pod] : pods) {
      if (!pod.node.empty()) out.emplace(pod.node, pod.member.host_ip);
    }
  };
  add(found->second.pods);
  for (const std::string& job : found->second.jobs) {
    if (const auto at = jobs_.find({found->first.first, job}); at != jobs_.end())
      add(at->second.pods);
  }
  return out;
}

const JobMembers* RankTables::members(const std::string& ns, const std::string& job) const {
  const auto at = jobs_.find({ns, job});
  return at == jobs_.end() ? nullptr : &at->second.members;
}

std::pair<std::size_t, std::size_t> RankTables::counts() const {
  std::pair<std::size_t, std::size_t> out{0, 0};
  for (const auto& [id, job] : jobs_) {
    if (!job.table.text.empty()) ++(job.table.complete ? out.first : out.second);
  }
  return out;
}

}  // namespace chipweave::sched
