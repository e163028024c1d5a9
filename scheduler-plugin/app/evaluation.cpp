#include "scheduler-plugin/app/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

std::string why_lost(const Verdict& loser, const Verdict& best, const solver::NodeOrder& order) {
  if (!loser.fits()) return loser.reason;
  if (order.step(loser.score.gbps) > order.step(best.score.gbps))
    return "slower: " + std::to_string(std::lround(loser.offer.gbps)) + " of " +
           std::to_string(std::lround(best.offer.gbps)) + " GB/s";
  if (loser.far > best.far) return "equally fast, but farther from the other pods of its job";
  if (loser.far == best.far && loser.other_leaves > best.other_leaves)
    return "equally fast, but on other leaf switches than the other pods of its job";
  solver::ScoreInput same_name = loser.score;
  same_name.order = best.score.order;
  if (order.loss(loser.score) > order.loss(best.score) && order.better(best.score, same_name))
    return "fast enough, but others would lose more";
  if (order.loss(loser.score) <= order.loss(best.score) && loser.breaks > best.breaks)
    return "equally good, but in a part of the network that is free as a whole";
  if (loser.offer.left_over > best.offer.left_over)
    return "equally fast, but leaves more chips unused";
  return "equally good, but later in name order";
}

}  // namespace

const Evaluation& Evaluation::refuse(const Verdict& why) {
  refusal = why;
  refusal.count = nodes.size();
  verdict.assign(nodes.size(), 0);
  verdicts = {&refusal, 1};
  fits = 0;
  best_node = kNoNode;
  return *this;
}

std::string rejection_summary(const Evaluation& evaluation) {
  std::set<std::string_view> reasons;
  for (const Verdict& v : evaluation.verdicts) {
    if (v.count > 0) reasons.insert(v.reason);
  }
  return joined(reasons, "; ");
}

std::vector<Considered> considered(const Evaluation& s, const NodeTable& nodes) {
  std::vector<Considered> considered;
  std::vector<const Verdict*> others;
  for (const Verdict& v : s.verdicts) {
    if (v.count > (s.best_node != kNoNode && &v == &s.verdicts[s.best] ? 1U : 0U) &&
        v.first != kNoNode) {
      others.push_back(&v);
    }
  }
  const std::size_t kept = std::min(others.size(), kMaxConsidered);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept),
                    others.end(), [&s](const Verdict* a, const Verdict* b) {
                      if (a->fits() != b->fits()) return a->fits();
                      if (a->fits()) {
                        return s.order.better(a->score, b->score);
                      }
                      return a->count != b->count ? a->count > b->count
                                                  : a->first_order < b->first_order;
                    });
  for (std::size_t i = 0; i < kept; ++i) {
    const Verdict& v = *others[i];
    const bool twin = s.best_node != kNoNode && &v == &s.verdicts[s.best];
    considered.push_back(
        {twin ? std::string() : nodes.node(v.first).name, v.count - (twin ? 1U : 0U), v.cause,
         s.best_node == kNoNode ? v.reason : why_lost(v, s.verdicts[s.best], s.order),
         v.offer.gbps});
  }
  return considered;
}

}  // namespace chipweave::sched
