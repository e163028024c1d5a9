#include "cli/calibrate/log_machine.hpp"

#include <algorithm>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::cli {

Result<std::string> machine_of(const std::vector<ParsedLog>& logs) {
  std::string device;
  int ranks = 0;
  for (const ParsedLog& log : logs) {
    for (const domain::CollectiveRun& run : log.runs) {
      ranks = std::max(ranks, run.ranks);
      if (device.empty() && !run.devices.empty()) device = run.devices.front().name;
    }
  }
  const auto required = [](const std::string& why) {
    return make_error(Errc::invalid_argument, "required, a profile or topology file: " + why)
        .in("--machine");
  };
  if (device.empty()) return required("the logs name no devices");
  std::vector<std::string> names;
  for (const profiles::Profile& profile : profiles::all()) {
    const auto imported = codec::import_topology_json(profile.json, {});
    if (!imported || imported->topology.chip_count() < ranks) continue;
    if (solver::same_model(device, imported->topology.model())) names.emplace_back(profile.name);
  }
  if (names.size() == 1) return names.front();
  return required(names.empty() ? "no profile has the devices of the logs, " + in_quotes(device)
                                : in_quotes(device) + " is in " + joined(names, ", "));
}

}  // namespace chipweave::cli
