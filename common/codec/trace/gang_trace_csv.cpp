#include "common/codec/trace/gang_trace_csv.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/trace/csv_table.hpp"
#include "common/codec/trace/trace_fields.hpp"

namespace chipweave::codec {
namespace {

using domain::TraceGang;

struct GangColumns {
  std::size_t name = 0;
  std::size_t chips = 0;
  std::optional<std::size_t> pods, priority, required, preferred;
  TimeColumns times;
};

Result<GangColumns> columns_of(const CsvTable& table) {
  GangColumns columns;
  const auto name = table.required({"name"});
  if (!name) return name.error();
  const auto chips = table.required({"chips", "num_gpu"});
  if (!chips) return chips.error();
  auto times = time_columns(table);
  if (!times) return std::move(times).error();
  columns.name = *name;
  columns.chips = *chips;
  columns.pods = table.column({"pods"});
  columns.priority = table.column({"priority"});
  columns.required = table.column({"required_level"});
  columns.preferred = table.column({"preferred_level"});
  columns.times = *times;
  return columns;
}

class GangRows {
 public:
  GangRows(CsvTable table, GangColumns columns, const std::vector<std::string>& levels)
      : table_(std::move(table)), columns_(columns), levels_(levels) {}

  Result<domain::GangTrace> read() {
    domain::GangTrace trace;
    trace.timed = columns_.times.arrival.has_value();
    for (;;) {
      const auto more = table_.next();
      if (!more) return more.error();
      if (!*more) break;
      if (trace.gangs.size() == limits::kMaxPods) return too_many("jobs", limits::kMaxPods);
      auto gang = row();
      if (!gang) return std::move(gang).error();
      if (gang->chips == 0)
        ++trace.without_chips;
      else
        trace.gangs.push_back(*std::move(gang));
    }
    sort_by_arrival(trace.gangs);
    return trace;
  }

 private:
  Result<TraceGang> row() const {
    TraceGang gang;
    auto name = name_of(table_, columns_.name);
    if (!name) return std::move(name).error();
    gang.name = *std::move(name);
    if (auto r = read_into(table_, columns_.chips, limits::kMaxChipsOfPod, gang.chips); !r)
      return r.error();
    for (const auto& read : {&GangRows::read_pods, &GangRows::read_priority, &GangRows::read_levels,
                             &GangRows::read_times}) {
      if (auto r = (this->*read)(gang); !r) return r.error();
    }
    return gang;
  }

  Result<void> read_pods(TraceGang& gang) const {
    if (!columns_.pods) return {};
    if (auto r = read_into(table_, *columns_.pods, limits::kMaxGangPods, gang.pods); !r) return r;
    if (gang.pods == 0) return table_.wrong(*columns_.pods, "expected at least one pod, got 0");
    return {};
  }

  Result<void> read_priority(TraceGang& gang) const {
    if (!columns_.priority) return {};
    const auto value = parse_number<std::int32_t>(table_.field(*columns_.priority));
    if (!value)
      return table_.wrong(*columns_.priority, "expected a whole number, got " +
                                                  in_quotes(table_.field(*columns_.priority)));
    gang.priority = *value;
    return {};
  }

  Result<void> read_levels(TraceGang& gang) const {
    for (const auto& [column, to] : {std::pair(columns_.required, &gang.required_level),
                                     std::pair(columns_.preferred, &gang.preferred_level)}) {
      if (!column || table_.field(*column).empty()) continue;
      const auto level = std::find(levels_.begin(), levels_.end(), table_.field(*column));
      if (level == levels_.end())
        return table_.wrong(*column, unknown_name("level", table_.field(*column),
                                                  {levels_.begin(), levels_.end()}));
      *to = static_cast<int>(level - levels_.begin());
    }
    return {};
  }

  Result<void> read_times(TraceGang& gang) const {
    if (!columns_.times.arrival) return {};
    const auto times = times_of(table_, columns_.times);
    if (!times) return times.error();
    gang.arrival_s = times->arrival_s;
    gang.duration_s = times->duration_s;
    return {};
  }

  CsvTable table_;
  GangColumns columns_;
  const std::vector<std::string>& levels_;
};

}  // namespace

Result<domain::GangTrace> read_gang_trace(std::string_view text,
                                          const std::vector<std::string>& levels) {
  auto table = CsvTable::open(text);
  if (!table) return std::move(table).error();
  const auto columns = columns_of(*table);
  if (!columns) return columns.error();
  return GangRows(*std::move(table), *columns, levels).read();
}

}  // namespace chipweave::codec
