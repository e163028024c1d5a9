// Fields that the traces share: names, numbers, and the times of what arrives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/trace/csv_table.hpp"

namespace chipweave::codec {

// Not empty, printable, at most limits::kMaxNameBytes.
Result<std::string> name_of(const CsvTable& table, std::size_t column);

// Reads one number of the row into `to`.
template <class To>
Result<void> read_into(const CsvTable& table, std::size_t column, std::int64_t max, To& to) {
  const auto value = table.number(column, max);
  if (!value) return value.error();
  to = static_cast<To>(*value);
  return {};
}

Error too_many(const char* what, std::size_t most);

// Where the times of a row are: arrival and duration, or creation and deletion.
struct TimeColumns {
  std::optional<std::size_t> arrival, duration, deletion;
};
// No arrival: the trace has no times. Errors: only one of both.
Result<TimeColumns> time_columns(const CsvTable& table);

struct TraceTimes {
  double arrival_s = 0;
  double duration_s = 0;
};
// Precondition: the columns have an arrival.
Result<TraceTimes> times_of(const CsvTable& table, const TimeColumns& columns);

// By arrival, equal ones as given; arrivals are shifted so that the first is 0.
template <class Row>
void sort_by_arrival(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.arrival_s < b.arrival_s; });
  const double first = rows.empty() ? 0 : rows.front().arrival_s;
  for (Row& row : rows) row.arrival_s -= first;
}

}  // namespace chipweave::codec
