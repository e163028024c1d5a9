// plan_object — the ConfigMap that keeps the plan of a gang: its name, its marks, its content.
#pragma once

#include <string>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/watch.hpp"
#include "scheduler-plugin/model/gangs/stored_plan.hpp"

namespace chipweave::sched {

inline constexpr const char* kPlanObjectLabel = "chipweave.dev/gang-plan";  // "1"
inline constexpr const char* kPlanObjectAnnotation = "chipweave.dev/gang";  // the gang's id
inline constexpr const char* kPlanObjectSelector = "labelSelector=chipweave.dev%2Fgang-plan%3D1";
// Names that a gang's ConfigMap may have: more than one, because two gangs can have one hash.
inline constexpr int kMaxPlanNames = 8;

// nth: from 1. "chipweave-gang-" and a hash of the gang's id; from the second on with "-2" ….
std::string plan_object_name(const std::string& gang, int nth);
// The gang that the ConfigMap claims to be of; "": of none, or of one that has other names.
std::string gang_of_object(const codec::KubeConfigMap& object);
// Errors: those of codec::read_gang_plan(); invalid_argument: it is of another gang.
Result<StoredPlan> plan_of_object(const codec::KubeConfigMap& object);

// The content. Errors: those of codec::write_gang_plan().
Result<std::string> plan_text(const StoredPlan& plan);
// The bodies of the requests that create it and that replace a version of it.
std::string new_plan_object(const std::string& ns, const std::string& name, const std::string& gang,
                            const std::string& text);
std::string plan_object_patch(const codec::ObjectVersion& of, const std::string& gang,
                              const std::string& text);

}  // namespace chipweave::sched
