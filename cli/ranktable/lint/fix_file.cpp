#include "cli/ranktable/lint/fix_file.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

constexpr int kMaxCopies = 1000;

struct Lines {
  std::vector<std::string_view> list;
  bool ends_with_newline = true;
};

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.ends_with_newline = end != std::string_view::npos;
    out.list.push_back(text.substr(0, end));
    text.remove_prefix(out.ends_with_newline ? end + 1 : text.size());
  }
  return out;
}

void add_lines(char sign, const Lines& lines, std::size_t begin, std::size_t end,
               std::string& out) {
  for (std::size_t i = begin; i < end; ++i) {
    out += concat(std::string_view(&sign, 1), lines.list[i], "\n");
    if (i + 1 == lines.list.size() && !lines.ends_with_newline) {
      out += "\\ No newline at end of file\n";
    }
  }
}

std::string range(std::size_t begin, std::size_t end) {
  return concat(begin + 1, ",", end - begin);
}

}  // namespace

std::string line_diff(const std::string& file, std::string_view before, std::string_view after) {
  if (before == after) return "";
  const Lines a = lines_of(before);
  const Lines b = lines_of(after);
  std::string out = concat("--- ", file, "\n+++ ", file, "\n");
  const auto change = [&](std::size_t begin, std::size_t end_a, std::size_t end_b) {
    out += concat("@@ -", range(begin, end_a), " +", range(begin, end_b), " @@\n");
    add_lines('-', a, begin, end_a, out);
    add_lines('+', b, begin, end_b, out);
  };
  if (a.list.size() != b.list.size() || a.ends_with_newline != b.ends_with_newline) {
    change(0, a.list.size(), b.list.size());
    return out;
  }
  for (std::size_t i = 0; i < a.list.size(); ++i) {
    if (a.list[i] == b.list[i]) continue;
    const std::size_t begin = i;
    while (i < a.list.size() && a.list[i] != b.list[i]) ++i;
    change(begin, i, i);
  }
  return out;
}

Result<std::string> keep_copy(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::string();
  for (int i = 0; i < kMaxCopies; ++i) {
    std::string copy = file + ".bak" + (i == 0 ? "" : "." + std::to_string(i));
    fs::copy_file(file, copy, fs::copy_options::none, error);
    if (!error) return copy;
    if (error != std::errc::file_exists) {
      return make_error(Errc::unavailable, error.message()).in("cannot write " + copy);
    }
  }
  return make_error(Errc::limit_exceeded, "has too many copies: " + file + ".bak.…").in(file);
}

}  // namespace chipweave::cli
