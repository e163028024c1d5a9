#include "cli/reference/help_topics.hpp"

#include <map>

namespace chipweave::cli {

const std::vector<ExitCode>& exit_codes() {
  static const std::vector<ExitCode> codes = {
      {Exit::fine, "done"},
      {Exit::findings,
       "findings: does not fit, pods are pending, tables differ, errors in a table or in a line of "
       "a batch"},
      {Exit::usage,
       "wrong usage: an unknown command or flag, a value that makes no sense, flags that "
       "contradict each "
       "other or the files they name"},
      {Exit::unreadable,
       "a file cannot be read, or a scheduler or API server cannot be reached or refuses the call"},
      {Exit::not_found,
       "the pod, node, gang or job that the command names does not exist in the cluster"},
  };
  return codes;
}

std::vector<Variable> environment_variables(const std::vector<CommandPage>& pages) {
  std::map<std::string, std::string> found = {
      {"KUBECONFIG",
       "kubeconfig of kubectl chipweave and of --context, where --kubeconfig is not given; "
       "default: ~/.kube/config"},
      {"NO_COLOR", "if it is not empty, output has no colours"}};
  for (const CommandPage& page : pages)
    for (const OptionEntry& flag : page.flags)
      if (!flag.environment.empty())
        found.emplace(flag.environment, flag.names.back() + ": " + flag.help);
  std::vector<Variable> out;
  out.reserve(found.size());
  for (const auto& [name, meaning] : found) out.push_back({name, meaning});
  return out;
}

}  // namespace chipweave::cli
