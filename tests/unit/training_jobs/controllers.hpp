// Plays the controllers of the frameworks: what they make of an object, with the labels and
// annotations that they give pods.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace chipweave::sched::test {

using Json = nlohmann::json;

// What the API server holds.
struct Created {
  std::vector<Json> objects;  // with those that controllers add
  std::vector<Json> pods;
};

// Applies the documents of a manifest, in the namespace `team` unless they name one. Throws on a
// kind without a controller here.
Created apply(const std::vector<Json>& documents);

// The uid of all objects: no two of them are mistaken for each other here.
inline constexpr const char* kObjectUid = "5d0c5b1e-4f2a-4c8e-9b1d-2a6f0e3c5d71";
// The reference to a controller.
Json owned_by(const Json& object);
// As the API server does: five characters that differ between the pods of an object.
std::string random_suffix(std::size_t number);

struct PodMetadata {
  std::string name;
  Json labels = Json::object();
  Json annotations = Json::object();
};
// A pod of a template, with these labels and annotations in addition.
Json pod_of(const Json& owner, const Json& pod_template, const PodMetadata& metadata);
std::string lower(std::string text);

// One controller each.
void run_job(const Json& job, Created& to);
void run_jobset(const Json& set, Created& to);
void run_leader_worker_set(const Json& set, Created& to);
void run_training_job(const Json& job, Created& to);
void run_mpi_job(const Json& job, Created& to);
void run_train_job(const Json& job, Created& to);
void run_ray_cluster(const Json& cluster, Created& to);
void run_volcano_job(const Json& job, Created& to);
void run_ascend_job(const Json& job, Created& to);
void run_elastic_job(const Json& job, Created& to);

}  // namespace chipweave::sched::test
