// chipweave rank without --batch: prints a hostfile in rank order for a network.
//
// Flags and files are turned into a line of the batch form, with hosts as pods, so that both forms
// share keys, checks and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/codec/network/import.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace chipweave::cli {

struct RankFlags {
  BatchFlags batch;
  std::string network;
  codec::NetworkImportOptions import;
  std::string hosts;
  std::optional<std::int64_t> tensor, context, expert, data, pipeline, ranks_per_pod;
  OutputForm form = OutputForm::text;
};

// All flags of a single request. `batch` excludes them.
void add_rank_flags(CLI::App& command, RankFlags& flags, CLI::Option* batch);
Exit run_rank_flags(const RankFlags& flags);

// The result of one line. `request` and `order` are valid only without `wrong`.
struct RankedLine {
  std::string answer;          // as the batch form prints it
  std::optional<Error> wrong;  // why the line could not be used
  codec::RankRequest request;
  codec::RankAnswer order;
};
RankedLine rank_line(const std::string& line, Timing& timing);

}  // namespace chipweave::cli
