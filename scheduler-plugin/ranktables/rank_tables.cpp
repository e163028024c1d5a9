#include "scheduler-plugin/ranktables/rank_tables.hpp"

#include <algorithm>

#include "common/base/natural_order.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/assembly/mindie_table.hpp"
#include "common/domain/ranktable/lint/lint.hpp"

namespace chipweave::sched {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Member;
using domain::ranktable::MindieServerJob;
using domain::ranktable::Profile;

bool is_of_deployment(const TablePod& pod) {
  return pod.role == MindieRole::coordinator || pod.role == MindieRole::controller;
}

Profile profile_of(Dialect dialect) {
  if (dialect == Dialect::hccl_1_2) return Profile::hccl_a3;
  if (dialect == Dialect::hccl_2_0) return Profile::hccl_950;
  return dialect == Dialect::mindie_global ? Profile::mindie_motor : Profile::structural;
}

void name_missing(std::vector<std::string> all, PublishedTable& to) {
  if (all.size() > RankTables::kMaxMissing) {
    const std::size_t more = all.size() - RankTables::kMaxMissing;
    all.resize(RankTables::kMaxMissing);
    all.push_back("and " + std::to_string(more) + " more");
  }
  to.missing = std::move(all);
}

// The text of a table that may be used; else the problem, with the rule that it is against.
void write(const domain::ranktable::RankTable& table, std::size_t max_bytes, PublishedTable& to) {
  for (const auto& finding : domain::ranktable::lint(table, profile_of(table.dialect))) {
    if (finding.severity != domain::ranktable::Severity::error) continue;
    to.problem = std::string(finding.code) + ": " + finding.message;
    return;
  }
  std::string text = codec::ranktable::write_table(table, 0);
  if (text.size() > max_bytes) {
    to.problem = "it has " + std::to_string(text.size()) + " bytes, and a ConfigMap holds " +
                 std::to_string(max_bytes);
    return;
  }
  to.text = std::move(text);
  to.complete = true;
}

// Whether those who use or watch the table have to know.
bool differ(const PublishedTable& a, const PublishedTable& b) {
  return a.text != b.text || a.complete != b.complete || a.missing != b.missing ||
         a.problem != b.problem || a.consumer != b.consumer;
}

GangRef about(const TablePod& pod) { return {pod.key.ns, "", pod.job, pod.key, pod.uid}; }

std::optional<Member> one_of(const std::map<std::string, TablePod, std::less<>>& pods,
                             MindieRole role, const Scheduler& scheduler, std::string& problem) {
  const TablePod* found = nullptr;
  for (const auto& [key, pod] : pods) {
    if (pod.role != role) continue;
    if (found != nullptr) {
      problem = "pods " + found->key.name + " and " + pod.key.name + " are both its " +
                (role == MindieRole::coordinator ? "coordinator" : "controller");
      return std::nullopt;
    }
    found = &pod;
  }
  if (found == nullptr) return std::nullopt;
  return member_of(*found, scheduler);
}

}  // namespace

void RankTables::add(RankTableListener& listener) {
  listeners_.push_back(&listener);
  tell(listener);
}

void RankTables::tell(RankTableListener& listener) const {
  for (const PublishedTable* table : all())
    table->deployment ? listener.deployment_table(*table) : listener.job_table(*table);
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
  auto read = read_table_pod(pod);
  if (!read) return take_out(key);
  put(key, *std::move(read));
}

void RankTables::pod_gone(std::string_view key) { take_out(key); }

void RankTables::changed(std::set<Id>& of, const Id& id) {
  const bool idle = changed_jobs_.empty() && changed_deployments_.empty();
  of.insert(id);
  if (idle && work_) work_();
}

void RankTables::put(const std::string& key, TablePod pod) {
  const bool apart = is_of_deployment(pod);
  const Id id = apart ? Id{pod.key.ns, pod.deployment} : job_id(pod);
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
    if (!job.pods.empty() || has_owner(job)) {
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
    for (RankTableListener* listener : listeners_)
      listener->deployment_table_gone(id.first, id.second);
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
  const std::string of = first.role == MindieRole::server ? first.deployment : std::string();
  if (of == job.deployment) return;
  if (!job.deployment.empty()) leave_deployment({id.first, job.deployment}, id.second);
  job.deployment = of;
}

// 0: not known. The owner object of a job that is being removed may go before its pods.
int RankTables::size_of(const Id& id, const Job& job, const Gang* gang) {
  int size = gang == nullptr ? 0 : gang->size();
  if (size == 0 && gang != nullptr) size = gang->quorum();
  if (size > 0) return size;
  const bool bare =
      gang == nullptr && job.pods.size() == 1 && job.pods.begin()->second.key.name == id.second;
  if (bare) return 1;
  return job.size == 0 && job.pods.empty() ? 1 : job.size;
}

void RankTables::make(const Id& id, Job& job) {
  job.source = source_of(job);
  read_labels(id, job);
  const Gang* gang = gang_of(job);
  job.size = size_of(id, job, gang);
  std::vector<const TablePod*> pods;
  pods.reserve(job.pods.size());
  for (const auto& [key, pod] : job.pods) pods.push_back(&pod);
  // of a pod and its replacement, the first is about to go
  const bool stays =
      job.table.complete && job.size > 0 && pods.size() > static_cast<std::size_t>(job.size);
  if (!stays) job.members = members_of(pods, job.size, options_.names, scheduler_, job.kept);
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
  now.problem = job.members.problem;
  now.about = job.table.about;
  now.consumer = job.table.consumer;
  if (!job.pods.empty()) {
    const TablePod& first = job.pods.begin()->second;
    now.consumer = first.consumer;
    now.about = gang != nullptr ? ref_of(*gang) : about(first);
  }
  if (now.problem.empty() && job.members.missing.empty() && !job.members.members.empty()) {
    auto made = domain::ranktable::make_job_table(job.members.members, job.members.form);
    if (!made) {
      now.problem = made.error().text();
    } else if (!made->missing.empty()) {
      job.members.missing = std::move(made->missing);
    } else {
      write(made->table, options_.max_bytes, now);
    }
  }
  name_missing(job.members.missing, now);
  return now;
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
  PublishedTable now;
  now.ns = id.first;
  now.name = id.second;
  now.deployment = true;
  now.text = deployment.table.text;
  now.about = deployment.table.about;
  domain::ranktable::MindieDeployment parts;
  parts.coordinator = one_of(deployment.pods, MindieRole::coordinator, scheduler_, now.problem);
  parts.controller = one_of(deployment.pods, MindieRole::controller, scheduler_, now.problem);
  std::vector<std::string> names(deployment.jobs.begin(), deployment.jobs.end());
  std::sort(names.begin(), names.end(), natural_less);
  std::vector<std::string> missing;
  std::set<std::string> told;  // in more detail
  for (const std::string& name : names) {
    const Job& job = jobs_.at({id.first, name});
    MindieServerJob& server = parts.servers.emplace_back();
    server.name = name;
    server.members = job.members.members;
    parts.super_pods = parts.super_pods || job.members.form.dialect == Dialect::hccl_1_2;
    if (!job.members.problem.empty() && now.problem.empty())
      now.problem = "job " + name + ": " + job.members.problem;
    for (const std::string& one : job.members.missing)
      missing.push_back("job " + name + ": " + one);
    if (!job.members.missing.empty()) told.insert("the pods of job " + name);
    if (job.pods.empty()) continue;
    const TablePod& pod = job.pods.begin()->second;
    server.group_deploys = pod.group_deploys;
    server.server_deploys = pod.server_deploys;
    now.consumer = pod.consumer;
    now.about = job.table.about;
  }
  if (!deployment.pods.empty()) {
    const TablePod& pod = deployment.pods.begin()->second;
    const Gang* gang = scheduler_.gangs().of(pod.uid);
    now.consumer = pod.consumer;
    now.about = gang != nullptr ? ref_of(*gang) : about(pod);
  }
  if (now.problem.empty()) {
    auto made = domain::ranktable::make_mindie_table(parts);
    if (!made) {
      now.problem = made.error().text();
    } else if (!made->missing.empty() || !missing.empty()) {
      for (std::string& one : made->missing) {
        if (!told.contains(one)) missing.push_back(std::move(one));
      }
    } else {
      write(made->table, options_.max_bytes, now);
    }
  }
  name_missing(std::move(missing), now);
  if (!differ(deployment.table, now)) return;
  deployment.table = std::move(now);
  for (RankTableListener* listener : listeners_) listener->deployment_table(deployment.table);
}

const std::pair<const RankTables::Id, RankTables::Deployment>* RankTables::find_deployment(
    std::string_view id) const {
  const std::pair<const Id, Deployment>* out = nullptr;
  for (const auto& one : deployments_) {
    if (one.first.second != id) continue;
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
