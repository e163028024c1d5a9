#include "common/codec/trace/trace_fields.hpp"

#include <string_view>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

constexpr double kMaxSeconds = 1e12;

}  // namespace

Result<std::string> name_of(const CsvTable& table, std::size_t column) {
  const std::string_view name = table.field(column);
  if (name.empty()) return table.wrong(column, "expected a name, got nothing");
  if (name.size() > limits::kMaxNameBytes)
    return table.wrong(column, "longer than " + std::to_string(limits::kMaxNameBytes) + " bytes");
  return printable(name);
}

Error too_many(const char* what, std::size_t most) {
  return make_error(Errc::limit_exceeded,
                    std::string("more than ") + std::to_string(most) + " " + what);
}

Result<TimeColumns> time_columns(const CsvTable& table) {
  TimeColumns times;
  times.arrival = table.column({"arrival_s", "creation_time"});
  times.duration = table.column({"duration_s"});
  if (!times.duration) times.deletion = table.column({"deletion_time"});
  const bool ends = times.duration || times.deletion;
  if (times.arrival.has_value() != ends) {
    return make_error(Errc::invalid_argument,
                      "arrival and duration belong together: arrival_s or creation_time, with "
                      "duration_s or deletion_time")
        .in("header");
  }
  return times;
}

Result<TraceTimes> times_of(const CsvTable& table, const TimeColumns& columns) {
  const auto arrival = table.decimal(*columns.arrival, kMaxSeconds);
  if (!arrival) return arrival.error();
  const std::size_t column = columns.duration ? *columns.duration : *columns.deletion;
  const auto end = table.decimal(column, kMaxSeconds);
  if (!end) return end.error();
  const TraceTimes times{*arrival, columns.duration ? *end : *end - *arrival};
  if (times.duration_s < 0) return table.wrong(column, "expected a time after the arrival");
  return times;
}

}  // namespace chipweave::codec
