// Metrics — a façade on prometheus-cpp core: families declared once at start-up, text exposition on
// demand.
//
// Help texts are literals on one line (the library does not escape them). Names carry the prefix
// chipweave_ and base units. Handles stay valid as long as the Registry; updating one is lock-free
// and may happen on any thread. Series of removed objects (nodes, links) must be dropped with
// Family::remove.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
template <typename Metric>
class Family;
}  // namespace prometheus

namespace chipweave::obs {

using Labels = std::map<std::string, std::string>;

// A handle of one series.
template <class LibraryMetric>
class Series {
 public:
  using Library = LibraryMetric;
  explicit Series(Library& series) : series_(&series) {}

 protected:
  Library* series_;
};

class Counter : public Series<prometheus::Counter> {
 public:
  using Series::Series;
  void add(double by = 1);
  double value() const;
};

class Gauge : public Series<prometheus::Gauge> {
 public:
  using Series::Series;
  void set(double to);
  double value() const;
};

class Histogram : public Series<prometheus::Histogram> {
 public:
  using Series::Series;
  void observe(double value);
};

template <class Metric>
class Family {
 public:
  using Library = prometheus::Family<typename Metric::Library>;
  // buckets: of histograms.
  explicit Family(Library& library, std::vector<double> buckets = {})
      : library_(&library), buckets_(std::move(buckets)) {}
  // The child with these labels, made on first use; keep the handle on hot paths (a look-up locks).
  Metric with(const Labels& labels = {});
  // Drops the child; handles to it must not be used afterwards.
  void remove(const Labels& labels);

 private:
  typename Metric::Library& child(const Labels& labels);
  Library* library_;
  std::vector<double> buckets_;
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Throw std::invalid_argument on a bad name or a name used with another type: a start-up failure.
  Family<Counter>& counter(const std::string& name, const std::string& help);
  Family<Gauge>& gauge(const std::string& name, const std::string& help);
  Family<Histogram>& histogram(const std::string& name, const std::string& help,
                               std::vector<double> buckets);
  // Prometheus text format 0.0.4.
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::obs
