#include "cli/batch.hpp"

#include <cerrno>
#include <cstring>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>

#include "cli/input_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/batch/batch.hpp"

namespace chipweave::cli {
namespace {

std::int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// One line without its newline; longer ones are cut just above the limit, so that they are rejected
// without being stored.
bool read_line(std::istream& in, std::size_t max_bytes, std::string& line) {
  line.clear();
  std::streambuf* buffer = in.rdbuf();
  for (int c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
    if (c == '\n') return true;
    if (line.size() <= max_bytes) line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

}  // namespace

void Timing::begin() { began_ = now(); }

void Timing::end() { ns_.push_back(now() - began_); }

void Timing::report() {
  if (!wanted_) return;
  std::sort(ns_.begin(), ns_.end());
  const auto at = [this](std::size_t k) {
    return ns_.empty() ? 0 : ns_[std::min(k, ns_.size() - 1)];
  };
  JsonWriter json;
  json.begin_object().field("decisions", ns_.size()).field("ns_min", at(0));
  json.field("ns_median", at(ns_.size() / 2)).field("ns_p99", at(ns_.size() * 99 / 100));
  json.field("ns_max", at(ns_.empty() ? 0 : ns_.size() - 1)).end_object();
  std::cerr << json.text() << '\n';
}

Exit run_batch(const BatchFlags& flags, std::size_t max_bytes,
               const std::function<BatchAnswer(const std::string& line, Timing& timing)>& answer) {
  const std::string& file = flags.file;
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    opened.peek();  // a folder opens, but does not read
    if (!opened.is_open() || opened.bad())
      return complain(
          "file " + file + ": cannot be read: " + std::strerror(errno) + "; - reads standard input",
          Exit::unreadable);
    opened.clear();
  } else if (const auto claimed = claim_standard_input(); !claimed) {
    return complain_of_reading(claimed.error());
  }
  std::istream& in = file == "-" ? std::cin : opened;
  Timing timing(flags);
  bool errors = false;
  std::string line;
  while (read_line(in, max_bytes, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const BatchAnswer one = answer(line, timing);
    errors = errors || !one.line;
    const std::string shown =
        one.line ? *one.line : codec::write_batch_error(one.id, one.line.error());
    if (!print(shown + "\n")) return Exit::unreadable;
  }
  timing.report();
  return errors ? Exit::findings : Exit::fine;
}

}  // namespace chipweave::cli
