// CsvTable — reads a table with a header line, row by row: plain CSV with commas, without quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/text/lines.hpp"

namespace chipweave::codec {

class CsvTable {
 public:
  static constexpr std::size_t kMaxColumns = 64;
  static constexpr std::size_t kMaxLineBytes = 16384;

  // The text must outlive the table. Errors: no header, a column twice, over a limit.
  static Result<CsvTable> open(std::string_view text);

  // Number of the first of these columns that there is; nullopt: none.
  std::optional<std::size_t> column(const std::vector<std::string_view>& names) const;
  // The same; an error that lists them if there is none.
  Result<std::size_t> required(const std::vector<std::string_view>& names) const;

  // The next row that is not blank; false after the last. Errors: wrong number of fields, quotes.
  Result<bool> next();
  // Of the current row, trimmed.
  std::string_view field(std::size_t column) const { return fields_[column]; }
  // A whole number from 0 to `max`; errors name line and column.
  Result<std::int64_t> number(std::size_t column, std::int64_t max) const;
  // A number from 0 to `max`, possibly with a fraction.
  Result<double> decimal(std::size_t column, double max) const;
  // Adds line and column.
  Error wrong(std::size_t column, std::string message) const;

 private:
  explicit CsvTable(std::string_view text) : lines_(text) {}
  Result<void> split_line(std::string_view line);

  LineReader lines_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

}  // namespace chipweave::codec
