// The flags of `plan`, and the request that they make: a line of the batch form, so that both forms
// share keys, checks and messages.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/options.hpp"
#include "cli/parallel_flags.hpp"
#include "cli/plan/live_cluster.hpp"
#include "common/base/result.hpp"
#include "common/codec/gang/gang_file.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {

struct PlanFlags {
  BatchFlags batch;
  std::string network;
  codec::NetworkImportOptions import;
  LiveClusterFlags live;
  std::optional<std::int64_t> free;
  std::string gang, gangs;
  std::optional<std::int64_t> pods, chips, min;
  std::optional<std::string> required, preferred, policy, objective, keep_spare;
  std::vector<std::string> slices, existing, failed, overlays;
  ParallelFlags parallel;
  bool explain = false;
  std::vector<std::string> if_fails;
  std::string to;
  std::optional<int> cpu_packages;  // of a rankfile
  OutputForm form = OutputForm::text;
};

// batch: the option that excludes all of these.
void add_plan_flags(CLI::App& command, PlanFlags& flags, CLI::Option* batch);

// The usage error that shows before any file is read; empty: none.
std::string plan_usage_error(const PlanFlags& flags);

// A key of the gang, and the flag that it is from.
struct GangMember {
  std::string flag;
  std::string key;
  std::string json;
};
Result<std::vector<GangMember>> gang_members(const PlanFlags& flags);

// network: as JSON. file: of --gang; gangs: the list of --gangs as JSON, or empty.
std::string plan_line_of(const PlanFlags& flags, const std::string& network,
                         const std::vector<GangMember>& members, const codec::GangFile& file,
                         const std::string& gangs);

}  // namespace chipweave::cli
