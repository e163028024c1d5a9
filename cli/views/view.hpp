// What `nodes`, `pods`, `gangs` and `explain` share: names of objects in URLs, and repeated
// questions.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/commands.hpp"
#include "cli/scheduler_client.hpp"

namespace chipweave::cli {

// "ns/name" of "[NAMESPACE/]NAME", or "" with an error message if it is not a valid name of a pod,
// so that only characters of object names reach a URL. ns: where the text names none.
std::string pod_path(const std::string& typed, const std::string& ns = "default");
// Whether it can be the name of a node; also such as are possible without Kubernetes.
bool is_node_name(const std::string& name);

inline constexpr std::chrono::seconds kWatchEvery{2};

// Asks the scheduler every kWatchEvery and prints what `changes` makes of each answer. Ends when
// the scheduler does not reply, or nothing more can be printed.
Exit watch(SchedulerClient& scheduler, const std::string& target,
           const std::function<Result<std::string>(const std::string& body)>& changes);

}  // namespace chipweave::cli
