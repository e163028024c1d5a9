#include "common/solver/gang/planner.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/solver/gang/fewest_domains.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::Plan;

class GangPlanner {
 public:
  GangPlanner(const Fabric& fabric, const std::vector<std::string>& levels,
              const GangQuestion& question)
      : fabric_(fabric),
        levels_(levels),
        gang_(question.gang),
        existing_(question.existing),
        notes_(notes(question.existing)),
        kind_{question.gang.pods, question.gang.chips_per_pod, slices(fabric, question.gang)},
        room_(fabric, kind_, notes_,
              question.gang.required_level + 1 == static_cast<int>(fabric.levels())) {
    for (const auto& [node, pods] : existing_) running_ += pods;
  }

  Plan plan() {
    if (room_.broken(kRootDomain)) {
      return refused(
          "a slice of the gang's running pods cannot be made whole: there is no room beside them");
    }
    find_candidates(kRootDomain);
    int most = 0;
    for (const DomainId one : candidates_) most = std::max(most, room_.at_most(one, gang_.pods));
    if (most > gang_.pods) return refused("the slices that run already need more pods than that");
    if (most == 0 || most + running_ < gang_.min_member) return refused(too_little_room());
    FewestDomains fewest(fabric_, room_, most);
    std::vector<FewestDomains::Candidate> able;
    for (const DomainId one : candidates_) {
      if (room_.at_most(one, gang_.pods) == most) able.push_back(fewest.candidate(one));
    }
    const DomainId best = fewest.choose(able, most);
    Plan plan;
    plan.fits = true;
    plan.optimal = fewest.exact();
    number(fewest.place(best, most), plan);
    return plan;
  }

 private:
  static std::vector<int> slices(const Fabric& fabric, const Gang& gang) {
    std::vector<int> out(fabric.levels(), 1);
    for (const domain::Slice& slice : gang.slices)
      out[static_cast<std::size_t>(slice.level)] = slice.size;
    return out;
  }
  static Notes notes(const Existing& existing) {
    Notes out;
    for (const auto& [node, pods] : existing) out[node].running = pods;
    return out;
  }
  // The domains of the required level that hold all of the gang that runs.
  void find_candidates(DomainId domain) {
    if (fabric_.level(domain) == gang_.required_level) {
      if (room_.running(domain) == running_) candidates_.push_back(domain);
      return;
    }
    for (const DomainId child : fabric_.children(domain)) find_candidates(child);
  }
  // Shares come in the order of the tree: pod, rank and place go along.
  void number(const std::vector<Share>& shares, Plan& plan) const {
    std::vector<std::set<DomainId>> used(fabric_.levels());
    const auto use = [&](FabricNodeId node) {
      for (std::size_t level = 0; level < used.size(); ++level)
        used[level].insert(fabric_.domain_of(node, static_cast<int>(level)));
    };
    for (const auto& [node, pods] : existing_) use(node);
    int pod = 0;
    for (const auto& [node, pods] : shares) {
      use(node);
      for (int i = 0; i < pods; ++i, ++pod) plan.pods.push_back({pod, node, running_ + pod});
    }
    for (const std::set<DomainId>& level : used)
      plan.domains.push_back(static_cast<int>(level.size()));
  }

  static Plan refused(std::string why) {
    Plan plan;
    plan.reason = std::move(why);
    return plan;
  }
  std::string too_little_room() const {
    const std::string pods = std::to_string(std::max(1, gang_.min_member - running_)) +
                             " pods of " + std::to_string(gang_.chips_per_pod) + " chips";
    if (gang_.required_level == kNoLevel)
      return "needs room for " + pods + "; the network has room for " +
             std::to_string(room_.at_most(kRootDomain, gang_.pods));
    const std::string& level = levels_[static_cast<std::size_t>(gang_.required_level)];
    const std::string needs = "needs room for " + pods + " in one " + level;
    const auto best =
        std::max_element(candidates_.begin(), candidates_.end(),
                         [this](DomainId a, DomainId b) { return room_.most(a) < room_.most(b); });
    if (best == candidates_.end())
      return running_ > 0 ? needs + "; the gang's running pods are not in one" : needs;
    return needs + "; the best, " + path_text(fabric_, *best) + ", has room for " +
           std::to_string(room_.most(*best));
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  const Existing& existing_;
  int running_ = 0;
  Notes notes_;
  PodKind kind_;
  Room room_;
  std::vector<DomainId> candidates_;
};

}  // namespace

std::string path_text(const Fabric& fabric, DomainId domain) {
  std::string text;
  for (DomainId at = domain; at != kRootDomain; at = fabric.parent(at))
    text = fabric.name(at) + (text.empty() ? "" : "/") + text;
  return text;
}

domain::Plan plan_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                       const GangQuestion& question) {
  return GangPlanner(fabric, level_names, question).plan();
}

}  // namespace chipweave::solver
