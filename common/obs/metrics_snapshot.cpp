#include "common/obs/metrics_snapshot.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace chipweave::obs {

struct MetricsSnapshot::Impl {
  std::vector<prometheus::MetricFamily> families;

  void begin(const std::string& name, const std::string& help, prometheus::MetricType type) {
    prometheus::MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    families.push_back(std::move(family));
  }
};

MetricsSnapshot::MetricsSnapshot() : impl_(std::make_unique<Impl>()) {}
MetricsSnapshot::~MetricsSnapshot() = default;

void MetricsSnapshot::gauge(const std::string& name, const std::string& help) {
  impl_->begin(name, help, prometheus::MetricType::Gauge);
}

void MetricsSnapshot::counter(const std::string& name, const std::string& help) {
  impl_->begin(name, help, prometheus::MetricType::Counter);
}

void MetricsSnapshot::series(const Labels& labels, double value) {
  prometheus::MetricFamily& family = impl_->families.back();
  prometheus::ClientMetric one;
  for (const auto& [name, text] : labels) {
    prometheus::ClientMetric::Label label;
    label.name = name;
    label.value = text;
    one.label.push_back(std::move(label));
  }
  if (family.type == prometheus::MetricType::Counter) {
    one.counter.value = value;
  } else {
    one.gauge.value = value;
  }
  family.metric.push_back(std::move(one));
}

std::string MetricsSnapshot::text() const {
  std::vector<prometheus::MetricFamily> shown;
  for (const prometheus::MetricFamily& family : impl_->families) {
    if (!family.metric.empty()) shown.push_back(family);
  }
  return prometheus::TextSerializer().Serialize(shown);
}

}  // namespace chipweave::obs
