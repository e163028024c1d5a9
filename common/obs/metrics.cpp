#include "common/obs/metrics.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <type_traits>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace chipweave::obs {

void Counter::add(double by) { series_->Increment(by); }
double Counter::value() const { return series_->Value(); }
void Gauge::set(double to) { series_->Set(to); }
double Gauge::value() const { return series_->Value(); }
void Histogram::observe(double value) { series_->Observe(value); }

// The library returns the child that is there already, or makes one.
template <class Metric>
typename Metric::Library& Family<Metric>::child(const Labels& labels) {
  if constexpr (std::is_same_v<Metric, Histogram>) {
    return library_->Add(labels, buckets_);
  } else {
    return library_->Add(labels);
  }
}

template <class Metric>
Metric Family<Metric>::with(const Labels& labels) {
  return Metric(child(labels));
}

template <class Metric>
void Family<Metric>::remove(const Labels& labels) {
  library_->Remove(&child(labels));
}

template class Family<Counter>;
template class Family<Gauge>;
template class Family<Histogram>;

struct Registry::Impl {
  template <class Metric>
  using ByName = std::map<std::string, Family<Metric>>;  // addresses of its values are stable

  prometheus::Registry registry;
  std::mutex mutex;
  ByName<Counter> counters;
  ByName<Gauge> gauges;
  ByName<Histogram> histograms;

  // The family of that name, registered with the library on first use.
  template <class Metric, class Builder>
  Family<Metric>& declare(ByName<Metric>& own, Builder builder, const std::string& name,
                          const std::string& help, std::vector<double> buckets = {}) {
    // the library does not escape it
    if (help.empty() || help.find_first_of("\n\r\\") != std::string::npos) {
      throw std::invalid_argument("metric " + name +
                                  ": the help text must be one line without backslashes");
    }
    const std::lock_guard lock(mutex);
    try {
      auto& library = builder.Name(name).Help(help).Register(registry);
      return own.try_emplace(name, library, std::move(buckets)).first->second;
    } catch (const std::invalid_argument& e) {  // not a Prometheus name, or of another type
      throw std::invalid_argument("metric '" + name + "': " + e.what());
    }
  }
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Family<Counter>& Registry::counter(const std::string& name, const std::string& help) {
  return impl_->declare(impl_->counters, prometheus::BuildCounter(), name, help);
}

Family<Gauge>& Registry::gauge(const std::string& name, const std::string& help) {
  return impl_->declare(impl_->gauges, prometheus::BuildGauge(), name, help);
}

Family<Histogram>& Registry::histogram(const std::string& name, const std::string& help,
                                       std::vector<double> buckets) {
  if (buckets.empty() ||
      std::adjacent_find(buckets.begin(), buckets.end(), std::greater_equal<>()) != buckets.end()) {
    throw std::invalid_argument("metric " + name + ": bucket bounds must rise");
  }
  return impl_->declare(impl_->histograms, prometheus::BuildHistogram(), name, help,
                        std::move(buckets));
}

std::string Registry::expose() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace chipweave::obs
