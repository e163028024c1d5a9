// chipweave plan without --batch: one gang from flags and files, answered with a table.
//
// The flags are turned into a line of the batch form, so that both forms share keys, checks and
// messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/plan_engine.hpp"
#include "cli/terminal.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/network/import.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace chipweave::cli {

struct PlanFlags {
  BatchFlags batch;
  std::string network;
  codec::NetworkImportOptions import;
  std::optional<std::int64_t> free;
  std::string gang;
  std::optional<std::int64_t> pods, chips, min;
  std::optional<std::string> required, preferred, policy, keep_spare;
  std::vector<std::string> slices, existing, failed;
  OutputForm form = OutputForm::text;
};

// All flags of a single request. `batch` excludes them.
void add_plan_flags(CLI::App& command, PlanFlags& flags, CLI::Option* batch);
Exit run_plan_flags(const PlanFlags& flags);

// The result of one line. `request` and `decided` are valid only without `wrong`.
struct PlannedLine {
  std::string answer;          // as the batch form prints it
  std::optional<Error> wrong;  // why the line could not be used
  codec::PlanRequest request;
  PlanEngine::Decided decided;
};
PlannedLine plan_line(PlanEngine& engine, const std::string& line, Timing& timing);

}  // namespace chipweave::cli
