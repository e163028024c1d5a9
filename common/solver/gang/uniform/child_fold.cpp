#include "common/solver/gang/uniform/child_fold.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace chipweave::solver {
namespace {

// Vectorized where the processor supports it. Sanitizers do not support functions that are resolved
// at load time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CHIPWEAVE_VECTORIZED \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default"), optimize("O3")))
#else
#define CHIPWEAVE_VECTORIZED
#endif

}  // namespace

ChildFold::ChildFold(FewestDomains& solver, DomainId domain, Units least, Units most, For what)
    : solver_(solver), domain_(domain), least_(least), most_(most), what_(what) {
  width_ = static_cast<std::size_t>(inside(most)) + 1;
  find_children(inside(least), inside(most));
  how_ = choose_how();
  if (how_ != How::tightest) {
    drop_dominated();
    how_ = what_ == For::counts               ? How::counts
           : cells() <= solver_.limits_.cells ? How::traced
                                              : How::chosen;
  }
  find_windows();
  count();
}

Units ChildFold::inside(Units units) const { return solver_.capacity_.inner(domain_, units); }

std::size_t ChildFold::cells() const { return (children_.size() + 1) * width_; }

ChildFold::How ChildFold::choose_how() const {
  if (what_ == For::counts) return How::counts;
  std::size_t steps = 0;
  for (const Child& child : children_) steps += child.steps.size();
  const FoldLimits& limits = solver_.limits_;
  return cells() <= limits.cells && steps * width_ <= limits.work ? How::tightest : How::traced;
}

// Collects the children that can take a share, with their steps. No optimal answer uses more
// children than the fewest that hold the largest request, so each used one holds at least what the
// largest others leave.
void ChildFold::find_children(Units least, Units most) {
  const Capacity& capacity = solver_.capacity_;
  std::vector<Units> capacities;
  bool counted = true;
  for (const DomainId child : solver_.fabric_.children(domain_)) {
    counted = counted && !capacity.already_used(child);
    capacities.push_back(std::min(most, capacity.units(child)));
  }
  Units lowest = 0;
  if (counted) {
    std::sort(capacities.begin(), capacities.end(), std::greater<>());
    std::int64_t held = 0;
    while (fewest_ < capacities.size() && held < most) held += capacities[fewest_++];
    std::int64_t others = 0;
    for (std::size_t i = 0; i + 1 < fewest_; ++i) others += capacities[i];
    lowest = static_cast<Units>(std::max<std::int64_t>(0, least - others));
  }
  // Interchangeable children share the steps of the first one, and no more of them than an answer
  // can use are considered.
  struct Symmetric {
    std::size_t first;
    std::size_t many = 0;
  };
  std::unordered_map<std::uint64_t, Symmetric> symmetric;
  for (const DomainId id : solver_.fabric_.children(domain_)) {
    const Units top = std::min(most, capacity.units(id));
    const bool must = capacity.base(id) > 0;
    if (!must && (top == 0 || top < lowest)) continue;
    Child child;
    child.domain = id;
    const auto [group, fresh] =
        symmetric.try_emplace(capacity.symmetry_hash(id), Symmetric{children_.size()});
    if (++group->second.many > fewest_ && counted) continue;
    child.steps = fresh ? solver_.count_steps(id, std::min(std::max(lowest, 1), top), top)
                        : children_[group->second.first].steps;
    children_.push_back(std::move(child));
  }
}

// [i]: the most that the first (or last) i children hold, using no more of them than an answer
// does.
std::vector<std::size_t> ChildFold::most_held(bool backward) const {
  std::vector<std::size_t> held(1, 0);
  std::multiset<Units> largest;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Child& child = children_[backward ? children_.size() - 1 - i : i];
    const Units capacity = child.steps.back().units;
    largest.insert(capacity);
    sum += static_cast<std::size_t>(capacity);
    if (largest.size() > fewest_) {
      sum -= static_cast<std::size_t>(*largest.begin());
      largest.erase(largest.begin());
    }
    held.push_back(sum);
  }
  return held;
}

void ChildFold::find_windows() {
  windows_.assign(children_.size() + 1, {0, width_ - 1});
  if (fewest_ == 0) return;
  const std::vector<std::size_t> before = most_held(false);
  const std::vector<std::size_t> after = most_held(true);
  const auto least = static_cast<std::size_t>(inside(least_));
  for (std::size_t i = 0; i <= children_.size(); ++i) {
    const std::size_t others = after[children_.size() - i];
    windows_[i] = {least > others ? least - others : 0, std::min(width_ - 1, before[i])};
  }
}

// A step is dominated if as many other children as an answer uses hold more at no higher cost: one
// of them is unused and can replace it. At least one placement with the fewest counts remains.
void ChildFold::drop_dominated() {
  if (fewest_ == 0 || 2 * fewest_ >= children_.size()) return;
  struct At {
    Counts counts;
    std::size_t child;
    std::size_t step;
  };
  std::vector<At> all;
  for (std::size_t i = 0; i < children_.size(); ++i)
    for (std::size_t s = 1; s < children_[i].steps.size(); ++s)
      all.push_back({children_[i].steps[s].counts, i, s});
  std::stable_sort(all.begin(), all.end(),
                   [](const At& a, const At& b) { return a.counts < b.counts; });
  std::vector<Units> held(children_.size(),
                          0);  // by each child within the counts considered so far
  std::vector<Units> largest;
  std::vector<CountSteps> kept(children_.size());
  for (std::size_t from = 0, to = 0; from < all.size(); from = to) {
    for (; to < all.size() && all[to].counts == all[from].counts; ++to)
      held[all[to].child] = children_[all[to].child].steps[all[to].step].units;
    largest = held;
    const auto least = largest.begin() + static_cast<std::ptrdiff_t>(fewest_) - 1;
    std::nth_element(largest.begin(), least, largest.end(), std::greater<>());
    for (std::size_t i = from; i < to; ++i)
      if (held[all[i].child] >= *least)
        kept[all[i].child].push_back(children_[all[i].child].steps[all[i].step]);
  }
  std::vector<Child> left;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (kept[i].empty()) continue;
    kept[i].insert(kept[i].begin(), children_[i].steps.front());
    children_[i].steps = std::move(kept[i]);
    left.push_back(std::move(children_[i]));
  }
  children_ = std::move(left);
}

// Relaxes a row by one step of a child: holding p costs no more than holding p - units, plus the
// step. The hot loop of every plan that needs several domains.
CHIPWEAVE_VECTORIZED
static void relax(Counts* to, const Counts* from, std::size_t low, std::size_t high,
                  std::size_t units, Counts cost) {
  const Counts alone = from[0] + cost;
  const std::size_t clipped = std::min(units, high);
  for (std::size_t p = low; p <= clipped; ++p) to[p] = to[p] < alone ? to[p] : alone;
  for (std::size_t p = std::max(low, units + 1); p <= high; ++p) {
    const Counts with = from[p - units] + cost;
    to[p] = to[p] < with ? to[p] : with;
  }
}

// A row starts as if the child held nothing above its base. Costs are cut off at kImpossible here;
// relax() only lowers them.
CHIPWEAVE_VECTORIZED
static void leave_out(Counts* to, const Counts* from, std::size_t low, std::size_t high,
                      Counts unused) {
  for (std::size_t p = low; p <= high; ++p) {
    const Counts with = from[p] + unused;
    to[p] = with < kImpossible ? with : kImpossible;
  }
}

void ChildFold::count() {
  const bool keep = rows_kept();
  rows_.assign((keep ? children_.size() + 1 : 2) * width_, kImpossible);
  rows_[0] = 0;
  if (how_ == How::chosen) taken_.assign(cells(), -1);
  for (std::size_t i = 1; i <= children_.size(); ++i) {
    Counts* to = rows_.data() + (keep ? i : i % 2) * width_;
    const Counts* from = rows_.data() + (keep ? i - 1 : (i - 1) % 2) * width_;
    const Counts unused = children_[i - 1].steps.front().counts;
    const Window window = windows_[i];
    if (!keep) std::fill(to, to + width_, kImpossible);
    to[0] = from[0] + unused;
    leave_out(to, from, std::max<std::size_t>(1, window.low), window.high, unused);
    count_row(i, from, to);
  }
}

void ChildFold::count_row(std::size_t i, const Counts* from, Counts* to) {
  const CountSteps& steps = children_[i - 1].steps;
  const std::size_t low = std::max<std::size_t>(1, windows_[i].low);
  const std::size_t high = windows_[i].high;
  for (std::size_t s = 1; s < steps.size(); ++s) {
    const Counts cost = steps[s].counts;
    const auto units = std::min(width_ - 1, static_cast<std::size_t>(steps[s].units));
    if (taken_.empty()) {
      relax(to, from, low, high, units, cost);
      continue;
    }
    for (std::size_t p = low; p <= high; ++p) {
      const Counts with = from[p > units ? p - units : 0] + cost;
      if (with >= to[p]) continue;
      to[p] = with;
      taken_[i * width_ + p] = static_cast<std::int32_t>(s);
    }
  }
}

Counts ChildFold::counts(Units units) const {
  const std::size_t last = rows_kept() ? children_.size() : children_.size() % 2;
  return rows_[cell(last, inside(units))];
}

// Goes from the cells (child, p) on optimal paths to those of the children before it. A step leaves
// a run of cells of equal cost to them, so runs are marked, not single cells. Work is limited to
// the cells that the marked ones can come from.
ChildFold::Window ChildFold::mark_row(std::size_t i, Window marked) {
  Child& child = children_[i - 1];
  const Counts* from = rows_.data() + (i - 1) * width_;
  std::uint8_t* before = seen_.data() + (i - 1) * width_;
  const auto largest = static_cast<std::size_t>(child.steps.back().units);
  const std::size_t lowest = marked.low > largest ? marked.low - largest : 0;
  run_end_[marked.high] = marked.high;  // [p]: the last cell up to there of the cost of p
  for (std::size_t p = marked.high; p-- > lowest;)
    run_end_[p] = from[p + 1] == from[p] ? run_end_[p + 1] : p;
  Window reached{width_, 0};
  std::size_t fewest = width_;
  std::size_t most = 0;
  for (std::size_t p = marked.low; p <= marked.high; ++p) {
    if (seen_[i * width_ + p] == 0) continue;
    const Counts here = rows_[i * width_ + p];
    if (from[p] + child.steps.front().counts == here) {
      before[p] = 1;
      reached = {std::min(reached.low, p), std::max(reached.high, p)};
    }
    for (std::size_t s = 1; s < child.steps.size(); ++s) {
      const auto below = static_cast<std::size_t>(child.steps[s - 1].units);
      const auto top =
          std::min(static_cast<std::size_t>(child.steps[s].units), std::max(p, below + 1));
      const std::size_t rest = p > top ? p - top : 0;
      if (from[rest] + child.steps[s].counts != here) continue;
      const std::size_t last =
          std::max(rest, std::min(run_end_[rest], p > below + 1 ? p - below - 1 : 0));
      ++marks_[rest];
      --marks_[last + 1];
      reached = {std::min(reached.low, rest), std::max(reached.high, last)};
      fewest = std::min(fewest, last == 0 ? std::min(top, std::max(p, below + 1)) : p - last);
      most = std::max(most, top);
    }
  }
  std::int32_t open = 0;
  for (std::size_t p = reached.low; p <= reached.high; ++p) {
    open += marks_[p];
    marks_[p] = 0;
    if (open > 0) before[p] = 1;
  }
  marks_[reached.high + 1] = 0;
  child.from = static_cast<Units>(fewest);
  child.to = static_cast<Units>(most);
  return reached;
}

void ChildFold::mark() {
  seen_.assign(rows_.size(), 0);
  run_end_.resize(width_);
  marks_.assign(width_ + 1, 0);
  for (Units units = least_; units <= most_; ++units)
    seen_[cell(children_.size(), inside(units))] = 1;
  seen_[cell(children_.size(), inside(0))] = 1;  // the cost of the base is needed, too
  Window marked{0, width_ - 1};
  for (std::size_t i = children_.size(); i > 0; --i) {
    marked = {std::max(marked.low, windows_[i].low), std::min(marked.high, windows_[i].high)};
    if (marked.low > marked.high) break;
    marked = mark_row(i, marked);
  }
}

void ChildFold::tighten_row(std::size_t i) {
  Child& child = children_[i - 1];
  const Counts* from = rows_.data() + (i - 1) * width_;
  const Tight* before = tight_.data() + (i - 1) % 2 * width_;
  Tight* to = tight_.data() + i % 2 * width_;
  std::fill(to, to + width_, kLoosest);
  for (std::size_t p = 0; p <= windows_[i].high; ++p) {
    if (seen_[i * width_ + p] == 0) continue;
    const Counts here = rows_[i * width_ + p];
    for (std::size_t s = 0; s < child.tight.size(); ++s) {
      const TightStep& step = child.tight[s];
      const auto units = static_cast<std::size_t>(step.units);
      if (s > 0 && p == 0) break;
      const std::size_t rest = p > units ? p - units : 0;
      if (from[rest] + step.counts != here || before[rest] == kLoosest) continue;
      const Tight with = before[rest] + step.tight;
      if (with >= to[p]) continue;
      to[p] = with;
      taken_[i * width_ + p] = static_cast<std::int32_t>(s);
    }
  }
}

void ChildFold::find_tightest() {
  if (how_ != How::tightest) return;
  mark();
  std::map<std::tuple<std::uint64_t, Units, Units>, const Child*> known;
  for (Child& child : children_) {
    if (child.to == 0) child.from = 0;
    if (child.to == 0 && solver_.capacity_.base(child.domain) == 0) {
      child.tight = {TightStep{}};
      continue;
    }
    const auto [it, fresh] = known.try_emplace(
        {solver_.capacity_.symmetry_hash(child.domain), child.from, child.to}, &child);
    child.tight =
        fresh ? solver_.tight_steps(child.domain, child.from, child.to) : it->second->tight;
  }
  taken_.assign(rows_.size(), 0);
  tight_.assign(2 * width_, kLoosest);
  tight_[0] = 0;
  for (std::size_t i = 1; i <= children_.size(); ++i) tighten_row(i);
}

Tight ChildFold::tight(Units units) const {
  if (how_ != How::tightest) return 0;
  return tight_[cell(children_.size() % 2, inside(units))];
}

// The units of child i if the first i children hold `inside`.
Units ChildFold::taken(std::size_t i, Units inside) const {
  const Child& child = children_[i - 1];
  if (how_ == How::traced) {
    const Counts here = rows_[cell(i, inside)];
    for (const CountStep& step : child.steps)
      if (rows_[cell(i - 1, std::max(0, inside - step.units))] + step.counts == here)
        return step.units;
    return 0;
  }
  const auto step = static_cast<std::size_t>(std::max(0, taken_[cell(i, inside)]));
  return how_ == How::tightest ? child.tight[step].units : child.steps[step].units;
}

// Together they may hold more than requested: the last ones get less.
std::vector<std::pair<DomainId, Units>> ChildFold::shares(Units units) const {
  std::vector<std::pair<DomainId, Units>> out(children_.size());
  Units rest = inside(units);
  std::int64_t over = -std::int64_t{rest};
  for (std::size_t i = children_.size(); i > 0; --i) {
    const Child& child = children_[i - 1];
    const Units share = taken(i, rest);
    out[i - 1] = {child.domain, share};
    rest = std::max(0, rest - share);
    over += share;
  }
  for (std::size_t i = out.size(); over > 0 && i > 0; --i) {
    const auto less = static_cast<Units>(std::min<std::int64_t>(over, out[i - 1].second));
    out[i - 1].second -= less;
    over -= less;
  }
  return out;
}

}  // namespace chipweave::solver
