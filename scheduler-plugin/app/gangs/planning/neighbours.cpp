#include "scheduler-plugin/app/gangs/planning/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace chipweave::sched {
namespace {

using solver::Fabric;
using solver::FabricNodeId;

struct OpenSlot {
  std::size_t slot = 0;
  std::array<FabricNodeId, 2> neighbours{solver::kNowhere, solver::kNowhere};  // kNowhere: none
};

// Slots whose pods no rule tells apart, and the seats that they got together.
struct Alike {
  std::vector<OpenSlot> slots;
  std::vector<GangSeat> seats;
};

FabricNodeId node_of(const Fabric& fabric, const NodeTable& nodes, const GangSeat& seat) {
  return seat.node == kNoNode ? solver::kNowhere : fabric.find(nodes.node(seat.node).name);
}

// By slot: where the last running pod before it on the ring of ranks is; kNowhere: not known.
std::vector<FabricNodeId> last_seated(const Fabric& fabric, const NodeTable& nodes,
                                      const GangToPlan& asked, bool backwards) {
  const std::size_t count = asked.seated.size();
  std::vector<FabricNodeId> out(count, solver::kNowhere);
  FabricNodeId last = solver::kNowhere;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const std::size_t slot = backwards ? count - 1 - i % count : i % count;
    out[slot] = last;
    if (!asked.seated[slot]) continue;
    const FabricNodeId node = node_of(fabric, nodes, *asked.seated[slot]);
    if (node != solver::kNowhere) last = node;
  }
  return out;
}

// By slot: the role or subgroup that it belongs to, from 1; 0: none.
std::vector<std::size_t> sets_of(const GangLayout& layout) {
  std::vector<std::size_t> out;
  out.reserve(layout.slots.size());
  for (std::size_t set = 0; set < layout.request.sets.size(); ++set)
    out.insert(out.end(), static_cast<std::size_t>(layout.request.sets[set].pods), set + 1);
  out.resize(layout.slots.size(), 0);
  return out;
}

bool share_domain(const Fabric& fabric, FabricNodeId a, FabricNodeId b, int level) {
  return a != solver::kNowhere && b != solver::kNowhere &&
         fabric.domain_of(a, level) == fabric.domain_of(b, level);
}

// The nearest pairs first: those in one domain of the finest level, then of the next one; in each,
// first those with the pod before.
void exchange(const Fabric& fabric, const NodeTable& nodes, Alike& group,
              std::vector<GangSeat>& seats) {
  std::vector<OpenSlot> left = std::move(group.slots);
  std::vector<GangSeat> free = std::move(group.seats);
  const auto give = [&](const OpenSlot& slot, std::size_t seat) {
    seats[slot.slot] = free[seat];
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(seat));
  };
  const auto give_near = [&](int level, std::size_t side) {
    std::erase_if(left, [&](const OpenSlot& slot) {
      const auto seat = std::find_if(free.begin(), free.end(), [&](const GangSeat& one) {
        return share_domain(fabric, slot.neighbours[side], node_of(fabric, nodes, one), level);
      });
      if (seat == free.end()) return false;
      give(slot, static_cast<std::size_t>(seat - free.begin()));
      return true;
    });
  };
  for (int level = static_cast<int>(fabric.levels()) - 1; level >= 0 && !left.empty(); --level) {
    for (std::size_t side = 0; side < 2; ++side) give_near(level, side);
  }
  for (const OpenSlot& slot : left) give(slot, 0);
}

}  // namespace

void seat_beside_neighbours(const Fabric& fabric, const NodeTable& nodes, const GangToPlan& asked,
                            std::vector<GangSeat>& seats) {
  const auto open =
      static_cast<std::size_t>(std::count(asked.seated.begin(), asked.seated.end(), std::nullopt));
  if (open < 2 || open == asked.seated.size()) return;
  const auto before = last_seated(fabric, nodes, asked, false);
  const auto after = last_seated(fabric, nodes, asked, true);
  const std::vector<std::size_t> sets = sets_of(*asked.layout);
  std::map<std::pair<std::size_t, int>, Alike> groups;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (asked.seated[i] || seats[i].node == kNoNode) continue;
    Alike& group = groups[{sets[i], asked.layout->slots[i].chips}];
    group.slots.push_back({i, {before[i], after[i]}});
    group.seats.push_back(seats[i]);
  }
  for (auto& [kind, group] : groups) exchange(fabric, nodes, group, seats);
}

}  // namespace chipweave::sched
