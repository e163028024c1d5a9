#include "common/codec/agent/metrics_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipMetrics;
using domain::LinkTraffic;
using domain::MetricsSample;

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();
constexpr int kMaxTrafficPort = 65'535;
constexpr double kMaxRate = 1e15;  // bytes a second

// Real chips are well within these.
struct Reading {
  const char* key;
  std::optional<double> ChipMetrics::*value;
  double min;
  double max;
};
constexpr std::array<Reading, 5> kReadings = {{
    {"temperature", &ChipMetrics::temperature_celsius, -100, 1000},
    {"memory_temperature", &ChipMetrics::memory_temperature_celsius, -100, 1000},
    {"power", &ChipMetrics::power_watts, 0, 100'000},
    {"utilization", &ChipMetrics::utilization, 0, 1},
    {"clock", &ChipMetrics::clock_hertz, 0, 1e12},
}};

struct Count {
  const char* key;
  std::optional<std::uint64_t> ChipMetrics::*value;
};
constexpr std::array<Count, 4> kCounts = {{
    {"memory_used", &ChipMetrics::memory_used_bytes},
    {"memory_total", &ChipMetrics::memory_total_bytes},
    {"corrected_errors", &ChipMetrics::corrected_errors},
    {"uncorrected_errors", &ChipMetrics::uncorrected_errors},
}};

bool fits(const Reading& reading, double value) {
  return std::isfinite(value) && value >= reading.min && value <= reading.max;
}

bool fits(const LinkTraffic& link) {
  return link.port >= 0 && link.port <= kMaxTrafficPort && link.sent_bytes <= kMaxCount &&
         link.received_bytes <= kMaxCount;
}

bool fits(const domain::LinkRate& link) {
  const auto rate_fits = [](double rate) {
    return std::isfinite(rate) && rate >= 0 && rate <= kMaxRate;
  };
  return link.port >= 0 && link.port <= kMaxTrafficPort && rate_fits(link.sent) &&
         rate_fits(link.received);
}

void write_rate(JsonWriter& w, const domain::LinkRate& link) {
  w.begin_object().field("kind", to_string(link.kind)).key("port").integer(link.port);
  w.key("sent").number(link.sent).key("received").number(link.received).end_object();
}

void write_traffic(JsonWriter& w, const LinkTraffic& link) {
  w.begin_object().field("kind", to_string(link.kind)).key("port").integer(link.port);
  w.key("sent").integer(link.sent_bytes).key("received").integer(link.received_bytes).end_object();
}

// left: how many more the line may have.
template <class Link, class Write>
void write_links(JsonWriter& w, const char* key, const std::vector<Link>& links, std::size_t& left,
                 Write write) {
  if (links.empty()) return;
  w.key(key).begin_array();
  for (const Link& link : links) {
    if (left == 0) break;
    if (!fits(link)) continue;
    write(w, link);
    --left;
  }
  w.end_array();
}

void write_measured(JsonWriter& w, const ChipMetrics& chip) {
  w.begin_object().key("chip").integer(chip.chip.value);
  for (const Reading& reading : kReadings) {
    const auto& value = chip.*reading.value;
    if (value && fits(reading, *value)) w.key(reading.key).number(*value);
  }
  for (const Count& count : kCounts) {
    const auto& value = chip.*count.value;
    if (value && *value <= kMaxCount) w.key(count.key).integer(*value);
  }
  if (!chip.throttled.empty()) {
    w.key("throttled").begin_object();
    for (const auto& [reason, now] : chip.throttled) w.key(to_string(reason)).boolean(now);
    w.end_object();
  }
  std::size_t left = domain::kMaxLinksOfChip;
  write_links(w, "links", chip.links, left, write_traffic);
  write_links(w, "rates", chip.rates, left, write_rate);
  w.end_object();
}

std::uint64_t required_count(const JsonObject& o, const char* key) {
  return static_cast<std::uint64_t>(
      o.require_integer<std::int64_t>(key, 0, std::numeric_limits<std::int64_t>::max())
          .value_or(0));
}

template <class Link>
Link read_link_of(const JsonObject& o) {
  Link out;
  const std::string kind = o.require_text("kind").value_or("nvlink");
  if (const auto known = domain::traffic_kind(kind)) {
    out.kind = *known;
  } else {
    o.problem("kind", "must be one of nvlink, xgmi, hccs, pcie");
  }
  out.port = o.require_integer("port", 0, kMaxTrafficPort).value_or(0);
  return out;
}

LinkTraffic read_traffic(const JsonObject& o) {
  auto out = read_link_of<LinkTraffic>(o);
  out.sent_bytes = required_count(o, "sent");
  out.received_bytes = required_count(o, "received");
  return out;
}

domain::LinkRate read_rate(const JsonObject& o) {
  auto out = read_link_of<domain::LinkRate>(o);
  o.require("sent");
  o.require("received");
  out.sent = o.number("sent").value_or(0);
  out.received = o.number("received").value_or(0);
  if (!fits(out)) o.problem("sent", "or received is out of range");
  return out;
}

void read_throttled(const JsonObject& o, ChipMetrics& out) {
  for (const JsonValue entry : o.map("throttled", domain::kThrottleReasons)) {
    const auto reason = domain::throttle_reason(entry.name());
    if (!reason) o.problems().add(entry, "unknown reason");
    const auto now = entry.boolean();
    if (!now) o.problems().add(entry, expected("true or false", entry));
    if (reason && now) out.throttled[*reason] = *now;
  }
}

ChipMetrics read_measured(JsonValue value, JsonProblems& problems) {
  const JsonObject o(
      value,
      {"chip", "temperature", "memory_temperature", "power", "utilization", "clock", "memory_used",
       "memory_total", "corrected_errors", "uncorrected_errors", "throttled", "links", "rates"},
      problems);
  ChipMetrics out;
  out.chip.value = o.require_integer("chip", 0, limits::kMaxChipIndex).value_or(0);
  for (const Reading& reading : kReadings) {
    const auto number = o.number(reading.key);
    if (number && !fits(reading, *number)) o.problem(reading.key, "is out of range");
    out.*reading.value = number;
  }
  for (const Count& count : kCounts) {
    const auto number =
        o.integer<std::int64_t>(count.key, 0, std::numeric_limits<std::int64_t>::max());
    if (number) out.*count.value = static_cast<std::uint64_t>(*number);
  }
  read_throttled(o, out);
  std::set<std::pair<domain::TrafficKind, int>> seen;
  const auto read_links = [&](const char* key, std::size_t most, auto& to, const auto& read) {
    for (const JsonValue item : o.array(key, most)) {
      const JsonObject link(item, {"kind", "port", "sent", "received"}, problems);
      to.push_back(read(link));
      if (seen.emplace(to.back().kind, to.back().port).second) continue;
      problems.add(item, "is listed twice");
    }
  };
  read_links("links", domain::kMaxLinksOfChip, out.links, read_traffic);
  read_links("rates", domain::kMaxLinksOfChip - out.links.size(), out.rates, read_rate);
  return out;
}

}  // namespace

std::string metrics_line(const MetricsSample& sample) {
  JsonWriter w;
  w.begin_object().key("taken_ms").integer(sample.taken_ms);
  w.key("metrics").begin_array();
  const std::size_t count =
      std::min(sample.chips.size(), static_cast<std::size_t>(limits::kMaxChips));
  for (std::size_t i = 0; i < count; ++i) write_measured(w, sample.chips[i]);
  w.end_array().end_object();
  return w.take() + "\n";
}

MetricsSample read_metrics(JsonValue document, JsonProblems& problems) {
  const JsonObject o(document, {"taken_ms", "metrics"}, problems);
  MetricsSample out;
  // Far below the range, so that differences do not overflow.
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 4;
  out.taken_ms = o.require_integer<std::int64_t>("taken_ms", 0, kLatest).value_or(0);
  std::set<domain::ChipIndex> seen;
  for (const JsonValue item : o.array("metrics", static_cast<std::size_t>(limits::kMaxChips))) {
    ChipMetrics chip = read_measured(item, problems);
    if (!seen.insert(chip.chip).second) problems.add(item, "is about the same chip as another one");
    out.chips.push_back(std::move(chip));
  }
  return out;
}

}  // namespace chipweave::codec
