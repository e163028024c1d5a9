// age_since — what a column AGE shows of a time that a scheduler answered.
#pragma once

#include <chrono>
#include <string>

namespace chipweave::cli {

// time: RFC 3339; "-" for anything else.
std::string age_since(const std::string& time, std::chrono::system_clock::time_point now);

}  // namespace chipweave::cli
