#include "scheduler-plugin/app/gangs/planning/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
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

// The seats by their domain of one level, those of each in their order.
class SeatsByDomain {
 public:
  SeatsByDomain(const Fabric& fabric, int level, const std::vector<FabricNodeId>& at,
                const std::vector<bool>& given)
      : fabric_(fabric), level_(level), given_(given) {
    for (std::size_t seat = 0; seat < at.size(); ++seat) {
      if (at[seat] != solver::kNowhere) seats_[fabric.domain_of(at[seat], level)].push_back(seat);
    }
  }
  // The first one in the domain of this node that is not given yet; nullopt: there is none.
  std::optional<std::size_t> near(FabricNodeId node) {
    if (node == solver::kNowhere) return std::nullopt;
    const auto there = seats_.find(fabric_.domain_of(node, level_));
    if (there == seats_.end()) return std::nullopt;
    std::deque<std::size_t>& seats = there->second;
    while (!seats.empty() && given_[seats.front()]) seats.pop_front();
    return seats.empty() ? std::nullopt : std::optional(seats.front());
  }

 private:
  const Fabric& fabric_;
  int level_;
  const std::vector<bool>& given_;
  std::map<solver::DomainId, std::deque<std::size_t>> seats_;
};

// The nearest pairs first: those in one domain of the finest level, then of the next one; in each,
// first those with the pod before.
void exchange(const Fabric& fabric, const NodeTable& nodes, const Alike& group,
              std::vector<GangSeat>& seats) {
  std::vector<OpenSlot> left = group.slots;
  std::vector<bool> given(group.seats.size(), false);
  std::vector<FabricNodeId> at;
  at.reserve(group.seats.size());
  for (const GangSeat& seat : group.seats) at.push_back(node_of(fabric, nodes, seat));
  const auto give = [&](const OpenSlot& slot, std::size_t seat) {
    seats[slot.slot] = group.seats[seat];
    given[seat] = true;
  };
  for (int level = static_cast<int>(fabric.levels()) - 1; level >= 0 && !left.empty(); --level) {
    SeatsByDomain domains(fabric, level, at, given);
    for (std::size_t side = 0; side < 2; ++side) {
      std::erase_if(left, [&](const OpenSlot& slot) {
        const std::optional<std::size_t> seat = domains.near(slot.neighbours[side]);
        if (seat) give(slot, *seat);
        return seat.has_value();
      });
    }
  }
  std::size_t next = 0;
  for (const OpenSlot& slot : left) {
    while (given[next]) ++next;
    give(slot, next);
  }
}

}  // namespace

void seat_beside_neighbours(const Fabric& fabric, const NodeTable& nodes, const GangToPlan& asked,
                            const SlotNodes& may, std::vector<GangSeat>& seats) {
  const auto open =
      static_cast<std::size_t>(std::count(asked.seated.begin(), asked.seated.end(), std::nullopt));
  if (open < 2 || open == asked.seated.size()) return;
  const auto before = last_seated(fabric, nodes, asked, false);
  const auto after = last_seated(fabric, nodes, asked, true);
  const std::vector<std::size_t> sets = sets_of(*asked.layout);
  std::map<std::tuple<std::size_t, int, std::size_t>, Alike> groups;
  std::size_t pod = 0;  // of those that needed a place
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (asked.seated[i]) continue;
    const std::size_t kind = may.kind(pod++);
    if (seats[i].node == kNoNode) continue;
    Alike& group = groups[{sets[i], (*asked.slots)[i].chips, kind}];
    group.slots.push_back({i, {before[i], after[i]}});
    group.seats.push_back(seats[i]);
  }
  for (const auto& [kind, group] : groups) exchange(fabric, nodes, group, seats);
}

}  // namespace chipweave::sched
