#include "common/obs/metrics.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace chipweave::obs {

// A handle points at one of these; it stays where it is until its family drops it.
struct Counter::Impl {
  prometheus::Counter* metric;
};
struct Gauge::Impl {
  prometheus::Gauge* metric;
};
struct Histogram::Impl {
  prometheus::Histogram* metric;
};

namespace {

template <class Handle>
struct Library;
template <>
struct Library<Counter> {
  using Metric = prometheus::Counter;
};
template <>
struct Library<Gauge> {
  using Metric = prometheus::Gauge;
};
template <>
struct Library<Histogram> {
  using Metric = prometheus::Histogram;
};

}  // namespace

template <class Metric>
struct Family<Metric>::Impl {
  using LibraryMetric = typename Library<Metric>::Metric;

  prometheus::Family<LibraryMetric>* family;
  std::vector<double> buckets;  // of histograms
  std::mutex mutex;
  std::map<Labels, typename Metric::Impl> children;  // a map: addresses of its values are stable

  LibraryMetric& add(const Labels& labels) {
    if constexpr (std::is_same_v<Metric, Histogram>) {
      return family->Add(labels, buckets);
    } else {
      return family->Add(labels);
    }
  }
};

template <class Metric>
Metric Family<Metric>::with(const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  auto found = impl_->children.find(labels);
  if (found == impl_->children.end()) {
    found = impl_->children.emplace(labels, typename Metric::Impl{&impl_->add(labels)}).first;
  }
  return Metric(&found->second);
}

template <class Metric>
void Family<Metric>::remove(const Labels& labels) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->children.find(labels);
  if (found == impl_->children.end()) return;
  impl_->family->Remove(found->second.metric);
  impl_->children.erase(found);
}

template class Family<Counter>;
template class Family<Gauge>;
template class Family<Histogram>;

void Counter::add(double by) { impl_->metric->Increment(by); }
double Counter::value() const { return impl_->metric->Value(); }
void Gauge::set(double to) { impl_->metric->Set(to); }
double Gauge::value() const { return impl_->metric->Value(); }
void Histogram::observe(double value) { impl_->metric->Observe(value); }

namespace {

template <class Metric>
struct Declared {
  typename Family<Metric>::Impl impl;
  Family<Metric> family{&impl};
};

template <class Metric>
using ByName = std::map<std::string, std::unique_ptr<Declared<Metric>>>;

// Prometheus names; the library leaves the rest of the line to us as well.
void check_declaration(const std::string& name, const std::string& help) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  const auto part = [letter](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !letter(name.front()) || !std::all_of(name.begin(), name.end(), part)) {
    throw std::invalid_argument("metric name '" + name + "' is not a Prometheus name");
  }
  if (help.empty() || help.find_first_of("\n\r\\") != std::string::npos) {
    throw std::invalid_argument("metric " + name +
                                ": the help text must be one line without backslashes");
  }
}

}  // namespace

struct Registry::Impl {
  prometheus::Registry registry;
  std::mutex mutex;
  ByName<Counter> counters;
  ByName<Gauge> gauges;
  ByName<Histogram> histograms;

  // The family of that name and type; `make` registers it with the library on first use.
  template <class Metric, class Make>
  Family<Metric>& declare(ByName<Metric>& own, const std::string& name, const std::string& help,
                          const std::vector<double>& buckets, const Make& make) {
    check_declaration(name, help);
    const std::lock_guard lock(mutex);
    if (const auto found = own.find(name); found != own.end()) return found->second->family;
    if (counters.contains(name) || gauges.contains(name) || histograms.contains(name)) {
      throw std::invalid_argument("metric " + name + " is already declared with another type");
    }
    auto declared = std::make_unique<Declared<Metric>>();
    declared->impl.family = &make();
    declared->impl.buckets = buckets;
    return own.emplace(name, std::move(declared)).first->second->family;
  }
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Family<Counter>& Registry::counter(const std::string& name, const std::string& help) {
  return impl_->declare(
      impl_->counters, name, help, {}, [&]() -> auto& {
        return prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
      });
}

Family<Gauge>& Registry::gauge(const std::string& name, const std::string& help) {
  return impl_->declare(
      impl_->gauges, name, help, {}, [&]() -> auto& {
        return prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
      });
}

Family<Histogram>& Registry::histogram(const std::string& name, const std::string& help,
                                       std::vector<double> buckets) {
  if (buckets.empty() ||
      std::adjacent_find(buckets.begin(), buckets.end(), std::greater_equal<>()) != buckets.end()) {
    throw std::invalid_argument("metric " + name + ": bucket bounds must rise");
  }
  return impl_->declare(
      impl_->histograms, name, help, buckets, [&]() -> auto& {
        return prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
      });
}

std::string Registry::expose() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace chipweave::obs
