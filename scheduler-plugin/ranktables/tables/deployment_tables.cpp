#include "scheduler-plugin/ranktables/tables/deployment_tables.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/base/count_of.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/assembly/mindie_table.hpp"
#include "common/domain/ranktable/assembly/pd_tables.hpp"

namespace chipweave::sched {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Member;
using domain::ranktable::MindieServerJob;

const char* name_of(DeploymentRole role) {
  switch (role) {
    case DeploymentRole::coordinator:
      return "coordinator";
    case DeploymentRole::controller:
      return "controller";
    case DeploymentRole::scheduler:
      return "scheduler";
    case DeploymentRole::prefill:
      return "prefill";
    case DeploymentRole::decode:
      return "decode";
    default:
      return "server";
  }
}

std::optional<Member> one_of(const DeploymentParts& parts, DeploymentRole role,
                             const Scheduler& scheduler, std::string& problem) {
  const TablePod* found = nullptr;
  for (const auto& [key, pod] : parts.heads) {
    if (pod.role != role) continue;
    if (found != nullptr) {
      problem =
          "pods " + found->key.name + " and " + pod.key.name + " are both its " + name_of(role);
      return std::nullopt;
    }
    found = &pod;
  }
  if (found == nullptr) return std::nullopt;
  return member_of(*found, scheduler);
}

// What the pods of its jobs lack, and the first problem of one of them.
std::vector<std::string> missing_of(const DeploymentParts& parts, PublishedTable& to) {
  std::vector<std::string> out;
  for (const DeploymentJob& job : parts.jobs) {
    const std::string of = is_pd(job.role) ? "" : "job " + job.name + ": ";
    if (!job.members.problem.empty() && to.problem.empty()) to.problem = of + job.members.problem;
    for (const std::string& one : job.members.missing) out.push_back(of + one);
  }
  return out;
}

// The instances of a role. Says what is missing of the pods that the role should have.
std::vector<Member> instances_of(const DeploymentParts& parts, DeploymentRole role,
                                 std::vector<std::string>& missing) {
  std::vector<Member> out;
  int expected = 0;
  for (const DeploymentJob& job : parts.jobs) {
    if (job.role != role) continue;
    if (job.pod != nullptr) expected = std::max(expected, job.pod->role_pods);
    for (const auto& member : job.members.members) {
      if (member) out.push_back(*member);
    }
  }
  const int there = static_cast<int>(out.size());
  if (there < expected)
    missing.push_back(std::to_string(expected - there) + " of " + count_of(expected, "pod") +
                      " with the role " + name_of(role));
  return out;
}

// The dialect that the pods name; ModelArts' if none does. "" or which pods differ.
std::string dialect_of(const DeploymentParts& parts, Dialect& to) {
  const TablePod* first = nullptr;
  const auto differs = [&](const TablePod& pod) {
    if (first == nullptr) first = &pod;
    return pod.pd_dialect != first->pd_dialect;
  };
  const auto problem = [&](const TablePod& pod) {
    return "pods " + first->key.name + " and " + pod.key.name + " differ in " + kRankTableMark;
  };
  for (const auto& [key, pod] : parts.heads) {
    if (!pod.problem.empty()) return "pod " + pod.key.name + ": " + pod.problem;
    if (differs(pod)) return problem(pod);
  }
  for (const DeploymentJob& job : parts.jobs) {
    if (job.pod != nullptr && differs(*job.pod)) return problem(*job.pod);
  }
  if (first != nullptr) to = first->pd_dialect.value_or(Dialect::modelarts_global);
  return {};
}

// Before the first table: pods wait for what they mount, and have no address before they start.
PdFiles initial_files(const DeploymentParts& parts, Dialect dialect) {
  PdFiles out{dialect == Dialect::vllm_ascend, {}};
  if (out.vllm) return out;
  for (const auto& [key, pod] : parts.heads) out.locals[pod.key.name] = kInitializing;
  for (const DeploymentJob& job : parts.jobs) {
    if (job.pod != nullptr) out.locals[job.pod->key.name] = kInitializing;
  }
  return out;
}

}  // namespace

void fill_mindie_table(const DeploymentParts& parts, const Scheduler& scheduler,
                       std::size_t max_bytes, PublishedTable& to) {
  domain::ranktable::MindieDeployment of;
  of.coordinator = one_of(parts, DeploymentRole::coordinator, scheduler, to.problem);
  of.controller = one_of(parts, DeploymentRole::controller, scheduler, to.problem);
  std::vector<std::string> missing = missing_of(parts, to);
  std::set<std::string> told;  // in more detail
  for (const DeploymentJob& job : parts.jobs) {
    MindieServerJob& server = of.servers.emplace_back();
    server.name = job.name;
    server.members = job.members.members;
    of.super_pods = of.super_pods || job.members.form.dialect == Dialect::hccl_1_2;
    if (!job.members.missing.empty()) told.insert("the pods of job " + job.name);
    if (job.pod == nullptr) continue;
    server.group_deploys = job.pod->group_deploys;
    server.server_deploys = job.pod->server_deploys;
  }
  if (to.problem.empty()) {
    auto made = domain::ranktable::make_mindie_table(of);
    if (!made) {
      to.problem = made.error().text();
    } else if (!made->missing.empty() || !missing.empty()) {
      for (std::string& one : made->missing) {
        if (!told.contains(one)) missing.push_back(std::move(one));
      }
    } else {
      to.set(made->table, max_bytes);
    }
  }
  to.name_missing(std::move(missing));
}

void fill_pd_table(const DeploymentParts& parts, const Scheduler& scheduler, std::size_t max_bytes,
                   PublishedTable& to) {
  domain::ranktable::PdDeployment of;
  to.problem = dialect_of(parts, of.dialect);
  of.scheduler = one_of(parts, DeploymentRole::scheduler, scheduler, to.problem);
  if (to.text.empty()) to.pd = initial_files(parts, of.dialect);
  std::vector<std::string> missing = missing_of(parts, to);
  of.prefill = instances_of(parts, DeploymentRole::prefill, missing);
  of.decode = instances_of(parts, DeploymentRole::decode, missing);
  if (to.problem.empty()) {
    auto made = domain::ranktable::make_pd_tables(of);
    if (!made) {
      to.problem = made.error().text();
    } else if (!made->missing.empty() || !missing.empty()) {
      if (missing.empty()) missing = std::move(made->missing);
    } else {
      // The local tables together have about the size of the global one.
      to.set(made->table, made->locals.empty() ? max_bytes : max_bytes / 2);
      if (to.complete) {
        to.pd = PdFiles{of.dialect == Dialect::vllm_ascend, {}};
        for (const auto& [pod, table] : made->locals)
          to.pd->locals.emplace(pod, codec::ranktable::write_table(table, 0));
      }
    }
  }
  to.name_missing(std::move(missing));
}

}  // namespace chipweave::sched
