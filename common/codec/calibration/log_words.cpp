#include "common/codec/calibration/log_words.hpp"

#include <algorithm>
#include <cmath>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

constexpr double kMaxNumber = 1e12;  // microseconds or GB/s

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string_view without_rank_tag(std::string_view line) {
  if (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    const std::size_t bracket = line.find("]<");
    if (end != std::string_view::npos && bracket != std::string_view::npos && bracket < end)
      return trim(line.substr(end + 2));
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && all_digits(line.substr(0, colon)) &&
      line.substr(colon + 1).starts_with(' ')) {
    return trim(line.substr(colon + 1));
  }
  return line;
}

Result<double> positive_number(std::string_view word) {
  const auto number = parse_number<double>(word);
  if (!number || !std::isfinite(*number) || *number < 0 || *number > kMaxNumber)
    return make_error(Errc::invalid_argument, "expected a number, got " + in_quotes(word));
  return *number;
}

Result<std::uint64_t> whole_count(std::string_view word) {
  const auto number = parse_number<std::uint64_t>(word);
  if (!number)
    return make_error(Errc::invalid_argument, "expected a whole number, got " + in_quotes(word));
  return *number;
}

std::optional<std::string> date_of(std::string_view line) {
  line = trim(line);
  if (line.starts_with('#')) line = trim(line.substr(1));
  if (lower_case(line.substr(0, 5)) == "date:") line = trim(line.substr(5));
  const std::string_view date = line.substr(0, 10);
  if (date.size() < 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
  if (!all_digits(date.substr(0, 4)) || !all_digits(date.substr(5, 2)) ||
      !all_digits(date.substr(8, 2))) {
    return std::nullopt;
  }
  const auto month = parse_number<int>(date.substr(5, 2)).value_or(0);
  const auto day = parse_number<int>(date.substr(8, 2)).value_or(0);
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  return std::string(date);
}

std::string collective_of_program(std::string_view word, std::string_view ending) {
  word = word.substr(word.find_last_of('/') + 1);  // npos + 1 is 0
  if (word.ends_with("_mpi")) word.remove_suffix(4);
  if (!word.ends_with(ending) || word.size() == ending.size()) return {};
  word.remove_suffix(ending.size());
  const bool plain = std::all_of(word.begin(), word.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return plain && word.size() <= 32 ? std::string(word) : std::string();
}

}  // namespace chipweave::codec
