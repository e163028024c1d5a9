// The flags of `simulate` for gangs on a network.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/simulate/replay_flags.hpp"
#include "common/codec/network/import.hpp"
#include "common/domain/gangs/gang_patience.hpp"

namespace chipweave::cli {

struct GangFlags {
  std::string network;  // empty: the form for pods
  codec::NetworkImportOptions import;
  std::optional<std::int64_t> free;
  std::string jobs;
  double patience_s = domain::kGangPatienceSeconds;
  std::string sizes;  // empty: powers of two
  std::optional<std::int64_t> smallest, largest, pod_chips;
  std::optional<std::string> required, preferred;
};

// Returns --network, which the others need.
CLI::Option* add_gang_flags(CLI::App& command, GangFlags& flags);

// The error that shows before any file is read; empty: none.
std::string wrong_gang_flags(const GangFlags& flags, const ReplayFlags& replay);

}  // namespace chipweave::cli
