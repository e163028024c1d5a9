#include "scheduler-plugin/app/verdict_table.hpp"

#include <utility>

namespace chipweave::sched {
namespace {

// Nodes with ever new faults may add verdicts without end; above this number the table is emptied.
constexpr std::size_t kMaxVerdicts = 4096;

}  // namespace

VerdictTable::VerdictTable(RequestKind kind) : kind_(std::move(kind)) { clear(); }

void VerdictTable::clear() {
  verdicts_.clear();
  numbers_.clear();
  by_state_.assign(by_state_.size(), kOpen);
  add(rejected(Cause::unknown_node, Remedy::time, "inventory not received"));
  add(group_elsewhere());
  add(binding_elsewhere());
  add(gang_elsewhere());
  add(gang_alike());
}

void VerdictTable::begin(const NodeTable& nodes, std::uint64_t demand_version) {
  if (verdicts_.size() > kMaxVerdicts || demand_version_ != demand_version) clear();
  demand_version_ = demand_version;
  for (Verdict& v : verdicts_) {
    v.count = 0;
    v.first = kNoNode;
    v.first_order = ~std::uint32_t{0};
  }
  if (last_serial_ == nodes.last_serial()) return;
  by_state_.resize(nodes.states(), kOpen);
  serials_.resize(nodes.states());
  for (StateId state = 0; state < serials_.size(); ++state) {
    if (serials_[state] == nodes.serial(state)) continue;
    serials_[state] = nodes.serial(state);
    by_state_[state] = kOpen;
  }
  last_serial_ = nodes.last_serial();
}

bool VerdictTable::knows(StateId state, const NodeTable& nodes) const {
  return state < by_state_.size() && by_state_[state] != kOpen &&
         serials_[state] == nodes.serial(state) && nodes.state(state).nodes > 0;
}

std::uint32_t VerdictTable::add(Verdict v) {
  const auto next = static_cast<std::uint32_t>(verdicts_.size());
  const auto [it, fresh] = numbers_.try_emplace(key_of(v), next);
  if (fresh) verdicts_.push_back(std::move(v));
  return it->second;
}

}  // namespace chipweave::sched
