#include "common/codec/trace/trace_csv.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/codec/trace/csv_table.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kMaxMilli = 1'000'000'000;  // a million cores
constexpr std::int64_t kMaxMib = std::int64_t{1} << 40U;
constexpr double kMaxSeconds = 1e12;
constexpr std::int64_t kWholeChipMilli = 1000;

Result<std::string> name_of(const CsvTable& table, std::size_t column) {
  const std::string_view name = table.field(column);
  if (name.empty()) return table.wrong(column, "expected a name, got nothing");
  if (name.size() > limits::kMaxNameBytes)
    return table.wrong(column, "longer than " + std::to_string(limits::kMaxNameBytes) + " bytes");
  return printable(name);
}

// Reads one number of the row into `to`.
template <class To>
Result<void> read_into(const CsvTable& table, std::size_t column, std::int64_t max, To& to) {
  const auto value = table.number(column, max);
  if (!value) return value.error();
  to = static_cast<To>(*value);
  return {};
}

struct Shape {
  std::size_t name, cpu, memory, chips;
};

Result<Shape> shape_of(const CsvTable& table, const std::vector<std::string_view>& name,
                       const std::vector<std::string_view>& chips) {
  Shape shape{};
  const std::pair<std::size_t*, std::vector<std::string_view>> wanted[] = {
      {&shape.name, name},
      {&shape.cpu, {"cpu_milli"}},
      {&shape.memory, {"memory_mib"}},
      {&shape.chips, chips}};
  for (const auto& [to, names] : wanted) {
    const auto column = table.required(names);
    if (!column) return column.error();
    *to = *column;
  }
  return shape;
}

template <class Row>
Result<void> read_shape(const CsvTable& table, const Shape& shape, std::int64_t max_chips,
                        Row& row) {
  auto name = name_of(table, shape.name);
  if (!name) return std::move(name).error();
  row.name = *std::move(name);
  if (auto r = read_into(table, shape.cpu, kMaxMilli, row.cpu_milli); !r) return r;
  if (auto r = read_into(table, shape.memory, kMaxMib, row.memory_mib); !r) return r;
  return read_into(table, shape.chips, max_chips, row.chips);
}

Error too_many(const char* what, std::size_t most) {
  return make_error(Errc::limit_exceeded,
                    std::string("more than ") + std::to_string(most) + " " + what);
}

// Where a pod's times are: arrival and duration, or creation and deletion.
struct TimeColumns {
  std::optional<std::size_t> arrival, duration, deletion;
};

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

Result<void> read_times(const CsvTable& table, const TimeColumns& times, domain::TracePod& pod) {
  const auto arrival = table.decimal(*times.arrival, kMaxSeconds);
  if (!arrival) return arrival.error();
  pod.arrival_s = *arrival;
  const std::size_t column = times.duration ? *times.duration : *times.deletion;
  const auto end = table.decimal(column, kMaxSeconds);
  if (!end) return end.error();
  pod.duration_s = times.duration ? *end : *end - *arrival;
  if (pod.duration_s < 0) return table.wrong(column, "expected a time after the pod's arrival");
  return {};
}

void sort_by_arrival(domain::PodTrace& trace) {
  std::stable_sort(trace.pods.begin(), trace.pods.end(),
                   [](const auto& a, const auto& b) { return a.arrival_s < b.arrival_s; });
  const double first = trace.pods.empty() ? 0 : trace.pods.front().arrival_s;
  for (domain::TracePod& pod : trace.pods) pod.arrival_s -= first;
}

}  // namespace

Result<std::vector<domain::TraceNode>> read_node_trace(std::string_view text) {
  auto table = CsvTable::open(text);
  if (!table) return std::move(table).error();
  const auto shape = shape_of(*table, {"name", "sn"}, {"chips", "gpu"});
  if (!shape) return shape.error();
  const auto model = table->column({"model"});
  std::vector<domain::TraceNode> nodes;
  std::set<std::string, std::less<>> names;
  for (;;) {
    const auto more = table->next();
    if (!more) return more.error();
    if (!*more) break;
    if (nodes.size() == limits::kMaxNodes) return too_many("nodes", limits::kMaxNodes);
    domain::TraceNode node;
    if (auto r = read_shape(*table, *shape, limits::kMaxChips, node); !r) return r.error();
    if (!names.insert(node.name).second)
      return table->wrong(shape->name, "node " + in_quotes(node.name) + " twice");
    if (model) node.model = printable(table->field(*model).substr(0, limits::kMaxNameBytes));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<domain::PodTrace> read_pod_trace(std::string_view text) {
  auto table = CsvTable::open(text);
  if (!table) return std::move(table).error();
  const auto shape = shape_of(*table, {"name"}, {"chips", "num_gpu"});
  if (!shape) return shape.error();
  const auto times = time_columns(*table);
  if (!times) return times.error();
  const auto part = table->column({"gpu_milli"});
  const auto need = table->column({"needs_gbps"});
  domain::PodTrace trace;
  trace.timed = times->arrival.has_value();
  for (;;) {
    const auto more = table->next();
    if (!more) return more.error();
    if (!*more) break;
    if (trace.pods.size() == limits::kMaxPods) return too_many("pods", limits::kMaxPods);
    domain::TracePod pod;
    if (auto r = read_shape(*table, *shape, limits::kMaxChips, pod); !r) return r.error();
    if (part) {
      const auto milli = table->number(*part, kWholeChipMilli);
      if (!milli) return milli.error();
      if (pod.chips == 1 && *milli > 0 && *milli < kWholeChipMilli) ++trace.shared;
    }
    if (need && !table->field(*need).empty()) {
      const auto gbps = table->decimal(*need, limits::kMaxGbps);
      if (!gbps) return gbps.error();
      pod.needs_gbps = *gbps;
    }
    if (trace.timed) {
      if (auto r = read_times(*table, *times, pod); !r) return r.error();
    }
    trace.pods.push_back(std::move(pod));
  }
  sort_by_arrival(trace);
  return trace;
}

}  // namespace chipweave::codec
