#include "common/solver/gang/defrag/search/move_state.hpp"

#include <algorithm>

namespace chipweave::solver {
MoveState::MoveState(const MoveProblem& problem) : problem_(problem) {}

void MoveState::reset(const std::vector<int>& emptied) {
  const std::vector<PlacedNode>& nodes = problem_.nodes();
  targets_.assign(problem_.pods().size(), kStays);
  decisions_.assign(problem_.pods().size(), Decision::open);
  emptied_.assign(problem_.domains().size(), 0);
  arrived_in_.assign(problem_.domains().size(), 0);
  for (const int domain : emptied) emptied_[to_index(domain)] = 1;
  emptied_domains_ = static_cast<int>(emptied.size());
  used_up_ = 0;
  chips_ = 0;
  pods_ = 0;
  deficits_ = 0;
  short_chips_ = 0;
  short_pods_ = 0;
  free_.resize(nodes.size());
  slots_.resize(nodes.size());
  open_chips_.assign(nodes.size(), 0);
  open_pods_.assign(nodes.size(), 0);
  arrived_.resize(nodes.size());
  for (const int node : receivers_) arrived_[to_index(node)].clear();
  receivers_.clear();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    free_[n] = nodes[n].free;
    slots_[n] = nodes[n].slots;
    for (int pod = nodes[n].first_pod; pod < nodes[n].last_pod; ++pod) {
      open_chips_[n] += problem_.pods()[to_index(pod)].released;
      ++open_pods_[n];
    }
  }
}

MoveScore MoveState::least_score() const {
  return {.gain = std::min(emptied_domains_ - used_up_, problem_.request().target.domains),
          .chips = chips_ + short_chips_,
          .pods = pods_ + static_cast<int>(short_pods_)};
}

// A pod has at least one chip, so missing slots cost chips, too.
std::int64_t MoveState::chips_short(int node) const {
  return std::max({std::int64_t{0}, -free_[to_index(node)], -slots_[to_index(node)]});
}

std::int64_t MoveState::pods_short(int node) const {
  return std::max<std::int64_t>(free_[to_index(node)] < 0 ? 1 : 0, -slots_[to_index(node)]);
}

bool MoveState::has_deficit(int node) const { return pods_short(node) > 0; }

void MoveState::count(int node, int sign) {
  if (has_deficit(node)) deficits_ += sign;
  short_chips_ += sign * chips_short(node);
  short_pods_ += sign * pods_short(node);
}

template <class Change>
void MoveState::change(int node, const Change& change) {
  count(node, -1);
  change();
  count(node, 1);
}

bool MoveState::may_arrive(int pod, int node) const {
  const std::int64_t chips = problem_.pods()[to_index(pod)].chips;
  return free_[to_index(node)] + open_chips_[to_index(node)] >= chips &&
         slots_[to_index(node)] + open_pods_[to_index(node)] >= 1;
}

std::int64_t MoveState::more_deficit(int pod, int node) const {
  const std::int64_t free = free_[to_index(node)] - problem_.pods()[to_index(pod)].chips;
  const std::int64_t slots = slots_[to_index(node)] - 1;
  return std::max({std::int64_t{0}, -free, -slots}) - chips_short(node);
}

bool MoveState::uses_up_domain(int node) const {
  const int domain = problem_.nodes()[to_index(node)].domain;
  return problem_.domains()[to_index(domain)].free && arrived_in_[to_index(domain)] == 0;
}

bool MoveState::chips_fit(int node) const {
  MoveFit* fit = problem_.fit();
  const PlacedNode& n = problem_.nodes()[to_index(node)];
  if (fit == nullptr || !fit->restricts(n.id) || arrived_[to_index(node)].empty()) return true;
  std::vector<std::size_t> leaving;
  for (int pod = n.first_pod; pod < n.last_pod; ++pod)
    if (decisions_[to_index(pod)] != Decision::stays)
      leaving.push_back(problem_.pods()[to_index(pod)].input);
  std::vector<std::size_t> arriving;
  for (const int pod : arrived_[to_index(node)])
    arriving.push_back(problem_.pods()[to_index(pod)].input);
  return fit->fits(n.id, leaving, arriving);
}

void MoveState::leave(int pod) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  decisions_[to_index(pod)] = Decision::leaves;
  chips_ += p.chips;
  ++pods_;
  open_chips_[to_index(p.node)] -= p.released;
  --open_pods_[to_index(p.node)];
  change(p.node, [&] {
    free_[to_index(p.node)] += p.released;
    ++slots_[to_index(p.node)];
  });
}

void MoveState::undo_leave(int pod) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  decisions_[to_index(pod)] = Decision::open;
  chips_ -= p.chips;
  --pods_;
  open_chips_[to_index(p.node)] += p.released;
  ++open_pods_[to_index(p.node)];
  change(p.node, [&] {
    free_[to_index(p.node)] -= p.released;
    --slots_[to_index(p.node)];
  });
}

void MoveState::arrive(int pod, int node) {
  if (uses_up_domain(node)) ++used_up_;
  ++arrived_in_[to_index(problem_.nodes()[to_index(node)].domain)];
  targets_[to_index(pod)] = node;
  if (arrived_[to_index(node)].empty()) receivers_.push_back(node);
  arrived_[to_index(node)].push_back(pod);
  change(node, [&] {
    free_[to_index(node)] -= problem_.pods()[to_index(pod)].chips;
    --slots_[to_index(node)];
  });
}

void MoveState::undo_arrive(int pod) {
  const int node = std::exchange(targets_[to_index(pod)], kStays);
  --arrived_in_[to_index(problem_.nodes()[to_index(node)].domain)];
  if (uses_up_domain(node)) --used_up_;
  arrived_[to_index(node)].pop_back();
  if (arrived_[to_index(node)].empty()) receivers_.pop_back();
  change(node, [&] {
    free_[to_index(node)] += problem_.pods()[to_index(pod)].chips;
    ++slots_[to_index(node)];
  });
}

bool MoveState::stay(int pod) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  decisions_[to_index(pod)] = Decision::stays;
  open_chips_[to_index(p.node)] -= p.released;
  --open_pods_[to_index(p.node)];
  return free_[to_index(p.node)] + open_chips_[to_index(p.node)] >= 0 &&
         slots_[to_index(p.node)] + open_pods_[to_index(p.node)] >= 0;
}

void MoveState::undo_stay(int pod) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  decisions_[to_index(pod)] = Decision::open;
  open_chips_[to_index(p.node)] += p.released;
  ++open_pods_[to_index(p.node)];
}

}  // namespace chipweave::solver
