#include "scheduler-plugin/app/container_chips.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace chipweave::sched {
namespace {

using domain::ChipSet;

ChipSet fastest_of(ChipSet chips, int count, const Node& node) {
  if (count >= chips.size()) return chips;
  const solver::Choice best = node.wiring->choose({chips, {}, {}, count, false});
  if (best.fits) return best.chips;
  // the machine's rule is about pods: their containers may get any of their chips
  ChipSet first;
  for (const int slot : chips) {
    if (first.size() < count) first.insert(slot);
  }
  return first;
}

}  // namespace

std::vector<ContainerChips> chips_of_containers(const std::vector<ContainerRequest>& requests,
                                                ChipSet chips, const Node& node) {
  std::vector<std::size_t> by_size(requests.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].chips > requests[b].chips;
  });
  std::vector<ChipSet> sets(requests.size());
  ChipSet left = chips;
  for (const std::size_t i : by_size) {
    if (requests[i].init) continue;
    if (requests[i].chips > left.size()) return {};
    sets[i] = fastest_of(left, requests[i].chips, node);
    left -= sets[i];
  }
  ChipSet of_sidecars;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].init) {
      // of those before an init container, only sidecars have started
      of_sidecars |= sets[i];
      continue;
    }
    const ChipSet usable = chips - of_sidecars;
    if (requests[i].chips > usable.size()) return {};
    sets[i] = fastest_of(usable, requests[i].chips, node);
  }
  std::vector<ContainerChips> out;
  for (std::size_t i = 0; i < requests.size(); ++i)
    out.push_back({requests[i].name, requests[i].init, node.topology.indices(sets[i])});
  return out;
}

std::optional<ClaimOrder> claim_order_of(const Decision& decision) {
  if (decision.containers.empty()) return std::nullopt;
  ClaimOrder out;
  out.resource = decision.resource;
  out.chips = decision.indices;
  for (const ContainerChips& one : decision.containers) {
    std::vector<std::size_t>& positions = out.containers[one.container];
    for (const int index : one.indices) {
      const auto at = std::find(out.chips.begin(), out.chips.end(), index);
      positions.push_back(static_cast<std::size_t>(at - out.chips.begin()));
    }
  }
  return out;
}

}  // namespace chipweave::sched
