// logfmt — how a log line is written: key=value pairs, values quoted where they need to be, always
// one line.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/obs/log.hpp"

namespace chipweave::obs {

// "debug", "info", "warn", "error".
std::string_view to_string(Level level);

// Appends `value` as it is if it is plain, else in double quotes with \" \\ \n \r \t and \u00XX for
// other control bytes. Bytes from 0x80 on pass: names may be UTF-8. No value can end its line or
// forge another field.
void append_value(std::string& out, std::string_view value);

std::string format_line(std::chrono::system_clock::time_point time, Level level,
                        std::string_view message, std::initializer_list<Field> fields);

}  // namespace chipweave::obs
