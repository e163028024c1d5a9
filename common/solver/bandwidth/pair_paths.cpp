#include "common/solver/bandwidth/pair_paths.hpp"

#include <algorithm>
#include <limits>

namespace chipweave::solver {
namespace {

using domain::LinkKind;

enum class Path { direct, planes, routed, host };

Path path_of(const BandwidthModel& model, const Wiring& wiring, int a, int b) {
  if (model.fast(a, b) > 0)
    return wiring.direct(a, b) >= model.fast(a, b) ? Path::direct : Path::planes;
  return wiring.routed(a, b) >= wiring.host(a, b) ? Path::routed : Path::host;
}

int hops_of(const BandwidthModel& model, const Wiring& wiring, int a, int b) {
  switch (path_of(model, wiring, a, b)) {
    case Path::direct:
    case Path::planes:
      return 1;
    case Path::routed:
      return 2;
    case Path::host:
      break;
  }
  return 3 + static_cast<int>(wiring.host_kind(a, b)) - static_cast<int>(LinkKind::board);
}

}  // namespace

Rate all_to_all_rate(const BandwidthModel& model, const Wiring& wiring, ChipSet set) {
  if (set.size() < 2) return 0;
  const Rate others = set.size() - 1;
  Rate least = std::numeric_limits<Rate>::max();
  for (const int a : set) {
    Rate ports = 0;
    int over_planes = 0;
    int over_others = 0;
    Rate narrowest = std::numeric_limits<Rate>::max();
    for (const Plane& plane : wiring.planes()) {
      if (plane.members.contains(a) && (plane.members & set).size() > 1)
        ports += plane.egress[static_cast<std::size_t>(a)];
    }
    for (const int b : set) {
      if (a == b) continue;
      const Path path = path_of(model, wiring, a, b);
      over_planes += path == Path::planes ? 1 : 0;
      if (path == Path::direct) least = std::min(least, wiring.direct(a, b) * others);
      if (path == Path::routed || path == Path::host) {
        ++over_others;
        narrowest = std::min(narrowest, model.hop(a, b));
      }
    }
    if (over_planes > 0) least = std::min(least, ports * others / over_planes);
    if (over_others > 0) least = std::min(least, narrowest * others / over_others);
  }
  return least;
}

Distance distance(const BandwidthModel& model, const Wiring& wiring, ChipSet set) {
  Distance out;
  for (const int a : set) {
    for (const int b : set) {
      if (a >= b) continue;
      const int hops = hops_of(model, wiring, a, b);
      out.farthest = std::max(out.farthest, hops);
      out.sum += hops;
    }
  }
  for (const ChipSet node : wiring.numa_groups()) out.numa_nodes += node.intersects(set) ? 1 : 0;
  return out;
}

}  // namespace chipweave::solver
