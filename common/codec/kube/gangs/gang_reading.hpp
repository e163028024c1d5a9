// GangReading — one object that is read, with helpers for what several frameworks share. Internal
// to common/codec/kube/gangs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"

namespace chipweave::codec {

// For JSON in an annotation.
inline constexpr JsonLimits kMarkLimits{64U << 10U, 1000};

class GangReading {
 public:
  GangReading(JsonValue spec, JsonProblems& problems)
      : problems_(problems), spec_(JsonObject::tolerant(spec, problems)) {}

  const JsonObject& spec() const { return spec_; }
  JsonProblems& problems() const { return problems_; }
  // nullopt: it is absent. Something else than an object is a problem.
  std::optional<JsonObject> part(const JsonObject& parent, std::string_view key) const {
    const JsonValue value = parent.find(key);
    return value ? std::optional(JsonObject::tolerant(value, problems_)) : std::nullopt;
  }
  JsonObject part(JsonValue value) const { return JsonObject::tolerant(value, problems_); }

  domain::GangSpec& declare(std::string framework, std::string name) {
    gangs_.push_back({std::move(framework), std::move(name), {}});
    return gangs_.back().spec;
  }
  std::vector<DeclaredGang>& gangs() { return gangs_; }

 private:
  JsonProblems& problems_;
  JsonObject spec_;
  std::vector<DeclaredGang> gangs_;
};

// A number of pods, from `least` to limits::kMaxGangPods.
std::optional<int> pods_of(const JsonObject& object, std::string_view key, int least = 0);
// A level's name.
void add_level(const JsonObject& object, std::string_view key, std::vector<std::string>& to);
// a * b, at most limits::kMaxGangPods; more is a problem of `key`.
int pods_product(const JsonObject& object, std::string_view key, int a, int b);
// The sum of the roles' pods, if all are known; above limits::kMaxGangPods: a problem of the spec.
std::optional<int> pods_of_roles(const GangReading& reading, const domain::GangSpec& spec);

// metadata.annotations of a template.
StringMap annotations_of(const JsonObject& object_template);
// Topology and chips of a pod template.
void read_pod_template(const JsonObject& pod_template, domain::TopologyWish& topology,
                       std::optional<domain::ChipCounts>& chips);
// The same of that under `template`, if there is one.
void read_template(const JsonObject& parent, domain::TopologyWish& topology,
                   std::optional<domain::ChipCounts>& chips);

// A map from replica types to {replicas, template}: the roles, in lower case.
void read_replica_specs(GangReading& reading, const char* key, domain::GangSpec& to);
// spec.runPolicy.schedulingPolicy.minAvailable, of the training operator and what is built on it.
void read_run_policy(GangReading& reading, domain::GangSpec& to);

// Which topology an object's own metadata asks for.
domain::TopologyWish topology_of_object(const StringMap& labels, const StringMap& annotations);

// Labels and annotations of a pod or an object.
struct Marks {
  const StringMap& labels;
  const StringMap& annotations;
  // "" also where there is none.
  std::string_view label(std::string_view key) const;
  std::string_view annotation(std::string_view key) const;
  bool has(std::string_view key) const { return annotations.find(key) != annotations.end(); }
  // An annotation with a number of at least 1; another value is a problem.
  std::optional<int> number(std::string_view key, int most, domain::TopologyWish& to) const;
};
// "KEY is "VALUE"; WANTED"; the first one is kept.
void note_problem(domain::TopologyWish& to, std::string_view key, std::string_view value,
                  std::string_view wanted);

void own_topology(const Marks& marks, domain::TopologyWish& to);
void volcano_topology(const Marks& marks, domain::TopologyWish& to);
void koordinator_topology(const Marks& marks, domain::TopologyWish& to);
void kai_topology(const Marks& marks, domain::TopologyWish& to);
void kueue_topology(const Marks& marks, domain::TopologyWish& to);
void lws_topology(const Marks& marks, domain::TopologyWish& to);
void ascend_topology(const Marks& marks, domain::TopologyWish& to);

void read_volcano_job(const KubeGangObject& object, GangReading& reading);
void read_volcano_pod_group(const KubeGangObject& object, GangReading& reading);
void read_scheduler_plugins_pod_group(const KubeGangObject& object, GangReading& reading);
void read_koordinator_pod_group(const KubeGangObject& object, GangReading& reading);
void read_kai_pod_group(const KubeGangObject& object, GangReading& reading);
void read_kueue_workload(const KubeGangObject& object, GangReading& reading);
void read_native_pod_group(const KubeGangObject& object, GangReading& reading);
void read_native_workload(const KubeGangObject& object, GangReading& reading);
void read_batch_job(const KubeGangObject& object, GangReading& reading);
void read_jobset(const KubeGangObject& object, GangReading& reading);
void read_lws(const KubeGangObject& object, GangReading& reading);
void read_pytorch_job(const KubeGangObject& object, GangReading& reading);
void read_tf_job(const KubeGangObject& object, GangReading& reading);
void read_mpi_job(const KubeGangObject& object, GangReading& reading);
void read_paddle_job(const KubeGangObject& object, GangReading& reading);
void read_xgboost_job(const KubeGangObject& object, GangReading& reading);
void read_jax_job(const KubeGangObject& object, GangReading& reading);
void read_train_job(const KubeGangObject& object, GangReading& reading);
void read_ray_cluster(const KubeGangObject& object, GangReading& reading);
void read_ascend_job(const KubeGangObject& object, GangReading& reading);
void read_elastic_job(const KubeGangObject& object, GangReading& reading);
void read_pod_gang(const KubeGangObject& object, GangReading& reading);

}  // namespace chipweave::codec
