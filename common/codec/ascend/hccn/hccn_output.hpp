// Helpers shared by all readers of hccn_tool's output. Internal to common/codec/ascend.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

inline constexpr std::size_t kMaxTableRows = 4096;  // of one table

// The error for an output that lacks `what`.
Error no_answer(std::string_view output, const std::string& what);
// A shell prompt that was copied along with the output: "$ cat /etc/hccn.conf", "[root@n1 ~]# …".
bool is_prompt(std::string_view line);
// limit_exceeded above kMaxHccnToolBytes.
Result<void> small_enough(std::string_view output);
// The value of the first line with that key.
Result<std::string> first_value(std::string_view output, std::string_view key,
                                const std::string& what);

}  // namespace chipweave::codec::ascend
