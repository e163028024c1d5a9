#include "node-agent/server/chip_metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "common/obs/exposition.hpp"
#include "node-agent/app/health/operator_faults.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::ChipMetrics;
using domain::LinkTraffic;

constexpr std::string_view kXid = "xid.";
constexpr const char* kOther = "other";

using Labels = ChipMetricsPage::Labels;

// Printable ASCII: the format requires valid UTF-8, and one invalid byte would cost the whole page.
void add_label(Labels& out, std::string_view name, std::string_view value) {
  std::string shown(value.substr(0, ChipMetricsPage::kMaxLabelBytes));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  out.emplace_back(name, std::move(shown));
}

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
void add_user(Labels& labels, const std::vector<ChipUser>& users) {
  const auto add = [&](const char* name, std::string ChipUser::*of) {
    const std::string& value = users.front().*of;
    const bool common = std::all_of(users.begin(), users.end(),
                                    [&](const ChipUser& user) { return user.*of == value; });
    if (common) add_label(labels, name, value);
    return common;
  };
  // A name means something only within its namespace or pod.
  if (add("namespace", &ChipUser::ns) && add("pod", &ChipUser::pod)) {
    add("container", &ChipUser::container);
  }
}

Labels with(Labels labels, std::string_view name, std::string_view value) {
  add_label(labels, name, value);
  return labels;
}

template <class Link>
Labels with_link(const Labels& labels, const Link& link) {
  return with(with(labels, "link", to_string(link.kind)), "port", std::to_string(link.port));
}

}  // namespace

ChipMetricsPage::ChipMetricsPage(std::string node, std::chrono::seconds interval,
                                 const Clock& clock)
    : node_(std::move(node)), interval_(interval), clock_(clock) {}

void ChipMetricsPage::chips(const domain::NodeTopology& topology,
                            const std::vector<domain::Fault>& faults) {
  chips_.clear();
  for (const domain::Chip& chip : topology.chips()) {
    Chip& shown = chips_[chip.index];
    add_label(shown.labels, "chip", std::to_string(chip.index.value));
    add_label(shown.labels, "uuid", chip.id);
    add_label(shown.labels, "pci", chip.pci);
    add_label(shown.labels, "model", chip.model.empty() ? topology.model() : chip.model);
    add_label(shown.labels, "node", node_);
    shown.healthy = chip.health == domain::Health::healthy;
    shown.cordoned = std::any_of(faults.begin(), faults.end(), [&chip](const auto& fault) {
      return (fault.code == kCordoned && fault.chip == chip.index) || fault.code == kMaintenance;
    });
  }
  std::erase_if(xids_, [this](const auto& entry) { return !chips_.contains(entry.first); });
}

void ChipMetricsPage::sample(const domain::MetricsSample& sample, const CarriedReport& carried) {
  measured_.clear();
  peaks_.clear();
  for (const ChipMetrics& chip : sample.chips) {
    measured_.emplace(chip.chip, chip);
    if (const auto traffic = carried.of(chip.chip)) peaks_.emplace(chip.chip, traffic->peak);
  }
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

ChipMetricsPage::Labels ChipMetricsPage::labels_of(ChipIndex chip) const {
  Labels out = chips_.at(chip).labels;
  if (!owners_) return out;
  const auto users = owners_->find(chip);
  if (users != owners_->end() && !users->second.empty()) add_user(out, users->second);
  return out;
}

std::string ChipMetricsPage::text() const {
  struct Shown {
    Labels labels;
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
  obs::Exposition w(obs::Exposition::Empty::left_out);
  const auto measured = [&shown](const auto& write) {
    for (const auto& [index, chip] : shown) {
      if (chip.measured != nullptr) write(chip.labels, *chip.measured);
    }
  };
  w.gauges("chipweave_chip_health", "1 while the chip and its network port are healthy, else 0.");
  for (const auto& [index, chip] : shown) {
    w.sample(chip.labels, chips_.at(index).healthy ? 1 : 0);
  }
  w.gauges("chipweave_chip_cordoned",
           "1 while an operator keeps the chip out of service, by a cordon or a maintenance.");
  for (const auto& [index, chip] : shown) {
    w.sample(chip.labels, chips_.at(index).cordoned ? 1 : 0);
  }
  if (owners_) {
    w.gauges("chipweave_chip_containers", "Containers that have the chip.");
    for (const auto& [index, chip] : shown) {
      const auto users = owners_->find(index);
      const std::size_t count = users == owners_->end() ? 0 : users->second.size();
      w.sample(chip.labels, static_cast<double>(count));
    }
  }
  for (const Reading& reading : kReadings) {
    w.gauges(reading.name, reading.help);
    measured([&](const Labels& labels, const ChipMetrics& chip) {
      if (chip.*reading.value) w.sample(labels, *(chip.*reading.value));
    });
  }
  for (const Bytes& bytes : kMemory) {
    w.gauges(bytes.name, bytes.help);
    measured([&](const Labels& labels, const ChipMetrics& chip) {
      if (chip.*bytes.value) w.sample(labels, static_cast<double>(*(chip.*bytes.value)));
    });
  }
  w.gauges("chipweave_chip_throttled", "1 while the chip's clocks are held back, by reason.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    for (const auto& [reason, now] : chip.throttled) {
      w.sample(with(labels, "reason", to_string(reason)), now ? 1 : 0);
    }
  });
  w.counters("chipweave_chip_ecc_errors_total",
             "Memory errors of the chip since its driver was loaded.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    if (chip.corrected_errors) {
      w.sample(with(labels, "kind", "corrected"), static_cast<double>(*chip.corrected_errors));
    }
    if (chip.uncorrected_errors) {
      w.sample(with(labels, "kind", "uncorrected"), static_cast<double>(*chip.uncorrected_errors));
    }
  });
  w.counters("chipweave_chip_xid_errors_total", "XID errors of the chip since the agent started.");
  for (const auto& [index, counts] : xids_) {
    const auto chip = shown.find(index);
    if (chip == shown.end()) continue;
    for (const auto& [xid, count] : counts) {
      w.sample(with(chip->second.labels, "xid", xid), static_cast<double>(count));
    }
  }
  w.counters("chipweave_chip_link_sent_bytes_total", "Bytes that the chip sent over a link.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    for (const LinkTraffic& link : chip.links) {
      w.sample(with_link(labels, link), static_cast<double>(link.sent_bytes));
    }
  });
  w.counters("chipweave_chip_link_received_bytes_total",
             "Bytes that the chip received over a link.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    for (const LinkTraffic& link : chip.links) {
      w.sample(with_link(labels, link), static_cast<double>(link.received_bytes));
    }
  });
  w.gauges("chipweave_chip_link_sent_bytes_per_second",
           "Rate at which the chip sent over a link, where its driver reports no total.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    for (const domain::LinkRate& link : chip.rates) w.sample(with_link(labels, link), link.sent);
  });
  w.gauges("chipweave_chip_link_received_bytes_per_second",
           "Rate at which the chip received over a link, where its driver reports no total.");
  measured([&](const Labels& labels, const ChipMetrics& chip) {
    for (const domain::LinkRate& link : chip.rates) {
      w.sample(with_link(labels, link), link.received);
    }
  });
  w.gauges("chipweave_chip_link_peak_bytes_per_second",
           "Most that the chip's fast links carried together in one direction in the last 10 "
           "minutes, averaged between two measurements.");
  for (const auto& [index, chip] : shown) {
    const auto peak = peaks_.find(index);
    if (chip.measured != nullptr && peak != peaks_.end()) w.sample(chip.labels, peak->second);
  }
  return w.take();
}

}  // namespace chipweave::agent
