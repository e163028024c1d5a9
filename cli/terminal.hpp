// Terminal — output shared by all commands: errors on one line, colours on terminals only, number
// formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

inline constexpr std::size_t kMaxColumns = 100;

// A width without limit: nothing is shortened, no row is left out.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

enum class OutputForm { text, json, wide, name, yaml };

// "chipweave: …" and a newline on stderr.
void complain(std::string_view message);
void complain(const Error& error);
// The same; returns `exit`, so that a command can end with it.
Exit complain(std::string_view message, Exit exit);
Exit complain(const Error& error, Exit exit);
// "chipweave: note: …" on stderr, for assumptions and omissions.
void remark(std::string_view message);
// "chipweave: warning: …" on stderr, for parts of a request or file without effect.
void warn(std::string_view message);
// Prints to stdout; false, with an error message, when it cannot be written, e.g. to a full disk.
bool print(std::string_view text);
// The same as the end of a command.
Exit printed(std::string_view text);

// Whether stdout is a terminal that shows colours (NO_COLOR and TERM=dumb are respected).
bool colour_wanted();
// Columns for tables: the terminal's, or kUnlimited where stdout is a pipe or a file.
std::size_t output_columns();
// Whether stdout shows UTF-8, by the locale's variables (LC_ALL, LC_CTYPE, LANG) and TERM=dumb.
bool utf8_wanted();
enum class Colour { none, bold, green, yellow, dim };
std::string painted(std::string_view text, Colour colour, bool wanted);

// GB/s as shown in tables: 40 → "40", 33.333 → "33.3".
std::string gbps_text(double gbps);
// "-" for an empty text.
std::string or_dash(const std::string& text);
// {0,1,2,5} → "0-2,5"; "-" when empty. Ascending input.
std::string chip_list(const std::vector<int>& chips);
// Text broken at blanks so that no line is longer than kMaxColumns; further lines are indented by
// `indent`.
std::string wrapped(std::string_view text, std::size_t indent);

}  // namespace chipweave::cli
