#include "common/solver/gang/defrag/search/greedy_moves.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "common/solver/gang/defrag/search/hole_tree.hpp"

namespace chipweave::solver {
namespace {

// Nodes that vendors' rules may refuse before a pod counts as one without a hole.
constexpr int kMaxRefusals = 16;
constexpr int kMaxRuns = 8;

class GreedyMoves {
 public:
  explicit GreedyMoves(const MoveProblem& problem)
      : problem_(problem), holes_(to_index(problem.groups()), HoleTree(problem.nodes().size())) {}

  // order: candidates; the first `together` of them are emptied together, then others alone.
  Targets run(const std::vector<int>& order, int together);

 private:
  enum class State : char { receives, being_emptied, empty };

  void start();
  void receive(int domain);
  void close(int domain);
  void show(int node);
  int hole_for(int pod);
  bool place(int pod);
  void put_back(int domain);
  void empty_together(std::span<const int> domains);
  bool empty_alone(int domain);

  const MoveProblem& problem_;
  std::vector<HoleTree> holes_;  // by group
  Targets targets_;
  std::vector<State> states_;  // by domain
  std::vector<int> received_;  // pods, by domain
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> slots_;
  std::vector<std::vector<std::size_t>> arrived_;  // by node, only where the chips' fit matters
  int gain_ = 0;
  std::int64_t moves_left_ = 0;
};

void GreedyMoves::start() {
  targets_.assign(problem_.pods().size(), kStays);
  received_.assign(problem_.domains().size(), 0);
  states_.assign(problem_.domains().size(), State::receives);
  free_.clear();
  slots_.clear();
  for (const PlacedNode& node : problem_.nodes()) {
    free_.push_back(node.free);
    slots_.push_back(node.slots);
  }
  arrived_.assign(problem_.fit() == nullptr ? 0 : problem_.nodes().size(), {});
  gain_ = 0;
  moves_left_ = problem_.request().target.max_moves;
  for (std::size_t d = 0; d < states_.size(); ++d) {
    if (problem_.domains()[d].free) states_[d] = State::empty;
    receive(static_cast<int>(d));
  }
}

// Shows the domain's holes, unless it is to stay free.
void GreedyMoves::receive(int domain) {
  const TargetDomain& d = problem_.domains()[to_index(domain)];
  for (int node = d.first_node; node < d.last_node; ++node) show(node);
}

void GreedyMoves::show(int node) {
  const PlacedNode& n = problem_.nodes()[to_index(node)];
  const bool open =
      n.healthy && slots_[to_index(node)] > 0 && states_[to_index(n.domain)] == State::receives;
  holes_[to_index(n.group)].set(node, open ? free_[to_index(node)] : 0);
}

void GreedyMoves::close(int domain) {
  states_[to_index(domain)] = State::being_emptied;
  receive(domain);
}

int GreedyMoves::hole_for(int pod) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  MoveFit* fit = problem_.fit();
  std::vector<int> refused;
  int node = HoleTree::kNone;
  while (static_cast<int>(refused.size()) < kMaxRefusals) {
    node = holes_[to_index(p.group)].best_fit(p.chips, p.first_node, p.last_node);
    if (node == HoleTree::kNone || fit == nullptr) break;
    const FabricNodeId id = problem_.nodes()[to_index(node)].id;
    if (!fit->restricts(id)) break;
    std::vector<std::size_t> arriving = arrived_[to_index(node)];
    arriving.push_back(p.input);
    if (fit->fits(id, {}, arriving)) break;
    refused.push_back(node);
    holes_[to_index(p.group)].set(node, 0);
    node = HoleTree::kNone;
  }
  for (const int one : refused) show(one);
  return node;
}

bool GreedyMoves::place(int pod) {
  const int node = hole_for(pod);
  if (node == HoleTree::kNone) return false;
  const MovablePod& p = problem_.pods()[to_index(pod)];
  targets_[to_index(pod)] = node;
  free_[to_index(node)] -= p.chips;
  --slots_[to_index(node)];
  ++received_[to_index(problem_.nodes()[to_index(node)].domain)];
  if (!arrived_.empty()) arrived_[to_index(node)].push_back(p.input);
  show(node);
  return true;
}

// The domain's own pods return, and it receives others' from now on.
void GreedyMoves::put_back(int domain) {
  const TargetDomain& d = problem_.domains()[to_index(domain)];
  states_[to_index(domain)] = State::receives;
  for (int n = d.first_node; n < d.last_node; ++n) {
    const PlacedNode& home = problem_.nodes()[to_index(n)];
    for (int pod = home.first_pod; pod < home.last_pod; ++pod) {
      const int node = std::exchange(targets_[to_index(pod)], kStays);
      if (node == kStays) continue;
      const MovablePod& p = problem_.pods()[to_index(pod)];
      free_[to_index(node)] += p.chips;
      ++slots_[to_index(node)];
      --received_[to_index(problem_.nodes()[to_index(node)].domain)];
      if (!arrived_.empty()) std::erase(arrived_[to_index(node)], p.input);
      show(node);
    }
    show(n);
  }
}

void GreedyMoves::empty_together(std::span<const int> domains) {
  std::vector<int> pods;
  for (const int domain : domains) {
    const TargetDomain& d = problem_.domains()[to_index(domain)];
    if (d.pods > moves_left_) continue;
    moves_left_ -= d.pods;
    close(domain);
    ++gain_;
    const int first = problem_.nodes()[to_index(d.first_node)].first_pod;
    const int last = problem_.nodes()[to_index(d.last_node - 1)].last_pod;
    for (int pod = first; pod < last; ++pod) pods.push_back(pod);
  }
  std::stable_sort(pods.begin(), pods.end(), [this](int a, int b) {
    return problem_.pods()[to_index(a)].chips > problem_.pods()[to_index(b)].chips;
  });
  for (const int pod : pods) {
    const int domain = problem_.nodes()[to_index(problem_.pods()[to_index(pod)].node)].domain;
    if (states_[to_index(domain)] != State::being_emptied || place(pod)) continue;
    put_back(domain);
    moves_left_ += problem_.domains()[to_index(domain)].pods;
    --gain_;
  }
}

bool GreedyMoves::empty_alone(int domain) {
  const int before = gain_;
  empty_together({&domain, 1});
  return gain_ > before;
}

Targets GreedyMoves::run(const std::vector<int>& order, int together) {
  start();
  empty_together(std::span(order).first(to_index(together)));
  for (const int domain : order) {
    if (gain_ >= problem_.most_gain()) break;
    if (states_[to_index(domain)] == State::receives && received_[to_index(domain)] == 0)
      (void)empty_alone(domain);
  }
  return targets_;
}

}  // namespace

Targets greedy_moves(const MoveProblem& problem) {
  Targets best(problem.pods().size(), kStays);
  MoveScore best_score;
  if (problem.most_gain() == 0) return best;
  GreedyMoves greedy(problem);
  std::vector<std::vector<int>> orders{problem.candidates()};
  if (problem.request().target.max_moves != DefragTarget::kNoLimit) {
    orders.push_back(problem.candidates());
    std::stable_sort(orders.back().begin(), orders.back().end(), [&problem](int a, int b) {
      const TargetDomain& x = problem.domains()[to_index(a)];
      const TargetDomain& y = problem.domains()[to_index(b)];
      return std::tie(x.pods, x.chips) < std::tie(y.pods, y.chips);
    });
  }
  for (const std::vector<int>& order : orders) {
    int together = problem.most_gain();
    for (int run = 0; run < kMaxRuns && together >= 0; ++run) {
      Targets found = greedy.run(order, together);
      const MoveScore score = problem.score(found);
      if (score.better_than(best_score)) {
        best = std::move(found);
        best_score = score;
      }
      if (score.gain == problem.most_gain()) break;
      // Fewer at once leave more holes for them.
      const int less = together * 3 / 4;
      together = run == 0 && score.gain < together && score.gain > less ? score.gain : less;
      if (together == 0 && run > 0) break;
    }
  }
  return best;
}

}  // namespace chipweave::solver
