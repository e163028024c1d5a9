#include "cli/whatif/node_loss.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::cli {
namespace {

using codec::PodSummary;

std::string key_of(const std::string& ns, const std::string& name) { return ns + "/" + name; }

// What is placed in one go: a pod, the pods of a group with one node together, or the lost members
// of a gang.
struct Unit {
  std::string name;
  std::vector<std::size_t> pods;  // positions in NodeLoss::pods
  bool on_one_node = false;
  std::size_t needed = 0;  // with fewer of its pods placed, none is
  int largest = 0;         // chips of its largest pod
  int chips = 0;           // of all
};

int chips_of(const PodSummary& pod) {
  return std::max(pod.requested, static_cast<int>(pod.chips.size()));
}

class Loss {
 public:
  Loss(ClusterModel model, const LiveState& live, std::vector<std::size_t> lost, LossKind kind)
      : model_(std::move(model)), live_(live), lost_(std::move(lost)) {
    out_.kind = kind;
    for (const PodSummary& pod : live.pods)
      if (!pod.job.empty() && pod.requested > 0) ++job_pods_[key_of(pod.ns, pod.job)];
  }

  NodeLoss run() {
    out_.free_before = model_.free_chips();
    collect_pods();
    collect_gangs();
    for (const std::size_t node : lost_) {
      out_.nodes.push_back(model_.nodes()[node].name);
      model_.take_out(node, out_.kind == LossKind::fail ? "failed" : "drained");
    }
    out_.free_without = model_.free_chips();
    const std::vector<Unit> units = units_by_size();
    for (const Unit& unit : units) place(unit);
    out_.free_after = model_.free_chips();
    finish_rates();
    finish_gangs();
    sort_pods(units);
    return std::move(out_);
  }

 private:
  bool is_lost(const std::string& node) const {
    const auto at = model_.find(node);
    return at && std::find(lost_.begin(), lost_.end(), *at) != lost_.end();
  }

  void collect_pods() {
    for (const codec::NodeView& node : live_.nodes)
      if (is_lost(node.name))
        out_.with_parts.insert(out_.with_parts.end(), node.pods_with_parts.begin(),
                               node.pods_with_parts.end());
    const std::set<std::string> with_parts(out_.with_parts.begin(), out_.with_parts.end());
    for (const PodSummary& pod : live_.pods) {
      if (is_lost(pod.node) && chips_of(pod) > 0 && !with_parts.contains(key_of(pod.ns, pod.name)))
        add(pod);
    }
  }

  void add(const PodSummary& pod) {
    const std::size_t node = *model_.find(pod.node);
    LostPod& to = out_.pods.emplace_back();
    to.ns = pod.ns;
    to.name = pod.name;
    to.resource = pod.resource;
    to.requested = chips_of(pod);
    to.gang = pod.gang;
    to.node = pod.node;
    to.chips = pod.chips;
    PodNeed& need = needs_.emplace_back();
    need.resource = pod.resource;
    const std::vector<std::string>& offered = model_.nodes()[node].resources;
    if (need.resource.empty() && !offered.empty()) need.resource = offered.front();
    need.chips = to.requested;
    if (!pod.job.empty()) need.job = key_of(pod.ns, pod.job);
    need.distributed = !need.job.empty() && job_pods_[need.job] > 1;
    const std::string group = codec::read_text_key(pod.json, "group");
    groups_.push_back(group.empty() ? group : key_of(pod.ns, group));
    to.gbps = model_.gbps_with_job(node, pod.chips, need.job);
  }

  std::vector<Unit> units_by_size() const {
    std::vector<Unit> units;
    std::map<std::string, std::size_t> known;  // of groups and gangs
    for (std::size_t i = 0; i < out_.pods.size(); ++i) {
      const LostPod& pod = out_.pods[i];
      const AffectedGang* gang = gang_of(pod);
      const bool planned = gang != nullptr && gang->quorum > 0;
      const bool on_one_node = !groups_[i].empty();
      std::size_t at = units.size();
      if (on_one_node || planned) {
        const std::string key = on_one_node ? "group " + groups_[i] : key_of(pod.ns, pod.gang);
        at = known.try_emplace(key, at).first->second;
      }
      if (at == units.size()) {
        Unit& fresh = units.emplace_back();
        fresh.name = key_of(pod.ns, planned ? pod.gang : pod.name);
        fresh.on_one_node = on_one_node;
        if (planned)
          fresh.needed =
              static_cast<std::size_t>(std::max(gang->quorum - (gang->bound - gang->lost), 0));
      }
      Unit& unit = units[at];
      unit.pods.push_back(i);
      unit.largest = std::max(unit.largest, pod.requested);
      unit.chips += pod.requested;
    }
    std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
      const auto size = [](const Unit& u) { return std::tuple(u.largest, u.chips); };
      return size(a) != size(b) ? size(a) > size(b) : natural_less(a.name, b.name);
    });
    for (Unit& unit : units) {
      std::sort(unit.pods.begin(), unit.pods.end(), [this](std::size_t a, std::size_t b) {
        const LostPod& one = out_.pods[a];
        const LostPod& other = out_.pods[b];
        return one.requested != other.requested ? one.requested > other.requested
                                                : natural_less(one.name, other.name);
      });
    }
    return units;
  }

  void place(const Unit& unit) {
    if (unit.on_one_node) return place_on_one_node(unit);
    std::optional<ClusterModel> before;
    if (unit.needed > 1) before = model_;
    std::size_t placed = 0;
    for (const std::size_t i : unit.pods) placed += place_pod(i) ? 1 : 0;
    if (placed == unit.pods.size() || placed >= unit.needed) return;
    if (before) model_ = *std::move(before);
    for (const std::size_t i : unit.pods) {
      LostPod& pod = out_.pods[i];
      if (pod.to)
        pod.reason = "its gang needs " + std::to_string(unit.needed) +
                     " of the pods that it loses, "
                     "and " +
                     std::to_string(placed) + (placed == 1 ? " fits" : " fit");
      pod.to.reset();
    }
  }

  bool place_pod(std::size_t i) {
    const auto seat = model_.best(needs_[i]);
    if (!seat) {
      out_.pods[i].reason = model_.outlook(needs_[i]).summary();
      return false;
    }
    model_.take(*seat, needs_[i]);
    seat_pod(i, *seat, 0);
    return true;
  }

  void place_on_one_node(const Unit& unit) {
    PodNeed need = needs_[unit.pods.front()];
    need.members = static_cast<int>(unit.pods.size());
    const auto seat = model_.best(need);
    if (seat) model_.take(*seat, need);
    for (std::size_t part = 0; part < unit.pods.size(); ++part) {
      if (seat)
        seat_pod(unit.pods[part], *seat, part);
      else
        out_.pods[unit.pods[part]].reason = model_.outlook(need).summary();
    }
  }

  void seat_pod(std::size_t i, const Seat& seat, std::size_t part) {
    out_.pods[i].to =
        NewPlace{model_.nodes()[seat.node].name, model_.indices(seat.node, seat.parts[part]),
                 seat.gbps, seat.best_gbps};
  }

  // Those of pods that came to the same node later count, too.
  void finish_rates() {
    for (std::size_t i = 0; i < out_.pods.size(); ++i) {
      std::optional<NewPlace>& to = out_.pods[i].to;
      if (to) to->gbps = model_.gbps_with_job(*model_.find(to->node), to->chips, needs_[i].job);
    }
  }

  void sort_pods(const std::vector<Unit>& units) {
    std::vector<LostPod> sorted;
    for (const Unit& unit : units)
      for (const std::size_t i : unit.pods) sorted.push_back(std::move(out_.pods[i]));
    out_.pods = std::move(sorted);
  }

  const AffectedGang* gang_of(const LostPod& pod) const {
    const auto at = gangs_.find(key_of(pod.ns, pod.gang));
    return at == gangs_.end() ? nullptr : &at->second;
  }

  void collect_gangs() {
    for (const LostPod& pod : out_.pods) {
      if (pod.gang.empty()) continue;
      AffectedGang& gang = gangs_[key_of(pod.ns, pod.gang)];
      gang.ns = pod.ns;
      gang.name = pod.gang;
      ++gang.lost;
    }
    for (const PodSummary& pod : live_.pods) {
      const auto at = gangs_.find(key_of(pod.ns, pod.gang));
      if (at != gangs_.end() && !pod.node.empty()) ++at->second.bound;
    }
    for (const codec::GangSummary& gang : live_.gangs) {
      const auto at = gangs_.find(key_of(gang.ns, gang.name));
      if (at != gangs_.end()) at->second.quorum = gang.quorum;
    }
    for (std::size_t i = 0; i < out_.pods.size(); ++i) {
      const AffectedGang* gang = gang_of(out_.pods[i]);
      if (gang != nullptr && gang->quorum > 1) needs_[i].distributed = true;
    }
  }

  void finish_gangs() {
    for (const LostPod& pod : out_.pods) {
      const auto at = gangs_.find(key_of(pod.ns, pod.gang));
      if (at != gangs_.end() && pod.to) ++at->second.placed;
    }
    // Without a quorum its pods are not planned as a whole.
    for (auto& [name, gang] : gangs_)
      if (gang.quorum > 0) out_.gangs.push_back(std::move(gang));
  }

  ClusterModel model_;
  const LiveState& live_;
  std::vector<std::size_t> lost_;
  // By position in out_.pods, until these are sorted.
  std::vector<PodNeed> needs_;
  std::vector<std::string> groups_;  // "namespace/name" of the pod's group; empty: none
  std::map<std::string, int> job_pods_;
  std::map<std::string, AffectedGang> gangs_;
  NodeLoss out_;
};

}  // namespace

bool NodeLoss::all_fit() const {
  return std::all_of(pods.begin(), pods.end(),
                     [](const LostPod& pod) { return pod.to.has_value(); });
}

Result<NodeLoss> lose_nodes(const LiveState& live, const std::vector<std::string>& lost,
                            LossKind kind) {
  auto model = ClusterModel::of(live.nodes, live.pods);
  if (!model) return std::move(model).error();
  auto nodes = named_nodes(*model, lost, kind == LossKind::fail ? "--fail" : "--drain");
  if (!nodes) return std::move(nodes).error();
  return Loss(*std::move(model), live, *std::move(nodes), kind).run();
}

}  // namespace chipweave::cli
