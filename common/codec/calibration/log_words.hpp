// What the logs of nccl-tests, rccl-tests and hccl_test have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/text/lines.hpp"

namespace chipweave::codec {

// Without the tag that mpirun and srun put before each line: "[1,0]<stdout>: ", "0: ".
std::string_view without_rank_tag(std::string_view line);

// Gives each line to `take`, trimmed and without its rank tag, counting lines in `number`; the
// first error names its line.
template <class Take>
Result<void> each_log_line(std::string_view log, std::size_t& number, const Take& take) {
  LineReader lines(log);
  std::string_view line;
  while (lines.next_trimmed(line)) {
    ++number;
    if (Result<void> ok = take(without_rank_tag(line)); !ok)
      return std::move(ok).error().in("line " + std::to_string(number));
  }
  return {};
}

// A finite number that is not negative. Error: what it is instead.
Result<double> positive_number(std::string_view word);
// A number of bytes or values.
Result<std::uint64_t> whole_count(std::string_view word);

// "2025-03-14" of a line that begins with a date, also after "#" and "date:".
std::optional<std::string> date_of(std::string_view line);

// The collective of a program's name: "./build/all_reduce_perf" and "_perf" → "all_reduce"; "" if
// the word is not such a program.
std::string collective_of_program(std::string_view word, std::string_view ending);

}  // namespace chipweave::codec
