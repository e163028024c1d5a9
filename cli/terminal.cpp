#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

void complain(std::string_view message) {
  write_all(stderr, "chipweave: " + printable(message) + "\n");
}

void complain(const Error& error) { complain(error.text()); }

Exit complain(std::string_view message, Exit exit) {
  complain(message);
  return exit;
}

Exit complain(const Error& error, Exit exit) { return complain(error.text(), exit); }

void remark(std::string_view message) {
  write_all(stderr, "chipweave: note: " + printable(message) + "\n");
}

void warn(std::string_view message) {
  write_all(stderr, "chipweave: warning: " + printable(message) + "\n");
}

Exit exit_for(const Error& error) {
  const bool names_flag = error.context.empty() ? error.message.starts_with("--") ||
                                                      error.message.starts_with("one of --")
                                                : error.context.back().starts_with("-");
  return names_flag ? Exit::usage : Exit::unreadable;
}

Exit exit_for_object(const Error& error) {
  return error.code == Errc::not_found ? Exit::not_found : exit_for(error);
}

bool print(std::string_view text) {
  if (write_all(stdout, text)) return true;
  complain("the output could not be written; is the disk full or the reader gone?");
  return false;
}

Exit printed(std::string_view text) { return print(text) ? Exit::fine : Exit::unreadable; }

bool colour_wanted() {
  const char* off = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (off == nullptr || *off == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

std::size_t output_columns() {
  if (isatty(STDOUT_FILENO) == 0) return kUnlimited;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kMaxColumns;
}

bool utf8_wanted() {
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;  // as setlocale() does
    const std::string locale = lower_case(std::string_view(value));
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

std::string painted(std::string_view text, Colour colour, bool wanted) {
  const char* code = nullptr;
  switch (colour) {
    case Colour::none:
      break;
    case Colour::bold:
      code = "1";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::dim:
      code = "2";
      break;
  }
  if (!wanted || code == nullptr) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string gbps_text(double gbps) {
  const double tenths = std::round(gbps * 10) / 10;
  return tenths == std::round(tenths) ? fmt::format("{:.0f}", tenths)
                                      : fmt::format("{:.1f}", tenths);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string chip_list(const std::vector<int>& chips) {
  std::string out;
  for (std::size_t i = 0; i < chips.size();) {
    std::size_t last = i;
    while (last + 1 < chips.size() && chips[last + 1] == chips[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(chips[i]);
    if (last > i) out += (last > i + 1 ? "-" : ",") + std::to_string(chips[last]);
    i = last + 1;
  }
  return out.empty() ? "-" : out;
}

std::string wrapped(std::string_view foreign, std::size_t indent) {
  const std::string clean = printable(foreign);
  std::string_view text = clean;
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' ', 1), text.size());
    const std::string_view word = text.substr(0, end);
    if (column + word.size() > kMaxColumns && column > indent) {
      out += "\n" + std::string(indent, ' ');
      const std::string_view bare = word.substr(std::min(word.find_first_not_of(' '), word.size()));
      out += bare;
      column = indent + bare.size();
    } else {
      out += word;
      column += word.size();
    }
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace chipweave::cli
