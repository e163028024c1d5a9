// MetricsSnapshot — metrics whose series are known only at a scrape, as text of the Prometheus
// format: where values replace each other as a whole and labels change, a Registry (metrics.hpp)
// would have to drop series one by one.
//
// The library writes the text. One use, one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::obs {

class MetricsSnapshot {
 public:
  // In the order in which they are printed. Names are literals of the program; values must be valid
  // UTF-8.
  using Labels = std::vector<std::pair<std::string, std::string>>;

  MetricsSnapshot();
  ~MetricsSnapshot();
  MetricsSnapshot(const MetricsSnapshot&) = delete;
  MetricsSnapshot& operator=(const MetricsSnapshot&) = delete;

  // The metric of the following series; it appears only if there are any. help: on one line.
  void gauge(const std::string& name, const std::string& help);
  void counter(const std::string& name, const std::string& help);
  void series(const Labels& labels, double value);

  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::obs
