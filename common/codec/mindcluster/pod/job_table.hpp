// The rank table of a job as MindCluster's programs hand it over: which job a pod is of, and what
// is in the job's ConfigMap rings-config-JOB.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr const char* kJobTablePrefix = "rings-config-";  // of the ConfigMap's name
// Keys of the ConfigMap, and names of the files that containers read.
inline constexpr const char* kJobTableKey = "hccl.json";
inline constexpr const char* kTableVersionKey = "version";
// A table that is not known yet: its readers wait for another one.
inline constexpr const char* kInitialTable = R"({"status":"initializing"})";
inline constexpr const char* kInitialStatus = "initializing";
inline constexpr const char* kCompletedStatus = "completed";

// The value of a label, else of an annotation; empty: the pod has neither.
std::string_view mark_of(const StringMap& labels, const StringMap& annotations,
                         std::string_view key);
// The name that users know the pod's job by; of a pod without one, its own.
std::string job_of_pod(const std::string& pod, const StringMap& labels,
                       const StringMap& annotations);

// The table's status; empty: it has none. Errors: no JSON object; larger than 2 MiB.
Result<std::string> status_of_table(std::string_view table);

}  // namespace chipweave::codec::mindcluster
