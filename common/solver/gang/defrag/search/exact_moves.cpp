#include "common/solver/gang/defrag/search/exact_moves.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/solver/gang/defrag/search/move_state.hpp"

namespace chipweave::solver {
namespace {

class ExactMoves {
 public:
  ExactMoves(const MoveProblem& problem, Targets start, std::uint64_t max_steps)
      : problem_(problem),
        state_(problem),
        best_(std::move(start)),
        best_score_(problem.score(best_)),
        steps_left_(max_steps) {}

  ExactResult run();

 private:
  // A node that a pod may move to; ordered as it is tried, equal nodes side by side.
  struct Option {
    bool uses_up = false;
    std::int64_t deficit = 0;  // that it adds
    std::int64_t free = 0;
    std::int64_t slots = 0;
    std::pair<DomainId, int> alike;  // what else must be equal: keep_class, domain
    bool distinct = false;           // no other node is in the same state
    int node = 0;
    auto key() const { return std::tie(uses_up, deficit, free, slots, alike, distinct, node); }
    bool same_state(const Option& other) const {
      return !distinct && !other.distinct && free == other.free && slots == other.slots &&
             alike == other.alike && uses_up == other.uses_up;
    }
  };

  bool pay(std::uint64_t steps);
  void find_equal_domains();
  void choose(std::size_t next);
  bool worth_more(std::size_t next) const;
  bool empty_chosen();
  void place_next(std::size_t next);
  template <class Then>
  void try_nodes(int pod, int first, const Then& then);
  std::vector<Option> options(int pod, int first);
  void settle();
  int unsettled_node() const;
  void settle_by(int node, int pod);
  bool may_improve();

  const MoveProblem& problem_;
  MoveState state_;
  Targets best_;
  MoveScore best_score_;
  std::uint64_t steps_left_;
  bool exhausted_ = false;

  std::vector<int> equal_;   // by candidate: equal ones have equal numbers
  std::vector<int> chosen_;  // domains to be emptied
  MoveScore chosen_cost_;
  std::vector<std::int64_t> room_;  // by component: chips that still fit elsewhere
  std::vector<int> must_move_;      // pods of the chosen domains, largest first
  bool cut_ = false;    // a branch ended because it could not be better, not for lack of room
  bool found_ = false;  // a set of moves empties the chosen domains
};

bool ExactMoves::pay(std::uint64_t steps) {
  exhausted_ = exhausted_ || steps_left_ < steps;
  steps_left_ -= std::min(steps_left_, steps);
  return !exhausted_;
}

// Domains that could be swapped with all their nodes and pods. Which chips are free on machines is
// not compared, so with a MoveFit every domain counts as different.
void ExactMoves::find_equal_domains() {
  using Pod = std::tuple<std::int64_t, std::int64_t, int, int, bool>;
  using Node = std::tuple<bool, int, std::int64_t, std::int64_t, std::vector<Pod>>;
  std::map<std::pair<DomainId, std::vector<Node>>, int> known;
  const std::vector<DefragPod>& input = *problem_.request().pods;
  const int level = problem_.request().target.level;
  int finest = domain::kNoLevel;  // that pods keep to, above the domains
  for (const MovablePod& pod : problem_.pods()) {
    const int keep = input[pod.input].keep_level;
    if (problem_.whole_nodes() || keep < level) finest = std::max(finest, keep);
  }
  for (const int candidate : problem_.candidates()) {
    const TargetDomain& domain = problem_.domains()[to_index(candidate)];
    std::vector<Node> nodes;
    for (int n = domain.first_node; n < domain.last_node; ++n) {
      const PlacedNode& node = problem_.nodes()[to_index(n)];
      std::vector<Pod> pods;
      for (int p = node.first_pod; p < node.last_pod; ++p) {
        const MovablePod& pod = problem_.pods()[to_index(p)];
        pods.emplace_back(pod.chips, pod.released, pod.first_node, pod.last_node, pod.distributed);
      }
      std::sort(pods.begin(), pods.end());
      nodes.emplace_back(node.healthy, node.group, node.free, node.slots, std::move(pods));
    }
    std::sort(nodes.begin(), nodes.end());
    const FabricNodeId id = problem_.nodes()[to_index(domain.first_node)].id;
    const DomainId inside =
        finest == domain::kNoLevel ? kRootDomain : problem_.request().fabric->domain_of(id, finest);
    const int number = static_cast<int>(known.size());
    const bool alone = problem_.fit() != nullptr;
    equal_.push_back(alone ? candidate
                           : known.try_emplace({inside, std::move(nodes)}, number).first->second);
  }
}

ExactResult ExactMoves::run() {
  find_equal_domains();
  room_.assign(to_index(problem_.components()), 0);
  for (const TargetDomain& domain : problem_.domains())
    room_[to_index(domain.component)] += domain.holes;
  choose(0);
  return {std::move(best_), !exhausted_};
}

// Whether the chosen domains together with others from `next` on could beat the best.
bool ExactMoves::worth_more(std::size_t next) const {
  const std::size_t rest = problem_.candidates().size() - next;
  const int chosen = static_cast<int>(chosen_.size());
  const int most = std::min(problem_.most_gain(), chosen + static_cast<int>(rest));
  if (most != best_score_.gain) return most > best_score_.gain;
  MoveScore least = chosen_cost_;
  least.gain = most;
  for (int i = chosen; i < most; ++i) {  // candidates are sorted by cost
    const TargetDomain& domain =
        problem_.domains()[to_index(problem_.candidates()[next + to_index(i - chosen)])];
    least.chips += domain.chips;
    least.pods += domain.pods;
  }
  return least.better_than(best_score_);
}

void ExactMoves::choose(std::size_t next) {
  std::vector<int> tried;
  for (std::size_t i = next; i < problem_.candidates().size(); ++i) {
    if (!pay(1) || !worth_more(i)) return;
    if (std::find(tried.begin(), tried.end(), equal_[i]) != tried.end()) continue;
    tried.push_back(equal_[i]);
    const int candidate = problem_.candidates()[i];
    const TargetDomain& domain = problem_.domains()[to_index(candidate)];
    const std::int64_t needs = domain.chips + domain.holes;
    std::int64_t& room = room_[to_index(domain.component)];
    if (needs > room || chosen_cost_.pods + domain.pods > problem_.request().target.max_moves)
      continue;
    room -= needs;
    chosen_.push_back(candidate);
    chosen_cost_.chips += domain.chips;
    chosen_cost_.pods += domain.pods;
    if (empty_chosen()) choose(i + 1);
    chosen_cost_.chips -= domain.chips;
    chosen_cost_.pods -= domain.pods;
    chosen_.pop_back();
    room += needs;
  }
}

// Finds the best moves that empty the chosen domains, if they can be the best of all. False: the
// domains cannot be emptied together, nor can more.
bool ExactMoves::empty_chosen() {
  MoveScore least = chosen_cost_;
  least.gain = std::min(static_cast<int>(chosen_.size()), problem_.request().target.domains);
  if (!least.better_than(best_score_)) return true;
  if (!pay(problem_.nodes().size() + problem_.pods().size())) return true;
  state_.reset(chosen_);
  must_move_.clear();
  for (const int candidate : chosen_) {
    const TargetDomain& domain = problem_.domains()[to_index(candidate)];
    const int first = problem_.nodes()[to_index(domain.first_node)].first_pod;
    const int last = problem_.nodes()[to_index(domain.last_node - 1)].last_pod;
    for (int pod = first; pod < last; ++pod) must_move_.push_back(pod);
  }
  const auto key = [this](int pod) {
    const MovablePod& p = problem_.pods()[to_index(pod)];
    return std::tuple(-p.chips, p.group, p.first_node, p.last_node, p.distributed, pod);
  };
  std::sort(must_move_.begin(), must_move_.end(), [&](int a, int b) { return key(a) < key(b); });
  for (const int pod : must_move_) state_.leave(pod);
  cut_ = false;
  found_ = false;
  place_next(0);
  return found_ || cut_ || exhausted_;
}

bool ExactMoves::may_improve() {
  const MoveScore least = state_.least_score();
  if (least.pods > problem_.request().target.max_moves) return false;
  if (least.better_than(best_score_)) return true;
  cut_ = true;
  return false;
}

// first: equal pods are placed in the order of nodes.
std::vector<ExactMoves::Option> ExactMoves::options(int pod, int first) {
  const MovablePod& p = problem_.pods()[to_index(pod)];
  std::vector<Option> out;
  const int begin = std::max(first, p.first_node);
  if (begin >= p.last_node || !pay(static_cast<std::uint64_t>(p.last_node - begin))) return out;
  for (int n = begin; n < p.last_node; ++n) {
    const PlacedNode& node = problem_.nodes()[to_index(n)];
    if (!node.healthy || node.group != p.group || n == p.node || state_.emptied(node.domain) ||
        !state_.may_arrive(pod, n))
      continue;
    Option& option = out.emplace_back();
    option.uses_up = state_.uses_up_domain(n);
    option.deficit = state_.more_deficit(pod, n);
    option.free = state_.free(n);
    option.slots = state_.slots(n);
    option.distinct = node.first_pod < node.last_pod ||
                      (problem_.fit() != nullptr && problem_.fit()->restricts(node.id));
    // Of whole nodes it is enough whether they are free.
    option.alike = {node.keep_class, problem_.whole_nodes() ? 0 : node.domain};
    option.node = n;
  }
  std::sort(out.begin(), out.end(),
            [](const Option& a, const Option& b) { return a.key() < b.key(); });
  return out;
}

template <class Then>
void ExactMoves::try_nodes(int pod, int first, const Then& then) {
  const std::vector<Option> all = options(pod, first);
  for (std::size_t i = 0; i < all.size() && !exhausted_; ++i) {
    if (i > 0 && all[i].same_state(all[i - 1])) continue;
    state_.arrive(pod, all[i].node);
    if (may_improve() && state_.chips_fit(all[i].node)) then();
    state_.undo_arrive(pod);
  }
}

void ExactMoves::place_next(std::size_t next) {
  if (next == must_move_.size()) {
    settle();
    return;
  }
  int first = 0;
  if (next > 0) {
    const MovablePod& pod = problem_.pods()[to_index(must_move_[next])];
    const MovablePod& before = problem_.pods()[to_index(must_move_[next - 1])];
    if (pod.chips == before.chips && pod.group == before.group &&
        pod.first_node == before.first_node && pod.last_node == before.last_node &&
        pod.distributed == before.distributed)
      first = state_.targets()[to_index(must_move_[next - 1])];
  }
  try_nodes(must_move_[next], first, [&] { place_next(next + 1); });
}

// A node whose open pods must be decided; below 0: none.
int ExactMoves::unsettled_node() const {
  int out = -1;
  for (const int node : state_.receivers())
    if (state_.has_deficit(node)) return node;
  for (const int node : state_.receivers()) {
    const PlacedNode& n = problem_.nodes()[to_index(node)];
    if (problem_.fit() == nullptr || !problem_.fit()->restricts(n.id)) continue;
    for (int pod = n.first_pod; pod < n.last_pod; ++pod)
      if (state_.open(pod)) out = node;
  }
  return out;
}

// Settles the deficits by moving open pods; then all others stay.
void ExactMoves::settle() {
  if (!may_improve()) return;
  const int node = unsettled_node();
  if (node < 0) {
    best_ = state_.targets();
    best_score_ = state_.least_score();
    found_ = true;
    return;
  }
  const PlacedNode& n = problem_.nodes()[to_index(node)];
  int largest = -1;
  for (int pod = n.first_pod; pod < n.last_pod; ++pod)
    if (state_.open(pod) && (largest < 0 || problem_.pods()[to_index(pod)].chips >
                                                problem_.pods()[to_index(largest)].chips))
      largest = pod;
  if (largest >= 0) settle_by(node, largest);
}

void ExactMoves::settle_by(int node, int pod) {
  const bool deficit = state_.has_deficit(node);
  const auto move = [&] {
    state_.leave(pod);
    if (may_improve()) try_nodes(pod, 0, [&] { settle(); });
    state_.undo_leave(pod);
  };
  const auto keep = [&] {
    if (state_.stay(pod) && state_.chips_fit(node)) settle();
    state_.undo_stay(pod);
  };
  // Without a deficit only the rules of the chips could want it to leave.
  if (!deficit) keep();
  move();
  if (deficit) keep();
}

}  // namespace

ExactResult exact_moves(const MoveProblem& problem, Targets start, std::uint64_t max_steps) {
  return ExactMoves(problem, std::move(start), max_steps).run();
}

}  // namespace chipweave::solver
