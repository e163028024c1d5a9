// logfmt — formats log lines as key=value pairs on one line, with values quoted if necessary.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/obs/log.hpp"

namespace chipweave::obs {

// "debug", "info", "warn", "error".
std::string_view to_string(Level level);

// Appends `value` unchanged if it is plain, otherwise in double quotes with \" \\ \n \r \t and
// \u00XX for other control bytes. Bytes from 0x80 on are kept: names may be UTF-8. A value cannot
// end its line or forge another field.
void append_value(std::string& out, std::string_view value);

std::string format_line(std::chrono::system_clock::time_point time, Level level,
                        std::string_view message, std::initializer_list<Field> fields);

}  // namespace chipweave::obs
