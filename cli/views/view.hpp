// What `nodes`, `pods`, `gangs` and `explain` share: names of objects in URLs, and repeated
// questions.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/scheduler_client.hpp"

namespace chipweave::cli {

// "ns/name" of "[NAMESPACE/]NAME", or "" with an error message if it is not a valid name of a pod,
// so that only characters of object names reach a URL. ns: where the text names none.
std::string pod_path(const std::string& typed, const std::string& ns);
// The object that a command names, e.g. pod default/train-0, and how the names of all are listed.
struct Named {
  const char* kind = "";
  std::string name;
  Result<std::vector<std::string>> (*all)(SchedulerClient& scheduler) = nullptr;
};
Result<std::vector<std::string>> names_of_pods(SchedulerClient& scheduler);
Result<std::vector<std::string>> names_of_nodes(SchedulerClient& scheduler);
Result<std::vector<std::string>> names_of_gangs(SchedulerClient& scheduler);

// Prints the scheduler's own error, or for an object that it does not know one with the names near
// it. named: empty for a list.
Exit view_failed(SchedulerClient& scheduler, const Error& error, const Named& named);

// Whether it can be the name of a node; also such as are possible without Kubernetes.
bool is_node_name(const std::string& name);

inline constexpr std::chrono::seconds kWatchEvery{2};

// The rows that changed since the last answer, below a header if `headed`; empty: none did.
using Changes = std::function<Result<std::string>(const std::string& body, bool first)>;
// Asks the scheduler every kWatchEvery and prints what `changes` makes of each answer, the header
// once. Ends when the scheduler does not reply, or nothing more can be printed.
Exit watch(SchedulerClient& scheduler, const std::string& target, bool headed,
           const Changes& changes);

}  // namespace chipweave::cli
