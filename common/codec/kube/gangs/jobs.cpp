// Jobs of Kubernetes (batch/v1), and JobSets of them (jobset.x-k8s.io/v1alpha2).
#include <algorithm>
#include <set>

#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kJobsApart = "alpha.jobset.sigs.k8s.io/exclusive-topology";
// The nodes carry labels for the Jobs already: no pod waits for another one.
constexpr std::string_view kNodesLabelled = "alpha.jobset.sigs.k8s.io/node-selector";

struct JobPods {
  int pods = 1;
  bool fixed = false;  // as many as completions
};

JobPods pods_of_job(const JsonObject& spec) {
  JobPods out;
  const auto completions = pods_of(spec, "completions");
  out.pods = pods_of(spec, "parallelism").value_or(1);
  out.fixed = completions == out.pods;
  if (completions) out.pods = std::min(out.pods, *completions);
  return out;
}

// What Kueue keeps in one domain are the pods of all Jobs of a ReplicatedJob.
void place_together(domain::RoleSpec& role, const std::string& replicated) {
  if (!role.topology.required.empty() && role.topology.together.empty())
    role.topology.together = replicated;
  for (const domain::WishedSlice& slice : role.topology.slices) {
    if (*role.pods % slice.size == 0 || !role.topology.problem.empty()) continue;
    role.topology.problem = "slices of " + std::to_string(slice.size) +
                            " pods that reach over Jobs of " + std::to_string(*role.pods) +
                            " are not supported";
  }
}

// The level of which each of the Jobs has a domain of its own, by the annotations of the JobSet or
// of the ReplicatedJob. Its first pod must be bound before JobSet admits the others.
void keep_apart(const StringMap& annotations, domain::RoleSpec& role, domain::GangSpec& to) {
  const auto at = annotations.find(kJobsApart);
  if (at == annotations.end()) return;
  role.topology.required.push_back(at->second);
  role.topology.per_role = true;
  if (annotations.find(kNodesLabelled) == annotations.end()) to.sequential = true;
}

// ReplicatedJobs that others start after, once these have ended: they are never there together.
std::set<std::string> ends_before(JsonValue replicated_jobs) {
  std::set<std::string> out;
  for (const JsonValue job : replicated_jobs) {
    for (const JsonValue other : job["dependsOn"])
      if (other["status"].text() == "Complete") out.emplace(other["name"].text());
  }
  return out;
}

// Each of its Jobs is a role, as in the pods' marks.
void read_replicated_job(const KubeGangObject& object, GangReading& reading, JsonValue value,
                         domain::GangSpec& to) {
  const JsonObject replicated = reading.part(value);
  domain::RoleSpec role;
  const std::string name = replicated.require_text("name").value_or("");
  const int replicas = pods_of(replicated, "replicas").value_or(1);
  const auto job_template = reading.part(replicated, "template");
  const auto spec = job_template ? reading.part(*job_template, "spec") : std::nullopt;
  role.pods = 1;
  if (spec) {
    role.pods = pods_of_job(*spec).pods;
    read_template(*spec, role.topology, role.chips);
  }
  place_together(role, name);
  const StringMap own = job_template ? annotations_of(*job_template) : StringMap();
  keep_apart(own.find(kJobsApart) == own.end() ? object.annotations : own, role, to);
  to.sequential = to.sequential || replicated.has("dependsOn");
  if (static_cast<std::size_t>(replicas) > limits::kMaxGangSets - to.roles.size())
    return replicated.problem("replicas",
                              "makes more than " + std::to_string(limits::kMaxGangSets) + " Jobs");
  for (int i = 0; i < replicas; ++i) {
    role.name = name + "/" + std::to_string(i);
    to.roles.push_back(role);
  }
}

}  // namespace

// An Indexed Job whose pods all run at once, as Kubernetes' own gangs (WorkloadWithJob). The pods
// of any other Job start one by one.
void read_batch_job(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  const JobPods job = pods_of_job(spec);
  const bool indexed = spec.text_or_empty("completionMode") == "Indexed";
  domain::GangSpec& to = reading.declare("job", object.name);
  if (indexed && job.fixed && job.pods > 1)
    to.size = job.pods;
  else
    to.minimum = 1;
  read_template(spec, to.topology, to.chips);
}

void read_jobset(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("jobset", object.name);
  const JsonValue jobs = reading.spec().array("replicatedJobs", limits::kMaxGangSets);
  const std::set<std::string> earlier = ends_before(jobs);
  for (const JsonValue value : jobs) {
    if (earlier.count(std::string(value["name"].text())) == 0)
      read_replicated_job(object, reading, value, to);
  }
  if (const auto policy = reading.part(reading.spec(), "startupPolicy"))
    to.sequential = to.sequential || policy->text_or_empty("startupPolicyOrder") == "InOrder";
  to.size = pods_of_roles(reading, to);
}

}  // namespace chipweave::codec
