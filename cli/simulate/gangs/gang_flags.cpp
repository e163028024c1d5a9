#include "cli/simulate/gangs/gang_flags.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/solver/simulate/gangs/gang_placer.hpp"

namespace chipweave::cli {
namespace {

constexpr std::int64_t kMaxGangChips = std::int64_t{limits::kMaxGangPods} * 64;
constexpr double kMaxPatience = 1e12;

bool is_known(const std::vector<std::string_view>& known, const std::string& name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace

CLI::Option* add_gang_flags(CLI::App& command, GangFlags& flags) {
  CLI::Option* network =
      add_value(command, "--network", "FILE", flags.network,
                "replay gangs on this network, a description in any format; -: stdin");
  const auto option = [&](const char* name, const char* value, auto& to, const std::string& help) {
    return add_value(command, name, value, to, help)->needs(network);
  };
  for (CLI::Option* o : add_network_options(command, flags.import)) o->needs(network);
  option("--free", "CHIPS", flags.free, "chips of each node for which the file gives none")
      ->check(CLI::Range(0, limits::kMaxChipsOfPod));
  option("--jobs", "FILE", flags.jobs,
         "gangs to replay, CSV; -: stdin; default: drawn by --sizes, --smallest, --largest");
  option("--patience", "SECONDS", flags.patience_s,
         "so long a gang that does not fit lets later ones go first; 0: never; default: 300")
      ->check(CLI::Range(0.0, kMaxPatience));
  offer(
      option("--sizes", "DISTRIBUTION", flags.sizes,
             "chips of a drawn gang: powers-of-two (default), all equally likely, or log-uniform"),
      std::array<std::string_view, 2>{"powers-of-two", "log-uniform"});
  option("--smallest", "CHIPS", flags.smallest, "fewest chips of a drawn gang; default: 1")
      ->check(CLI::Range(std::int64_t{1}, kMaxGangChips));
  option("--largest", "CHIPS", flags.largest,
         "most chips of a drawn gang; default: 64 times --pod-chips, at most those of the network")
      ->check(CLI::Range(std::int64_t{1}, kMaxGangChips));
  option("--pod-chips", "CHIPS", flags.pod_chips,
         "most chips of a drawn pod; default: those of the largest node")
      ->check(CLI::Range(1, limits::kMaxChipsOfPod));
  option("--required", "LEVEL", flags.required,
         "gangs for which the file names no level: inside one domain of this one");
  option("--preferred", "LEVEL", flags.preferred, "the same if that is possible");
  return network;
}

std::string wrong_gang_flags(const GangFlags& flags, const ReplayFlags& replay) {
  const std::pair<const char*, double> numbers[] = {{"--patience", flags.patience_s},
                                                    {"--load", replay.load.value_or(0)},
                                                    {"--arrival-rate", replay.rate.value_or(0)},
                                                    {"--duration", replay.duration.value_or(0)}};
  // A range does not refuse "nan".
  for (const auto& [flag, number] : numbers) {
    if (!std::isfinite(number)) return std::string(flag) + ": expected a finite number, got nan";
  }
  if (std::string twice =
          standard_input_error({{"--network", flags.network}, {"--jobs", flags.jobs}});
      !twice.empty())
    return twice;
  if (replay.rate && replay.load) return "--load cannot be combined with --arrival-rate";
  const bool by_size = !flags.sizes.empty() || flags.smallest || flags.largest || flags.pod_chips;
  if (!flags.jobs.empty() && by_size)
    return "--jobs cannot be combined with --sizes, --smallest, --largest, --pod-chips";
  const std::vector<std::string_view> sizes = {"powers-of-two", "log-uniform"};
  if (!flags.sizes.empty() && !is_known(sizes, flags.sizes))
    return "--sizes: " + unknown_name("distribution", flags.sizes, sizes);
  std::vector<std::string_view> known;
  for (const simulate::NamedGangPlacer& placer : simulate::gang_placers())
    known.push_back(placer.name);
  for (const std::string& name : replay.policies) {
    if (!is_known(known, name)) return "--policies: " + unknown_name("policy", name, known);
  }
  return "";
}

}  // namespace chipweave::cli
