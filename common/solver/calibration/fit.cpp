#include "common/solver/calibration/fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/base/text.hpp"
#include "common/domain/rate_overlay.hpp"
#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/calibration/refused.hpp"

namespace chipweave::solver {
namespace {

using domain::LinkKind;
using domain::NodeTopology;
using Rates = std::map<LinkKind, double>;

constexpr double kLess = 0.99;      // of a constant, to see what a prediction does
constexpr double kAnyShare = 0.01;  // of that change; below it is rounding

// "19.13"
std::string shown(double gbps) {
  std::string digits = std::to_string(static_cast<long long>(std::llround(gbps * 100)));
  while (digits.size() < 3) digits.insert(0, "0");
  return digits.substr(0, digits.size() - 2) + "." + digits.substr(digits.size() - 2);
}

// Constants are given with three decimals, so that people can read and repeat them.
double rounded(double gbps) { return std::round(gbps * 1000) / 1000; }

// The constants of a machine, fast kinds first.
Result<Rates> rates_of(const NodeTopology& t) {
  Rates rates;
  std::set<LinkKind> mixed;
  const auto add = [&](LinkKind kind, double gbps) {
    const auto [found, fresh] = rates.try_emplace(kind, gbps);
    if (!fresh && found->second != gbps) mixed.insert(kind);
  };
  for (const domain::DirectLink& link : t.links()) add(link.kind, link.gbps_per_lane);
  for (const domain::Switch& s : t.switches()) add(s.kind, s.gbps_per_lane);
  if (!mixed.empty()) {
    return refused(concat(domain::to_string(*mixed.begin()),
                          " lanes of this machine have several constants, which one overlay cannot "
                          "replace"));
  }
  domain::HostBandwidth host = t.host_bandwidth();
  for (const LinkKind kind : {LinkKind::board, LinkKind::pix, LinkKind::pxb, LinkKind::phb,
                              LinkKind::node, LinkKind::sys}) {
    rates[kind] = domain::host_rate(host, kind);
  }
  return rates;
}

NodeTopology with(const NodeTopology& topology, const Rates& rates) {
  domain::HostBandwidth host = topology.host_bandwidth();
  for (const auto& [kind, gbps] : rates) {
    if (domain::is_host_path(kind)) domain::host_rate(host, kind) = gbps;
  }
  return topology.with_rates(
      [&rates](LinkKind kind, double rate) {
        const auto found = rates.find(kind);
        return found == rates.end() ? rate : found->second;
      },
      host);
}

std::vector<double> predicted(const NodeTopology& topology,
                              const std::vector<CalibrationPoint>& points) {
  const Wiring wiring(topology);
  BandwidthModel rings(wiring);
  std::vector<double> out;
  out.reserve(points.size());
  for (const CalibrationPoint& point : points) out.push_back(to_gbps(rings.of(point.chips).rate));
  return out;
}

// By point the kinds whose constants its prediction depends on.
std::vector<std::vector<LinkKind>> deciders(const NodeTopology& topology, const Rates& rates,
                                            const std::vector<CalibrationPoint>& points,
                                            const std::vector<double>& before) {
  std::vector<std::vector<LinkKind>> out(points.size());
  for (const auto& [kind, gbps] : rates) {
    const std::vector<double> less = predicted(with(topology, {{kind, gbps * kLess}}), points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double share = (1 - less[i] / before[i]) / (1 - kLess);
      if (share > kAnyShare) out[i].push_back(kind);
    }
  }
  return out;
}

Result<void> check_rate(const FittedRate& rate) {
  const double change = rate.after / rate.before;
  if (domain::change_is_possible(rate.kind, change)) return {};
  return refused(concat(
      domain::to_string(rate.kind), " comes to ", shown(rate.after), " GB/s, ", shown(change),
      " times the constant ", shown(rate.before), ", which no link explains: ",
      change < 1 ? "the machine has fewer lanes than its description, or transfers went through "
                   "host memory"
                 : "the machine has more lanes than its description, or the run was not a ring"));
}

// A farther host path that is faster than a nearer one would turn choices round. Only paths between
// chips of this machine count, and only what the fit changed.
Result<void> check_host_order(const NodeTopology& t, const Rates& rates, const Rates& fitted) {
  std::set<LinkKind> present;
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) present.insert(t.host_path(a, b));
  }
  for (const LinkKind near : present) {
    for (const LinkKind far : present) {
      const bool changed = fitted.count(near) > 0 || fitted.count(far) > 0;
      if (far <= near || !changed || rates.at(far) <= rates.at(near)) continue;
      return refused(concat(domain::to_string(far), " comes to ", shown(rates.at(far)),
                            " GB/s, more than the nearer path ", domain::to_string(near), " with ",
                            shown(rates.at(near)),
                            ": measure that one too, or correct host_gbps of the machine"));
    }
  }
  return {};
}

}  // namespace

Result<Fit> fit_rates(const NodeTopology& topology, const std::vector<CalibrationPoint>& points) {
  Result<Rates> rates = rates_of(topology);
  if (!rates) return std::move(rates).error();
  const std::vector<double> before = predicted(topology, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (before[i] > 0 && points[i].gbps > 0) continue;
    return refused(concat("chips ", comma_list(topology.indices(points[i].chips)),
                          " have no predicted bandwidth to compare with"));
  }
  Fit fit;
  const auto decided = deciders(topology, *rates, points, before);
  std::map<LinkKind, std::pair<double, double>> sums;  // Σ a, Σ a²
  std::map<LinkKind, std::size_t> counts;
  for (std::size_t i = 0; i < points.size(); ++i) {
    fit.points.push_back({before[i], before[i], decided[i]});
    if (!fit.points.back().used()) continue;
    const LinkKind kind = decided[i].front();
    const double a = before[i] / rates->at(kind) / points[i].gbps;
    sums[kind].first += a;
    sums[kind].second += a * a;
    ++counts[kind];
  }
  if (sums.empty()) {
    return refused(
        "no point is decided by one kind of link alone: measure sets of chips that use one kind");
  }
  Rates fitted;
  Rates all = *rates;
  for (const auto& [kind, sum] : sums) {
    FittedRate rate{kind, rates->at(kind), rounded(sum.first / sum.second), counts[kind]};
    if (Result<void> ok = check_rate(rate); !ok) return std::move(ok).error();
    fitted[kind] = all[kind] = rate.after;
    fit.rates.push_back(rate);
  }
  if (Result<void> ok = check_host_order(topology, all, fitted); !ok) return std::move(ok).error();
  const NodeTopology after = with(topology, fitted);
  const std::vector<double> now = predicted(after, points);
  const auto decided_now = deciders(after, all, points, now);
  for (std::size_t i = 0; i < points.size(); ++i) {
    fit.points[i].after = now[i];
    if (!fit.points[i].used() || decided_now[i] == decided[i]) continue;
    return refused(concat("with the fitted constants chips ",
                          comma_list(topology.indices(points[i].chips)),
                          " are no longer decided by ", domain::to_string(decided[i].front()),
                          ": measure the other kinds of links, too"));
  }
  return fit;
}

}  // namespace chipweave::solver
