#include "cli/ranktable/route/commands.hpp"

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/route/init_step.hpp"
#include "cli/ranktable/route/inputs.hpp"
#include "cli/terminal.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

using std::chrono::seconds;

constexpr const char* kRankFile = "RANK_AFTER_ACC";
constexpr const char* kMasterFile = "MASTER_INDEX";
constexpr seconds kMaxWait{24 * 3600};

// "90s", "30m", "1h", "90"
std::optional<seconds> parse_wait(std::string_view text) {
  int count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc() || count < 0 || count > kMaxWait.count()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!unit.empty() && unit != "s" && unit != "m" && unit != "h") return std::nullopt;
  const int factor = unit == "h" ? 3600 : unit == "m" ? 60 : 1;
  const seconds out = seconds(count) * factor;
  return out <= kMaxWait ? std::optional(out) : std::nullopt;
}

// The first process of a container ignores SIGTERM by default: the pod could not be deleted while
// it waits.
void end_on_sigterm() {
  std::signal(SIGTERM, [](int number) { std::_Exit(128 + number); });
  std::signal(SIGINT, [](int number) { std::_Exit(128 + number); });
}

std::string in_folder(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

Result<std::optional<std::string>> read_if_there(const std::string& folder, std::string_view name) {
  auto content = io::read_file(in_folder(folder, name), limits::kMaxRankTableBytes);
  if (content) return std::optional(*std::move(content));
  if (content.error().code == Errc::not_found) return std::optional<std::string>();
  return std::move(content).error();
}

Result<RouteTables> read_tables(const std::string& folder) {
  RouteTables out;
  for (const auto& [name, to] :
       {std::pair(codec::kJobStartFile, &out.job_start), std::pair(codec::kTorFile, &out.tors),
        std::pair(codec::kRoutePlanFile, &out.plan)}) {
    auto content = read_if_there(folder, name);
    if (!content) return std::move(content).error();
    *to = *std::move(content);
  }
  return out;
}

// Repeats until the tables are complete or the time is over (the last step is then `wait`).
Result<RouteStep> wait_for_tables(const RouteInitFlags& flags, const RouteStepRequest& request,
                                  const domain::NetworkTable* network, seconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  for (bool first = true;; first = false) {
    const Result<RouteTables> tables = read_tables(flags.config);
    if (!tables) return tables.error();
    Result<RouteStep> step = route_step(*tables, request, network);
    if (!step) {
      if (exit_for(step.error()) == Exit::usage) return step;
      return std::move(step).error().in("folder " + flags.config);
    }
    if (step->kind != RouteStep::Kind::wait) return step;
    if (std::chrono::steady_clock::now() >= deadline) return step;
    if (first) remark("waiting for " + flags.config + ": " + step->why);
    std::this_thread::sleep_for(seconds(1));
  }
}

Result<RouteStep> find_step(const RouteInitFlags& flags, seconds longest) {
  const RouteStepRequest request{flags.index, flags.replicas};
  if (!flags.hosts.empty() && flags.network.empty()) {
    return make_error(Errc::invalid_argument, "is required: a hostfile does not describe switches")
        .in("--network");
  }
  std::optional<domain::NetworkTable> network;
  if (!flags.network.empty()) {
    std::vector<std::string> warnings;
    auto read = read_route_network(flags.network, flags.import, warnings);
    if (!read) return std::move(read).error();
    for (const std::string& warning : warnings) warn(warning);
    network = *std::move(read);
  }
  if (flags.hosts.empty())
    return wait_for_tables(flags, request, network ? &*network : nullptr, longest);
  const auto machines = read_route_hosts(flags.hosts);
  if (!machines) return machines.error();
  return route_step(*machines, request, *network);
}

// Files of an earlier run must not outlive their plan. The job script takes missing files for "no
// route planning"; an empty MASTER_INDEX would break it.
Result<void> remove_files(const std::string& folder) {
  for (const char* name : {kRankFile, kMasterFile}) {
    std::error_code failed;
    std::filesystem::remove(in_folder(folder, name), failed);
    if (failed) {
      return make_error(Errc::unavailable, "cannot remove: " + failed.message())
          .in("file " + in_folder(folder, name));
    }
  }
  return {};
}

Result<void> write_step(const std::string& folder, const RouteStep& step) {
  auto master =
      io::write_file_atomically(in_folder(folder, kMasterFile), concat(step.master, "\n"));
  if (!master) return master;
  return io::write_file_atomically(in_folder(folder, kRankFile), concat(step.rank, "\n"));
}

}  // namespace

Exit run_route_init(const RouteInitFlags& flags) {
  const auto longest = parse_wait(flags.wait);
  if (!longest)
    return complain("--wait takes a time of at most 24h, such as 30m, 90s or 1h", Exit::usage);
  end_on_sigterm();
  if (auto removed = remove_files(flags.dir); !removed) return fail(removed.error());
  const Result<RouteStep> step = find_step(flags, *longest);
  if (!step) return fail(step.error());
  switch (step->kind) {
    case RouteStep::Kind::wait:
      return complain("the job's tables were not complete within " + flags.wait + ": " + step->why,
                      Exit::findings);
    case RouteStep::Kind::keep:
      remark(concat(step->why, "; this pod's rank is its index, ", flags.index));
      return Exit::fine;
    case RouteStep::Kind::ranked:
      break;
  }
  if (auto written = write_step(flags.dir, *step); !written) return fail(written.error());
  remark(concat("pod ", flags.index, " has new rank ", step->rank, "; the master is pod ",
                step->master));
  return Exit::fine;
}

}  // namespace chipweave::cli
