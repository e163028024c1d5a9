#include "common/codec/trace/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

Error invalid(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

}  // namespace

Result<void> CsvTable::split_line(std::string_view line) {
  if (line.size() > kMaxLineBytes) {
    return make_error(Errc::limit_exceeded,
                      "longer than " + std::to_string(kMaxLineBytes) + " bytes")
        .in(lines_.where());
  }
  if (line.find('"') != std::string_view::npos)
    return invalid("quoted fields are not supported").in(lines_.where());
  fields_.clear();
  for (std::size_t from = 0; from <= line.size();) {
    if (fields_.size() == kMaxColumns) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(kMaxColumns) + " fields")
          .in(lines_.where());
    }
    const std::size_t comma = std::min(line.find(',', from), line.size());
    fields_.push_back(trim(line.substr(from, comma - from)));
    from = comma + 1;
  }
  return {};
}

Result<CsvTable> CsvTable::open(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CsvTable table(text);
  std::string_view line;
  do {
    if (!table.lines_.next_trimmed(line)) return invalid("expected a header line, got nothing");
  } while (line.empty());
  if (auto split = table.split_line(line); !split) return split.error();
  for (const std::string_view name : table.fields_) {
    if (std::find(table.names_.begin(), table.names_.end(), name) != table.names_.end())
      return invalid("column " + in_quotes(name) + " twice").in(table.lines_.where());
    table.names_.emplace_back(name);
  }
  return table;
}

std::optional<std::size_t> CsvTable::column(const std::vector<std::string_view>& names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  }
  return std::nullopt;
}

Result<std::size_t> CsvTable::required(const std::vector<std::string_view>& names) const {
  if (const auto found = column(names)) return *found;
  return invalid("no column " + joined(names, " or ")).in("header");
}

Result<bool> CsvTable::next() {
  std::string_view line;
  do {
    if (!lines_.next_trimmed(line)) return false;
  } while (line.empty());
  if (auto split = split_line(line); !split) return split.error();
  if (fields_.size() != names_.size()) {
    return invalid("expected " + std::to_string(names_.size()) + " fields as in the header, got " +
                   std::to_string(fields_.size()))
        .in(lines_.where());
  }
  return true;
}

Error CsvTable::wrong(std::size_t column, std::string message) const {
  return invalid(std::move(message)).in(in_quotes(names_[column])).in(lines_.where());
}

Result<std::int64_t> CsvTable::number(std::size_t column, std::int64_t max) const {
  const auto value = parse_number<std::int64_t>(field(column));
  if (value && *value >= 0 && *value <= max) return *value;
  return wrong(column, "expected a whole number from 0 to " + std::to_string(max) + ", got " +
                           in_quotes(field(column)));
}

Result<double> CsvTable::decimal(std::size_t column, double max) const {
  const auto value = parse_number<double>(field(column));
  if (value && std::isfinite(*value) && *value >= 0 && *value <= max) return *value;
  return wrong(column, "expected a number from 0 to " +
                           std::to_string(static_cast<std::int64_t>(max)) + ", got " +
                           in_quotes(field(column)));
}

}  // namespace chipweave::codec
