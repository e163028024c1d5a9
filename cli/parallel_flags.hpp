// The flags of `plan` and `rank` that say how a job is parallel: --tensor, --context, --expert,
// --data, --pipeline, --ranks-per-pod.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::cli {

struct ParallelFlags {
  std::optional<std::int64_t> tensor, context, expert, data, pipeline, ranks_per_pod;

  // The name of the first one that is given; "": none is.
  std::string_view first() const;
  bool any() const { return !first().empty(); }
  // The key `communicators` of a request; ranks_per_pod in place of the flag's, if given.
  std::string json(std::optional<std::int64_t> ranks) const;
};

// default_ranks: the help of --ranks-per-pod.
void add_parallel_flags(CLI::App& command, ParallelFlags& flags, CLI::Option* batch,
                        const char* default_ranks);

}  // namespace chipweave::cli
