// What the logs of nccl-tests, rccl-tests and hccl_test have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Without the tag that mpirun and srun put before each line: "[1,0]<stdout>: ", "0: ".
std::string_view without_rank_tag(std::string_view line);

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
