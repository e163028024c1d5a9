#include "common/codec/trace/trace_csv.hpp"

#include <set>
#include <string>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/codec/trace/csv_table.hpp"
#include "common/codec/trace/trace_fields.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kMaxMilli = 1'000'000'000;  // a million cores
constexpr std::int64_t kMaxMib = std::int64_t{1} << 40U;
constexpr std::int64_t kWholeChipMilli = 1000;

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
      const auto at = times_of(*table, *times);
      if (!at) return at.error();
      pod.arrival_s = at->arrival_s;
      pod.duration_s = at->duration_s;
    }
    trace.pods.push_back(std::move(pod));
  }
  sort_by_arrival(trace.pods);
  return trace;
}

}  // namespace chipweave::codec
