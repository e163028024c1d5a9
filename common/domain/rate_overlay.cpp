#include "common/domain/rate_overlay.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::domain {

bool RateOverlay::matches(const NodeTopology& topology) const {
  if (vendor != topology.vendor()) return false;
  const std::string model = lower_case(topology.model());
  return std::any_of(models.begin(), models.end(),
                     [&model](const std::string& m) { return lower_case(m) == model; });
}

bool change_is_possible(LinkKind kind, double change) {
  const double most = is_host_path(kind) ? kMaxHostChange : kMaxLaneChange;
  return change >= kMinRateChange && change <= most;
}

double& host_rate(HostBandwidth& host, LinkKind kind) {
  switch (kind) {
    case LinkKind::board:
      return host.board;
    case LinkKind::pix:
      return host.pix;
    case LinkKind::pxb:
      return host.pxb;
    case LinkKind::phb:
      return host.phb;
    case LinkKind::node:
      return host.node;
    default:
      return host.sys;
  }
}

NodeTopology calibrated(const NodeTopology& topology, const std::vector<RateOverlay>& overlays) {
  NodeTopology out = topology;
  for (const RateOverlay& overlay : overlays) {
    if (!overlay.matches(topology)) continue;
    HostBandwidth host = out.host_bandwidth();
    for (const auto& [kind, gbps] : overlay.host) host_rate(host, kind) = gbps;
    out = out.with_rates(
        [&overlay](LinkKind kind, double rate) {
          const auto found = overlay.lanes.find(kind);
          return found == overlay.lanes.end() ? rate : found->second;
        },
        host);
  }
  return out;
}

Result<void> check_overlays(const std::vector<RateOverlay>& overlays) {
  std::map<std::tuple<std::string, std::string, LinkKind>, const RateOverlay*> seen;
  for (const RateOverlay& overlay : overlays) {
    std::set<LinkKind> kinds;
    for (const auto& [kind, gbps] : overlay.lanes) kinds.insert(kind);
    for (const auto& [kind, gbps] : overlay.host) kinds.insert(kind);
    for (const std::string& model : overlay.models) {
      for (const LinkKind kind : kinds) {
        const auto [first, fresh] =
            seen.try_emplace({overlay.vendor, lower_case(model), kind}, &overlay);
        if (fresh || first->second == &overlay) continue;
        return make_error(
            Errc::invalid_argument,
            concat(to_string(kind), " of ", in_quotes(model), " is given by ", first->second->name,
                   " and by ", overlay.name, "; keep one of the two"));
      }
    }
  }
  return {};
}

}  // namespace chipweave::domain
