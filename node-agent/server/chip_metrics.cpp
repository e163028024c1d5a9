#include "node-agent/server/chip_metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::ChipMetrics;
using domain::LinkTraffic;

constexpr std::string_view kXid = "xid.";
constexpr const char* kOther = "other";

// Printable ASCII: the format requires valid UTF-8, and one invalid byte would cost the whole page.
void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  for (const char c : value.substr(0, ChipMetricsPage::kMaxLabelBytes)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c < ' ' || c > '~' ? '?' : c;
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

void append_number(std::string& out, std::uint64_t value) { out += std::to_string(value); }

// One metric after the other, each with its series.
class Writer {
 public:
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    type_ = type;
    help_ = help;
    begun_ = false;
  }

  // more: labels of this series, `name="value"` with commas; "" for none.
  template <class Number>
  void series(const std::string& labels, std::string_view more, Number value) {
    begin();
    out_.append(name_).append("{").append(labels);
    if (!more.empty()) out_.append(",").append(more);
    out_ += "} ";
    append_number(out_, value);
    out_ += '\n';
  }

  std::string take() { return std::move(out_); }

 private:
  // A metric without series is left out.
  void begin() {
    if (std::exchange(begun_, true)) return;
    out_.append("# HELP ").append(name_).append(" ").append(help_).append("\n# TYPE ");
    out_.append(name_).append(" ").append(type_).append("\n");
  }

  std::string out_;
  std::string_view name_;
  std::string_view type_;
  std::string_view help_;
  bool begun_ = false;
};

struct Reading {
  const char* name;
  const char* help;
  std::optional<double> ChipMetrics::*value;
};
constexpr std::array<Reading, 5> kReadings = {{
    {"chipweave_chip_temperature_celsius", "Temperature of the chip.",
     &ChipMetrics::temperature_celsius},
    {"chipweave_chip_memory_temperature_celsius", "Temperature of the chip's memory.",
     &ChipMetrics::memory_temperature_celsius},
    {"chipweave_chip_power_watts", "Power that the chip draws.", &ChipMetrics::power_watts},
    {"chipweave_chip_utilization_ratio", "Share of the time in which the chip computed.",
     &ChipMetrics::utilization},
    {"chipweave_chip_clock_hertz", "Clock of the chip's compute units.", &ChipMetrics::clock_hertz},
}};

struct Bytes {
  const char* name;
  const char* help;
  std::optional<std::uint64_t> ChipMetrics::*value;
};
constexpr std::array<Bytes, 2> kMemory = {{
    {"chipweave_chip_memory_used_bytes", "Memory of the chip in use.",
     &ChipMetrics::memory_used_bytes},
    {"chipweave_chip_memory_total_bytes", "Memory of the chip.", &ChipMetrics::memory_total_bytes},
}};

// What all containers that have the chip agree on.
void append_user(std::string& labels, const std::vector<ChipUser>& users) {
  const auto add = [&](const char* name, std::string ChipUser::*of) {
    const std::string& value = users.front().*of;
    const bool common = std::all_of(users.begin(), users.end(),
                                    [&](const ChipUser& user) { return user.*of == value; });
    if (common) append_label(labels, name, value);
    return common;
  };
  // A name means something only within its namespace or pod.
  if (add("namespace", &ChipUser::namespace_name) && add("pod", &ChipUser::pod)) {
    add("container", &ChipUser::container);
  }
}

template <class Link>
std::string link_labels(const Link& link) {
  std::string out;
  append_label(out, "link", to_string(link.kind));
  append_label(out, "port", std::to_string(link.port));
  return out;
}

std::string label(std::string_view name, std::string_view value) {
  std::string out;
  append_label(out, name, value);
  return out;
}

}  // namespace

ChipMetricsPage::ChipMetricsPage(std::string node, std::chrono::seconds interval,
                                 const Clock& clock)
    : node_(std::move(node)), interval_(interval), clock_(clock) {}

void ChipMetricsPage::chips(const domain::NodeTopology& topology) {
  chips_.clear();
  for (const domain::Chip& chip : topology.chips()) {
    Chip& shown = chips_[chip.index];
    append_label(shown.labels, "chip", std::to_string(chip.index.value));
    append_label(shown.labels, "uuid", chip.id);
    append_label(shown.labels, "pci", chip.pci);
    append_label(shown.labels, "model", chip.model);
    append_label(shown.labels, "node", node_);
    shown.healthy = chip.health == domain::Health::healthy;
  }
  std::erase_if(xids_, [this](const auto& entry) { return !chips_.contains(entry.first); });
}

void ChipMetricsPage::sample(const domain::MetricsSample& sample) {
  throughput_.take(sample);
  measured_.clear();
  for (const ChipMetrics& chip : sample.chips) measured_.emplace(chip.chip, chip);
  measured_at_ = clock_.now();
}

void ChipMetricsPage::event(const domain::Signal& event) {
  if (!event.chip || !event.code.starts_with(kXid)) return;
  auto& counts = xids_[*event.chip];
  std::string xid = event.code.substr(kXid.size());
  if (counts.size() >= kMaxXids && !counts.contains(xid)) xid = kOther;
  ++counts[xid];
}

void ChipMetricsPage::owners(ChipOwners owners) { owners_ = std::move(owners); }

std::optional<CarriedTraffic> ChipMetricsPage::carried(ChipIndex chip) const {
  const bool fresh = clock_.now() - measured_at_ <= kMissed * interval_;
  return fresh ? throughput_.of(chip) : std::nullopt;
}

std::string ChipMetricsPage::labels_of(ChipIndex chip) const {
  std::string out = chips_.at(chip).labels;
  if (!owners_) return out;
  const auto users = owners_->find(chip);
  if (users != owners_->end() && !users->second.empty()) append_user(out, users->second);
  return out;
}

std::string ChipMetricsPage::text() const {
  struct Shown {
    std::string labels;
    const ChipMetrics* measured = nullptr;  // null: not known
  };
  const bool fresh = clock_.now() - measured_at_ <= kMissed * interval_;
  std::map<ChipIndex, Shown> shown;
  for (const auto& [index, chip] : chips_) {
    Shown& one = shown[index];
    one.labels = labels_of(index);
    const auto measured = measured_.find(index);
    if (fresh && measured != measured_.end()) one.measured = &measured->second;
  }
  Writer w;
  const auto measured = [&shown](const auto& write) {
    for (const auto& [index, chip] : shown) {
      if (chip.measured != nullptr) write(chip.labels, *chip.measured);
    }
  };
  w.metric("chipweave_chip_health", "gauge",
           "1 while the chip and its network port are healthy, else 0.");
  for (const auto& [index, chip] : shown) {
    w.series(chip.labels, "", std::uint64_t{chips_.at(index).healthy ? 1U : 0U});
  }
  if (owners_) {
    w.metric("chipweave_chip_containers", "gauge", "Containers that have the chip.");
    for (const auto& [index, chip] : shown) {
      const auto users = owners_->find(index);
      const std::size_t count = users == owners_->end() ? 0 : users->second.size();
      w.series(chip.labels, "", std::uint64_t{count});
    }
  }
  for (const Reading& reading : kReadings) {
    w.metric(reading.name, "gauge", reading.help);
    measured([&](const std::string& labels, const ChipMetrics& chip) {
      if (chip.*reading.value) w.series(labels, "", *(chip.*reading.value));
    });
  }
  for (const Bytes& bytes : kMemory) {
    w.metric(bytes.name, "gauge", bytes.help);
    measured([&](const std::string& labels, const ChipMetrics& chip) {
      if (chip.*bytes.value) w.series(labels, "", *(chip.*bytes.value));
    });
  }
  w.metric("chipweave_chip_throttled", "gauge",
           "1 while the chip's clocks are held back, by reason.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    for (const auto& [reason, now] : chip.throttled) {
      w.series(labels, label("reason", to_string(reason)), std::uint64_t{now ? 1U : 0U});
    }
  });
  w.metric("chipweave_chip_ecc_errors_total", "counter",
           "Memory errors of the chip since its driver was loaded.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    if (chip.corrected_errors) {
      w.series(labels, label("kind", "corrected"), *chip.corrected_errors);
    }
    if (chip.uncorrected_errors) {
      w.series(labels, label("kind", "uncorrected"), *chip.uncorrected_errors);
    }
  });
  w.metric("chipweave_chip_xid_errors_total", "counter",
           "XID errors of the chip since the agent started.");
  for (const auto& [index, counts] : xids_) {
    const auto chip = shown.find(index);
    if (chip == shown.end()) continue;
    for (const auto& [xid, count] : counts) w.series(chip->second.labels, label("xid", xid), count);
  }
  w.metric("chipweave_chip_link_sent_bytes_total", "counter",
           "Bytes that the chip sent over a link.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    for (const LinkTraffic& link : chip.links) w.series(labels, link_labels(link), link.sent_bytes);
  });
  w.metric("chipweave_chip_link_received_bytes_total", "counter",
           "Bytes that the chip received over a link.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    for (const LinkTraffic& link : chip.links) {
      w.series(labels, link_labels(link), link.received_bytes);
    }
  });
  w.metric("chipweave_chip_link_sent_bytes_per_second", "gauge",
           "Rate at which the chip sent over a link, where its driver reports no total.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    for (const domain::LinkRate& link : chip.rates) w.series(labels, link_labels(link), link.sent);
  });
  w.metric("chipweave_chip_link_received_bytes_per_second", "gauge",
           "Rate at which the chip received over a link, where its driver reports no total.");
  measured([&](const std::string& labels, const ChipMetrics& chip) {
    for (const domain::LinkRate& link : chip.rates) {
      w.series(labels, link_labels(link), link.received);
    }
  });
  w.metric("chipweave_chip_link_peak_bytes_per_second", "gauge",
           "Most that the chip's fast links carried together in one direction in the last 10 "
           "minutes, averaged between two measurements.");
  for (const auto& [index, chip] : shown) {
    if (const auto traffic = carried(index)) w.series(chip.labels, "", traffic->peak);
  }
  return w.take();
}

}  // namespace chipweave::agent
