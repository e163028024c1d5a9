#include "common/solver/vendor/tor_slices.hpp"

#include <algorithm>
#include <map>

namespace chipweave::solver {
namespace {

// The nodes needed of each slice, and how many the picked leaves have.
class Need {
 public:
  Need(std::size_t slices, std::size_t pods)
      : counts_(slices, 0), depth_(pods / slices), deeper_(pods % slices) {}

  void add(const std::vector<bool>& leaf, std::size_t times) {
    for (std::size_t s = 0; s < counts_.size(); ++s) counts_[s] += leaf[s] ? times : 0;
  }
  void drop(const std::vector<bool>& leaf, std::size_t times) {
    for (std::size_t s = 0; s < counts_.size(); ++s) counts_[s] -= leaf[s] ? times : 0;
  }
  // Nodes that are still missing if each slice gets `more[s]` more.
  std::size_t missing(const std::vector<std::size_t>& more) const {
    std::size_t short_of_depth = 0;
    std::size_t deeper = 0;
    for (std::size_t s = 0; s < counts_.size(); ++s) {
      const std::size_t reach = counts_[s] + more[s];
      short_of_depth += reach < depth_ ? depth_ - reach : 0;
      deeper += reach > depth_ ? 1U : 0U;
    }
    return short_of_depth + (deeper < deeper_ ? deeper_ - deeper : 0);
  }
  std::size_t missing() const { return missing(std::vector<std::size_t>(counts_.size(), 0)); }
  std::size_t depth() const { return depth_; }
  std::size_t deeper() const { return deeper_; }

 private:
  std::vector<std::size_t> counts_;
  std::size_t depth_;   // nodes of every slice
  std::size_t deeper_;  // slices that give one more
};

// Leaves with the same available nodes.
struct Kind {
  std::vector<bool> able;
  std::size_t size = 0;             // places
  std::vector<std::size_t> leaves;  // in order
};

std::vector<Kind> kinds_of(const std::vector<std::vector<bool>>& able) {
  std::map<std::vector<bool>, std::vector<std::size_t>> by_places;
  for (std::size_t leaf = 0; leaf < able.size(); ++leaf) by_places[able[leaf]].push_back(leaf);
  std::vector<Kind> out;
  for (auto& [places, leaves] : by_places) {
    const auto size = std::count(places.begin(), places.end(), true);
    if (size > 0) out.push_back({places, static_cast<std::size_t>(size), std::move(leaves)});
  }
  std::sort(out.begin(), out.end(), [](const Kind& a, const Kind& b) {
    return a.size != b.size ? a.size > b.size : a.leaves.front() < b.leaves.front();
  });
  return out;
}

// How many leaves of each kind.
using Picks = std::vector<std::size_t>;

// Searches over the number of leaves of each kind, so that interchangeable leaves are not tried in
// turn.
class SliceSearch {
 public:
  SliceSearch(std::vector<Kind> kinds, std::size_t slices, std::size_t pods)
      : kinds_(std::move(kinds)), pods_(pods), need_(slices, pods), picks_(kinds_.size(), 0) {
    // after_[k][s]: leaves of kinds k and later that have a node of slice s.
    after_.assign(kinds_.size() + 1, std::vector<std::size_t>(slices, 0));
    for (std::size_t k = kinds_.size(); k-- > 0;) {
      after_[k] = after_[k + 1];
      for (std::size_t s = 0; s < slices; ++s)
        after_[k][s] += kinds_[k].able[s] ? kinds_[k].leaves.size() : 0;
    }
  }

  bool possible() const { return need_.missing(after_[0]) == 0; }

  // Always the leaf with most of the missing nodes. Precondition: possible().
  Picks greedy() const {
    Need need = need_;
    Picks picks(kinds_.size(), 0);
    for (std::size_t missing = need.missing(); missing > 0;) {
      std::size_t best = kinds_.size();
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (picks[k] == kinds_[k].leaves.size()) continue;
        need.add(kinds_[k].able, 1);
        if (need.missing() < missing) {
          missing = need.missing();
          best = k;
        }
        need.drop(kinds_[k].able, 1);
      }
      need.add(kinds_[best].able, 1);
      ++picks[best];
    }
    return picks;
  }

  // A sufficient pick of exactly `leaves` leaves; with Aim::tightest the one with the fewest
  // places. Empty: there is none, or the budget is exhausted.
  enum class Aim { any, tightest };
  Picks of(std::size_t leaves, Aim aim) {
    best_.clear();
    best_places_ = 0;
    aim_ = aim;
    descend(0, leaves, 0);
    return best_;
  }
  bool budget_exhausted() const { return steps_ >= kMaxRowSteps; }
  // Lower bound of the leaves: those with the most places first.
  std::size_t bound() const {
    std::size_t places = 0;
    std::size_t leaves = 0;
    for (const Kind& kind : kinds_) {
      const std::size_t left = pods_ - places;
      const std::size_t wanted = (left + kind.size - 1) / kind.size;
      if (wanted <= kind.leaves.size()) return leaves + wanted;
      leaves += kind.leaves.size();
      places += kind.leaves.size() * kind.size;
    }
    return leaves;
  }

  const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  void descend(std::size_t kind, std::size_t left, std::size_t places) {
    if (budget_exhausted() || (aim_ == Aim::any && !best_.empty())) return;
    ++steps_;
    if (left == 0) {
      if (need_.missing() == 0 && (best_.empty() || places < best_places_)) {
        best_ = picks_;
        best_places_ = places;
      }
      return;
    }
    if (kind == kinds_.size() || !can_do(kind, left, places)) return;
    const Kind& here = kinds_[kind];
    for (std::size_t n = std::min(left, here.leaves.size()) + 1; n-- > 0;) {
      need_.add(here.able, n);
      picks_[kind] = n;
      descend(kind + 1, left - n, places + n * here.size);
      picks_[kind] = 0;
      need_.drop(here.able, n);
    }
  }

  // No kind from here on is larger than this one.
  bool can_do(std::size_t kind, std::size_t left, std::size_t places) const {
    if (places + left * kinds_[kind].size < pods_) return false;
    if (!best_.empty() && places + left * kinds_.back().size >= best_places_) return false;
    std::vector<std::size_t> more = after_[kind];
    for (std::size_t& n : more) n = std::min(n, left);
    return need_.missing(more) == 0;
  }

  std::vector<Kind> kinds_;
  std::size_t pods_;
  Need need_;
  Picks picks_;
  std::vector<std::vector<std::size_t>> after_;
  Picks best_;
  std::size_t best_places_ = 0;
  Aim aim_ = Aim::any;
  int steps_ = 0;
};

std::size_t sum(const Picks& picks) {
  std::size_t out = 0;
  for (const std::size_t n : picks) out += n;
  return out;
}

// The leaves' nodes by slice, leaves with more of them first: a complete leaf is a row of its own.
std::vector<SliceNode> rows_of(const std::vector<Kind>& kinds, const Picks& picks, const Need& need,
                               std::size_t slices) {
  std::vector<std::vector<std::size_t>> columns(slices);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t i = 0; i < picks[k]; ++i) {
      for (std::size_t s = 0; s < slices; ++s)
        if (kinds[k].able[s]) columns[s].push_back(kinds[k].leaves[i]);
    }
  }
  std::vector<SliceNode> out;
  for (std::size_t row = 0; row < need.depth(); ++row) {
    for (std::size_t s = 0; s < slices; ++s) out.push_back({columns[s][row], s, row});
  }
  std::size_t left = need.deeper();
  for (std::size_t s = 0; s < slices && left > 0; ++s) {
    if (columns[s].size() <= need.depth()) continue;
    out.push_back({columns[s][need.depth()], s, need.depth()});
    --left;
  }
  return out;
}

}  // namespace

SliceRows fewest_rows(const std::vector<std::vector<bool>>& able, std::size_t slices,
                      std::size_t pods) {
  SliceRows out;
  if (slices == 0 || pods == 0) return out;
  SliceSearch search(kinds_of(able), slices, pods);
  if (!search.possible()) return out;
  Picks picks = search.greedy();
  // One leaf less as long as that is possible; where it is not, still fewer are not either.
  const std::size_t bound = search.bound();
  while (sum(picks) > bound) {
    const Picks fewer = search.of(sum(picks) - 1, SliceSearch::Aim::any);
    if (fewer.empty()) break;
    picks = fewer;
  }
  out.fewest = sum(picks) == bound || !search.budget_exhausted();
  if (const Picks tighter = search.of(sum(picks), SliceSearch::Aim::tightest); !tighter.empty())
    picks = tighter;
  out.nodes = rows_of(search.kinds(), picks, Need(slices, pods), slices);
  return out;
}

}  // namespace chipweave::solver
