// Flags that both forms of `simulate` have: for pods of a trace, and for gangs on a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace chipweave::cli {

struct ReplayFlags {
  std::vector<std::string> policies;  // empty: all
  std::optional<double> load;         // percent
  std::optional<double> rate;         // arrivals an hour
  std::optional<double> duration;     // seconds
  std::optional<std::size_t> count;
  std::uint64_t seed = 1;
  OutputForm form = OutputForm::text;
};

}  // namespace chipweave::cli
